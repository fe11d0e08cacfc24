"""Generated code for the CPU: regions of elementwise ops and reductions as C with vectors."""

from byparts_graph_ir import Backend


def make() -> Backend:
    """The backend; needs a C++ compiler when the first kernel is bound.

    Raises:
        CompilerError: there is no compiler.
    """
    from byparts_kernels_native import backend  # tensor-ir is not needed before

    return backend.make()


__version__ = "0.1.0"
