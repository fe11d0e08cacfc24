"""Which rows of a gradient can differ from 0: those of a table that were looked up."""

from __future__ import annotations

import byparts_opset as ops
from byparts_graph_ir import Value


def rows_of(gradient: Value) -> Value | None:
    """Indices [n] of the rows that may not be 0, some twice; `None` if that may be any.

    Found where the gradient is what lookups send back: sums of `scatter_add`, times numbers.
    """
    found, waiting = list[Value](), [gradient]
    while waiting:
        node = waiting.pop().node
        if node is None:
            return None
        if isinstance(node.op, ops.ScatterAdd) and not node.op.axis:
            found.append(ops.cast(ops.reshape(node.inputs[0], (-1,)), "i64"))
        elif isinstance(node.op, ops.Add) and len({v.type for v in node.inputs}) == 1:
            waiting += node.inputs
        elif isinstance(node.op, (ops.Mul, ops.Div)) and node.inputs[1].type.shape == ():
            waiting.append(node.inputs[0])
        else:
            return None
    return found[0] if len(found) == 1 else ops.concat(found, 0)
