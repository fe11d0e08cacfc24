"""The graph that every other part speaks, and the hub where parts find each other."""

__version__ = "0.1.0"
