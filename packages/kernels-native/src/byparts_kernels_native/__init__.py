"""Generated code for the CPU: regions of elementwise ops and reductions as C with vectors."""

from byparts_graph_ir import Backend


def make() -> Backend:
    """The backend; needs a C++ compiler when the first kernel is bound.

    Raises:
        CompilerError: there is no compiler.
    """
    from byparts_kernels_native import backend  # tensor-ir is not needed before

    return backend.make()


def set_threads(count: int) -> None:
    """From now on native code of this process computes on so many threads.

    Without it, on as many as the environment variable `OMP_NUM_THREADS` says, or the processors
    that the process may use.  The library of products of matrices is told, too, which NumPy uses as
    well.  What is compiled already of convolutions and attention stays in as many parts as there
    were threads then.

    Raises:
        ValueError: it is less than 1.
    """
    from byparts_kernels_native import blas
    from byparts_tensor_ir import threads

    threads.set_threads(count)
    blas.set_threads(count)


__version__ = "0.2.0"
