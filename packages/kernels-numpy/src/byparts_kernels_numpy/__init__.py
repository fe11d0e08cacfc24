"""Every op on NumPy, into memory the plan chose."""

from byparts_graph_ir import Backend


def make() -> Backend:
    """The backend; loads NumPy, and a module of kernels when one of its ops is met."""
    from byparts_kernels_numpy import table  # NumPy is not needed before

    return Backend("numpy", table.view, table.kernels, sub_byte=table.takes_sub_byte)


__version__ = "0.2.0"
