"""Gradients of tables in their rows: what lookups send back, without the zeros around."""

from __future__ import annotations

import byparts_opset as ops
from byparts_eager import Array
from byparts_graph_ir import Value

Rows = list[tuple[Value, Value]]


def rows_of(gradient: Value) -> Rows | None:
    """Pairs (indices [n], gradients of these rows [n, ...]) whose sum is `gradient`.

    `None` where it is more than sums of `scatter_add` times numbers, or an array that is there
    already, with all its zeros.
    """
    rows: Rows = []
    waiting: list[tuple[Value, Value | None]] = [(gradient, None)]
    while waiting:
        value, factor = waiting.pop()
        node = value.node
        if node is None or isinstance(value, Array):
            return None
        if isinstance(node.op, ops.ScatterAdd) and not node.op.axis:
            indices, updates, like = node.inputs
            if indices.type.static and like.type.static and indices.type.size >= like.type.dims[0]:
                return None  # as many lookups as rows: the whole table is no more
            updates = updates if factor is None else updates * factor
            each = (like.type.shape or ())[1:]
            rows.append((ops.reshape(indices, -1), ops.reshape(updates, (-1, *each))))  # type: ignore[arg-type]  # the width of a table is known
        elif isinstance(node.op, ops.Add) and len({v.type for v in node.inputs}) == 1:
            waiting += [(v, factor) for v in node.inputs]
        elif isinstance(node.op, ops.Mul) and node.inputs[1].type.shape == ():
            scale = node.inputs[1]
            waiting.append((node.inputs[0], scale if factor is None else scale * factor))
        else:
            return None
    return rows
