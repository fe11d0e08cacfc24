from byparts_graph_ir import has_effect  # noqa: F401


def merge(graph):
    """Return an equal graph in which equal expressions are computed once."""
    raise NotImplementedError("the task is in task.md")
