"""Passes that make a graph smaller: fold, simplify, merge, legalize."""

__version__ = "0.1.0"
