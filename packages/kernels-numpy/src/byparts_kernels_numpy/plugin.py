"""The record of this part for the hub; imports no NumPy."""

from byparts_graph_ir.parts.hooks import Backend, hookimpl

BYPARTS_API = (1, 0)


@hookimpl
def byparts_backends() -> list[Backend]:
    """The default of small systems: priority 0, so any other backend comes first."""
    return [
        Backend("numpy", "byparts_kernels_numpy:make", needs=("numpy",), doc="every op on NumPy")
    ]
