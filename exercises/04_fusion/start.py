def regions(graph, wants):
    """Return lists of nodes, each of which becomes one kernel; `wants(node)` is a bool."""
    raise NotImplementedError("the task is in task.md")
