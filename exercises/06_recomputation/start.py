from math import isqrt  # noqa: F401

from byparts_graph_ir import Node, OptimizationBarrier, producers  # noqa: F401


def checkpoint(graph, layers):
    """Return a graph of equal outputs that keeps the results of about sqrt(n) of n layers."""
    raise NotImplementedError("the task is in task.md")
