"""A backend on PyTorch: starts, and names the kernels it has not got yet."""

__version__ = "0.1.0"
