"""A backend for NVIDIA GPUs: generated kernels, launched through the driver; no torch."""

from byparts_graph_ir import Backend


def make(index: int = 0) -> Backend:
    """The backend on the GPU of this number: `"cuda"` in `cuda:0`, `"cuda:1"` in `cuda:1`.

    With `BYPARTS_CUDA=emulated` (or `reversed`, or `checked`) there need be no GPU: the kernels are
    run by the CPU, from the same functions of tensor-ir.

    Raises:
        RuntimeError: there is no driver, or no such GPU; says what was found.
        DriverError: it does not start.
    """
    from byparts_kernels_cuda.gpu import gpu  # no driver is touched before

    gpu(index)  # on machines without one, nothing else is imported
    from byparts_kernels_cuda import backend

    return backend.make(index)


__version__ = "0.2.0"
