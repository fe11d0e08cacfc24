"""Programs: a graph, a memory plan and kernels, bound together and run."""

__version__ = "0.1.0"
