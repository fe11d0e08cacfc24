"""Generated code for the CPU: regions of elementwise ops and reductions as C with vectors."""

from byparts_graph_ir import Backend, Node


def make() -> Backend:
    """The backend; needs a C++ compiler when the first kernel is bound.

    Raises:
        CompilerError: there is no compiler.
    """
    from byparts_tensor_ir.compile import default_emitter  # tensor-ir is not needed before

    default_emitter()  # says now that there is no compiler, or that it does not work
    return Backend.later("native", _loaded, wants=_wanted, slow_to_build=True)


def _loaded() -> Backend:
    """The backend with its rules, which many programs end before they need."""
    from byparts_kernels_native import backend

    return backend.make()


def _wanted(node: Node) -> bool:
    """Whether the backend wants the node in a region."""
    from byparts_op_loops.regions.axes import wanted

    return wanted(node)


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
