"""What this part tells the hub; imports no torch."""

from byparts_graph_ir.hooks import Backend, hookimpl

BYPARTS_API = (1, 0)


@hookimpl
def byparts_backends() -> list[Backend]:
    """Below NumPy for "auto" as long as it has no kernels; 10 once it has."""
    return [
        Backend(
            "torch",
            "byparts_kernels_torch.backend:make",
            needs=("torch",),
            doc="PyTorch on the CPU; no kernels yet",
            priority=-10,
        )
    ]
