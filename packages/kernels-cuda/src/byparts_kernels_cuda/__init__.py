"""A backend for NVIDIA GPUs: finds the driver, and names the kernels it has not got yet."""

__version__ = "0.1.0"
