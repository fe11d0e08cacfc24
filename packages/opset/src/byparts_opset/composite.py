"""The gradient of an op that is made of others: that of what it is made of.

An op with a `decompose` need not write a `gradient`; it says

    def gradient(self, node, *dys):
        return gradient_by_decomposition(node, *dys)

which is a reverse sweep over the decomposition alone.  (autodiff sweeps whole programs; it stands
on this part, not the other way round.)  It computes again what the decomposition computes, so an op
worth a kernel usually has a gradient op instead, and leaves this to that op's own gradient.
"""

from __future__ import annotations

import byparts_opset as ops
from byparts_graph_ir import FLOATS, GraphError, Node, Value

Gradients = dict[Value, Value]


def gradient_by_decomposition(node: Node, *dys: Value) -> tuple[Value | None, ...]:
    """The gradient of each input of `node`, through `node.op.decompose`.

    A value that is an input twice gets its whole gradient at the first place, `None` at the second.

    Raises:
        GraphError: the op does not decompose for these input types.
    """
    outputs = node.op.decompose(*node.inputs)
    if outputs is None:
        types = ", ".join(str(v.type) for v in node.inputs)
        raise GraphError(f"{node.op.name}: no decomposition for ({types}), so no gradient by it")
    gradients: Gradients = {}
    for y, dy in zip(outputs, dys, strict=True):
        if y.type.dtype in FLOATS and not is_zero(dy):
            _accumulate(gradients, y, dy)
    for inner in reversed(_nodes_between(node.inputs, outputs)):
        _pull_back(gradients, inner)
    return tuple(gradients.pop(v, None) for v in node.inputs)


def is_zero(x: Value) -> bool:
    """Whether x is a constant 0, possibly broadcast: the gradient of an output that is not used."""
    while x.node is not None and isinstance(x.node.op, (ops.BroadcastLike, ops.BroadcastTo)):
        x = x.node.inputs[0]
    return x.node is not None and isinstance(x.node.op, ops.Fill) and x.node.op.value == 0


def _nodes_between(inputs: tuple[Value, ...], outputs: tuple[Value, ...]) -> list[Node]:
    """List the nodes that compute `outputs` from `inputs`, in order.  Iterative."""
    known = set(inputs)
    seen: dict[Node, None] = {}
    todo = [(v.node, False) for v in reversed(outputs) if v not in known and v.node is not None]
    while todo:
        node, ready = todo.pop()
        if ready:
            seen[node] = None
        elif node not in seen:
            todo.append((node, True))
            todo += [(v.node, False) for v in node.inputs if v not in known and v.node is not None]
    return list(seen)


def _pull_back(gradients: Gradients, node: Node) -> None:
    """Add to the gradients of the inputs of `node` those that flow from its outputs."""
    if not any(y in gradients for y in node.outputs):
        return
    dys = [gradients[y] if y in gradients else ops.zeros_like(y) for y in node.outputs]
    for x, dx in zip(node.inputs, node.op.gradient(node, *dys), strict=True):
        if dx is not None and x.type.dtype in FLOATS:
            _accumulate(gradients, x, dx)


def _accumulate(gradients: Gradients, x: Value, dx: Value) -> None:
    gradients[x] = gradients[x] + dx if x in gradients else dx
