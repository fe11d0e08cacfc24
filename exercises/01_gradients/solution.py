"""Exercise 1, solved: readers before writers, contributions added."""

import byparts_opset as ops
from byparts_graph_ir import producers


def gradients(loss, xs):
    """Return, for each of `xs`, the value that is the derivative of `loss` by it."""
    dy = {loss: ops.ones_like(loss)}
    for node in reversed(producers([loss])):
        if not any(v in dy for v in node.outputs):
            continue
        dys = [dy[v] if v in dy else ops.zeros_like(v) for v in node.outputs]
        for x, dx in zip(node.inputs, node.op.gradient(node, *dys), strict=True):
            if dx is not None:
                dy[x] = dy[x] + dx if x in dy else dx
    return [dy[x] for x in xs]
