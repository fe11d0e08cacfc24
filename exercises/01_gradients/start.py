import byparts_opset as ops  # noqa: F401  # ops.ones_like, ops.zeros_like
from byparts_graph_ir import producers  # noqa: F401


def gradients(loss, xs):
    """Return, for each of `xs`, the value that is the derivative of `loss` by it."""
    raise NotImplementedError("the task is in task.md")
