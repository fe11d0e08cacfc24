"""Programs of pytensor, define-by-run in NumPy, by changing the import line."""

__version__ = "0.2.0"
