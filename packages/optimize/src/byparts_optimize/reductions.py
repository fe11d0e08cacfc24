"""Reductions of what is known to repeat."""

from __future__ import annotations

from typing import Optional

from byparts_graph_ir import Node, Value
from byparts_opset import BroadcastTo, Mean, Neg, Reshape, Sum, fill
from byparts_optimize.rules import fast_rules, number, rules

_WHOLE = {"f16": 2**11, "bf16": 2**8, "f32": 2**24, "f64": 2**53}  # whole numbers up to here exist


@rules.on(Sum)
def sums(node: Node) -> Optional[Value]:
    """Sums of ones, and of one."""
    (x,), (y,) = node.inputs, node.outputs
    if not x.type.static or x.type.size == 0:
        return None
    count = x.type.size // max(1, y.type.size)
    c = number(x)
    if c is not None and c == c // 1 and abs(c) * count <= _WHOLE.get(x.type.dtype, 0):
        return fill(c * count, y.type.dtype, y.type.dims)                           # c + c + ... = n c
    return None


@fast_rules.on(Sum)
def sums_fast(node: Node) -> Optional[Value]:
    """Rounds once where a sum rounds at each step; loses the sign of a zero."""
    (x,), (y,) = node.inputs, node.outputs
    if x.type.static and x.type.size == y.type.size: return Reshape(y.type.dims)(x)  # nothing to add
    match x:
        case Value(node=Node(Neg(), (z,))): return -node.op(z)                      # sum -x = -sum x
        case Value(node=Node(BroadcastTo(), (z,))) if z.type.static and z.type.size == 1:
            count = x.type.size // max(1, y.type.size)
            return Reshape(())(z) * count if count <= _WHOLE.get(x.type.dtype, 0) else None
    return None


@fast_rules.on(Mean)
def means_fast(node: Node) -> Optional[Value]:
    """Keeps the sign of a zero, where a sum loses it."""
    (x,), (y,) = node.inputs, node.outputs
    same = x.type.static and x.type.size == y.type.size
    return Reshape(y.type.dims)(x) if same else None                                # x / 1 = x
