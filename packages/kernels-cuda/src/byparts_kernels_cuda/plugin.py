"""What this part tells the hub; touches no driver."""

from byparts_graph_ir.parts.hooks import Backend, hookimpl

BYPARTS_API = (1, 0)


@hookimpl
def byparts_backends() -> list[Backend]:
    """One NVIDIA GPU."""
    return [
        Backend(
            "cuda",
            "byparts_kernels_cuda:make",
            doc="generated kernels for NVIDIA GPUs",
            priority=100,
            space="cuda:0",
        )
    ]
