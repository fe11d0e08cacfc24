"""Reverse and forward mode over graphs: gradients are ordinary graphs."""

__version__ = "0.1.0"
