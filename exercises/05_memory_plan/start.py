def offsets(buffers):
    """Return an offset for each buffer, in the order of `buffers`."""
    raise NotImplementedError("the task is in task.md")
