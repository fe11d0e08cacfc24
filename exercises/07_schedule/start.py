def schedule(s, lanes):
    """Return the schedule `s` after steps that make its loops C_i, C_j and C_k fast."""
    raise NotImplementedError("the task is in task.md")
