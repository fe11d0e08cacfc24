"""The records of this part for the hub; imports no NumPy."""

from byparts_graph_ir.parts.hooks import Kernels, Ops, hookimpl

BYPARTS_API = (1, 4)

_OPS = tuple(
    f"byparts_linalg.{module}"
    for module in ("determinant", "factor", "fourier", "solve", "spectral", "triangle")
)


@hookimpl
def byparts_ops() -> list[Ops]:
    """Factors, solutions, spectra and Fourier transforms."""
    return [Ops("linalg", "byparts_linalg.registry:OPS", needs=("numpy",), doc="linalg and fft")]


@hookimpl
def byparts_kernels() -> list[Kernels]:
    """Kernels for these ops on the backends of others."""
    torch = "byparts_linalg.on_torch"
    return [
        Kernels("numpy", "byparts_linalg.on_numpy", ops=_OPS, doc="linalg by NumPy's LAPACK"),
        Kernels("torch", torch, needs=("torch",), ops=_OPS, doc="linalg by torch's LAPACK"),
        Kernels("torch-cuda", torch, needs=("torch",), ops=_OPS, doc="linalg by cuSOLVER"),
    ]
