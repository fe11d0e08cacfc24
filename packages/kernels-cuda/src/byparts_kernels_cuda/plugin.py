"""Hooks by which the hub finds this backend; they touch no driver."""

from byparts_graph_ir.parts.hooks import Backend, hookimpl

BYPARTS_API = (1, 0)


@hookimpl
def byparts_backends() -> list[Backend]:
    """Offer the backend for one NVIDIA GPU."""
    return [
        Backend(
            "cuda",
            "byparts_kernels_cuda:make",
            doc="generated kernels for NVIDIA GPUs",
            priority=100,
            space="cuda:0",
        )
    ]
