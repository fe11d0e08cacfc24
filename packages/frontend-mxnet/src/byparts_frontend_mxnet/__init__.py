"""Programs of MXNet 1.0, imperative and symbolic, by changing the import line."""

__version__ = "0.2.0"
