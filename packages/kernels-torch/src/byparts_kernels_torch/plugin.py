"""The record of this part for the hub; imports no torch."""

from byparts_graph_ir.parts.hooks import Backend, Ops, hookimpl

BYPARTS_API = (1, 0)


@hookimpl
def byparts_backends() -> list[Backend]:
    """The CPU and one GPU; `byparts_kernels_torch.make(device=..., threads=...)` makes others."""
    return [
        Backend(
            "torch-cuda",
            "byparts_kernels_torch:make_cuda",
            needs=("torch",),
            doc="PyTorch on an NVIDIA GPU",
            priority=50,
            space="cuda:0",
        ),
        Backend(
            "torch",
            "byparts_kernels_torch:make",
            needs=("torch",),
            doc="PyTorch on the CPU",
            priority=10,
        ),
    ]


@hookimpl
def byparts_ops() -> list[Ops]:
    """The ops that passes of this backend put into graphs; the kit tries them too."""
    return [Ops("torch", "byparts_kernels_torch.ops:OPS", doc="ops that torch has as one call")]
