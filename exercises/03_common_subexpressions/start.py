"""Exercise 3: common subexpressions; the task is in task.md."""

from byparts_graph_ir import has_effect  # noqa: F401


def merge(graph):
    """Return an equal graph in which equal expressions are computed once."""
    raise NotImplementedError
