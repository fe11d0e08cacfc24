"""Every op on NumPy, into memory the plan chose."""

__version__ = "0.1.0"
