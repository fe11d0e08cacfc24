"""Every op on NumPy, into memory the plan chose."""

from importlib import import_module

from byparts_graph_ir import Backend

# One module of kernels for each module of ops; add yours here.
MODULES = (
    "constant",
    "unary",
    "error_function",
    "activation",
    "binary",
    "select",
    "matmul",
    "conv2d",
    "pool",
    "softmax",
    "cross_entropy",
    "random",
    "random_normal",
    "dropout",
    "batch_norm",
    "layer_norm",
    "reduce",
    "argmax",
    "cumulative",
    "copies",
    "index",
)


def make() -> Backend:
    """The backend; loads NumPy and the kernels."""
    from byparts_kernels_numpy import table  # NumPy is not needed before

    for module in MODULES:
        import_module(f"byparts_kernels_numpy.{module}")
    return Backend("numpy", table.view, table.kernels)


__version__ = "0.1.0"
