"""Moves broadcasts behind elementwise ops, and removes them where the op broadcasts by itself.

Elementwise ops broadcast, so `x * broadcast_to(c, [32, 784])` is `x * c`.  An op whose operands are
all broadcast is computed before the broadcast: `-broadcast_to(c)` is `broadcast_to(-c)`.  Thereby
the gradient of a mean becomes a product with one number.
"""

from __future__ import annotations

from typing import Optional

from byparts_graph_ir import Node, ShapeError, Value
from byparts_opset import BroadcastTo, ExpandDims, Fill, Reshape
from byparts_optimize.movement import without_leading_ones

_REPEATING = (BroadcastTo, ExpandDims, Reshape)


def repeat_late(node: Node) -> Optional[Value]:
    """Apply the op to its operands before they were broadcast; `None` where that is not possible.

    The result may have a smaller shape than the output of `node`; `simplify` broadcasts it.
    """
    if node.op.pattern != "elementwise" or not any(map(_may_repeat, node.inputs)):
        return None
    if len(node.outputs) != 1 or not node.outputs[0].type.static:
        return None
    for operands in (_all_once(node), *_each_once(node)):
        if operands is not None and _takes(node, operands):
            return node.op(*operands)
    return None


def _all_once(node: Node) -> Optional[tuple[Value, ...]]:
    once = tuple(_once(v) for v in node.inputs)
    return None if once == node.inputs else once


def _each_once(node: Node) -> list[tuple[Value, ...]]:
    """Only one operand without its broadcast, for ops that need the shape of another operand."""
    if len(node.inputs) < 2:
        return []
    once = [_once(v) for v in node.inputs]
    return [
        (*node.inputs[:i], small, *node.inputs[i + 1 :])
        for i, small in enumerate(once)
        if small is not node.inputs[i]
    ]


def _may_repeat(v: Value) -> bool:
    """A fast test that most nodes fail, before the slower `_once`."""
    op = None if v.node is None else v.node.op
    return op.__class__ in _REPEATING or (isinstance(op, Fill) and op.shape != ())


def _once(v: Value) -> Value:
    """The value that v is a broadcast of; v itself if it is none."""
    match v:
        case Value(node=Node(BroadcastTo(), (x,))):
            return x
        case Value(node=Node(Fill(c, dtype, shape))) if shape:
            return Fill(c, dtype)()
    return without_leading_ones(v)


def _takes(node: Node, operands: tuple[Value, ...]) -> bool:
    """Whether the op accepts these operands.  Its result then broadcasts to the old one."""
    try:
        node.op.infer(*(v.type for v in operands))
    except ShapeError:
        return False
    return True
