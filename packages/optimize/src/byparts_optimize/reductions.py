"""Reductions of one element, of constants, of broadcasts and of negated values.

The sign of a zero that a sum gives is not defined (NumPy adds to 0.0 and so never gives -0.0, other
libraries start with the first element), so nothing here keeps it.
"""

# ruff: noqa: E701  (one rule a line)
from __future__ import annotations

from typing import Optional

from byparts_graph_ir import Node, Value
from byparts_opset import BroadcastTo, Max, Mean, Min, Neg, Reshape, Sum, fill
from byparts_optimize.rules import fast_rules, number, rules

_WHOLE = {"f16": 2**11, "bf16": 2**8, "f32": 2**24, "f64": 2**53}  # whole numbers up to here exist

# fmt: off


@rules.on(Sum)
def sums(node: Node) -> Optional[Value]:
    """Sums."""
    (x,), (y,) = node.inputs, node.outputs
    match x:
        case Value(node=Node(Neg(), (z,))): return -node.op(z)                # sum -x = -sum x
    if not x.type.static or x.type.size == 0: return None
    count, c = x.type.size // y.type.size, number(x)
    if count == 1: return Reshape(y.type.dims)(x)                             # sum of one
    if c is not None and c == c // 1 and abs(c) * count <= _WHOLE.get(x.type.dtype, 0):
        return fill(c * count, y.type.dtype, y.type.dims)                     # c + c + ... = n c
    return None


@rules.on(Mean, Max, Min)
def means(node: Node) -> Optional[Value]:
    """Means and extremes."""
    (x,), (y,) = node.inputs, node.outputs
    if x.type.static and x.type.size == y.type.size > 0: return Reshape(y.type.dims)(x)  # of one
    return None


@fast_rules.on(Sum)
def sums_fast(node: Node) -> Optional[Value]:
    """Rounds once where a sum rounds at each step."""
    (x,), (y,) = node.inputs, node.outputs
    match x:
        case Value(node=Node(BroadcastTo(), (z,))) if z.type.static and z.type.size == 1:
            count = x.type.size // max(1, y.type.size)
            return Reshape(())(z) * count if count <= _WHOLE.get(x.type.dtype, 0) else None
    return None
