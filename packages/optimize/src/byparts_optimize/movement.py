"""Rules for ops that move or repeat elements or change their type: views, transposes, casts.

All rules are exact except for the transposes that a `matmul` takes as flags: the sums have the same
terms, but a BLAS may add them in another order.
"""

# ruff: noqa: E701  (one rule a line)
from __future__ import annotations

from typing import Optional

from byparts_graph_ir import INTEGERS, UNSIGNED, Node, Value, integer_limits
from byparts_opset import (
    BroadcastTo,
    Cast,
    ExpandDims,
    Fill,
    Flatten,
    Identity,
    MatMul,
    Reshape,
    Squeeze,
    Transpose,
    cast,
)
from byparts_optimize.rules import known_shape, rules

_DIGITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}  # of the significand
_RANGE = {"f16": 5, "bf16": 8, "f32": 8, "f64": 11}  # bits of the exponent
_BITS = {"bool": 1} | {d: integer_limits(d)[1].bit_length() for d in INTEGERS}  # without the sign

# fmt: off


@rules.on(Identity)
def identity(node: Node) -> Optional[Value]:
    """Nothing at all."""
    return node.inputs[0]


@rules.on(Reshape, Flatten, ExpandDims, Squeeze)
def reshape(node: Node) -> Optional[Value]:
    """The same elements in the same order, under a shape of numbers and names."""
    y = node.outputs[0].type
    shape = known_shape(y)
    if shape is None:
        return None
    match node.inputs:
        case (x,) if x.type == y: return x                                    # nothing changes
        case (Value(node=Node(Reshape() | Flatten() | ExpandDims() | Squeeze(), (x,))),):
            return Reshape(shape)(x)                                          # view of a view
        case (Value(node=Node(Fill(c))),): return Fill(c, y.dtype, shape)()     # all one number
        case (Value(node=Node(BroadcastTo(), (x,))),) if x.type.static and x.type.size == 1:
            return BroadcastTo(shape)(Reshape(())(x))                         # all one element
    return None


@rules.on(Transpose)
def transpose(node: Node) -> Optional[Value]:
    """Axes in another order."""
    (x,), (y,) = node.inputs, node.outputs
    order, shape = _order(node), known_shape(y.type)
    if order is None or shape is None:
        return None
    if order == tuple(range(len(order))): return x                            # no axis moves
    match x:
        case Value(node=Node(Fill(c))): return Fill(c, y.type.dtype, shape)()   # all one number
        case Value(node=Node(Transpose(), (z,)) as inner) if (first := _order(inner)) is not None:
            return Transpose(tuple(first[a] for a in order))(z)               # two in one
        case Value(node=Node(BroadcastTo(), (z,))) if z.type.static and z.type.size == 1:
            return BroadcastTo(shape)(Reshape(())(z))                         # all one element
    if x.type.static and node.op.views(x.type): return Reshape(shape)(x)      # only 1s move
    return None


@rules.on(BroadcastTo)
def broadcast_to(node: Node) -> Optional[Value]:
    """Repetition."""
    y = node.outputs[0].type
    shape = known_shape(y)
    match node.inputs:
        case (x,) if x.type == y and shape is not None: return x              # nothing changes
        case (Value(node=Node(Fill(c))),) if shape is not None:
            return Fill(c, y.dtype, shape)()                                    # all one number
        case (Value(node=Node(BroadcastTo(), (x,))),): return node.op(x)      # two in one
        case (x,) if (inner := without_leading_ones(x)) is not x: return node.op(inner)
    return None


@rules.on(Cast)
def converted(node: Node) -> Optional[Value]:
    """Casts.  A lossless cast before another cast is removed."""
    to = node.outputs[0].type.dtype
    match node.inputs:
        case (x,) if x.type.dtype == to: return x                             # same type
        case (Value(node=Node(Cast(between), (x,))),) if _keeps(x.type.dtype, between):
            return cast(x, to)                                                # lossless first
    return None


@rules.on(MatMul)
def matmul(node: Node) -> Optional[Value]:
    """A product takes the transposes of its operands as flags."""
    op, (a, b) = node.op, node.inputs
    assert isinstance(op, MatMul), "the table is by class"
    match a, b:
        case Value(node=Node(Transpose(), (x,)) as t), _ if _turns_matrices(t):
            return MatMul(not op.transpose_a, op.transpose_b)(x, b)          # a' b
        case _, Value(node=Node(Transpose(), (x,)) as t) if _turns_matrices(t):
            return MatMul(op.transpose_a, not op.transpose_b)(a, x)          # a b'
    return None


def without_leading_ones(x: Value) -> Value:
    """If x is a reshape of z that only adds leading axes of size 1: z; else x."""
    match x:
        case Value(node=Node(ExpandDims() | Reshape(), (z,))) if z.type.shape is not None:
            rank = len(z.type.shape)
            shape = x.type.shape or ()
            lead = len(shape) - rank
            if lead > 0 and shape == (1,) * lead + z.type.shape and None not in shape:
                return z
    return x


def _order(node: Node) -> Optional[tuple[int, ...]]:
    """The permutation with axes counted from 0; `None` if the rank is not known."""
    rank = node.inputs[0].type.rank
    op = node.op
    if rank is None or not isinstance(op, Transpose):
        return None
    p = op.permutation
    return tuple(range(rank))[::-1] if p is None else tuple(a % rank for a in p)


def _turns_matrices(node: Node) -> bool:
    """Whether a transpose swaps the last two axes and leaves the others."""
    order = _order(node)
    if order is None or len(order) < 2:
        return False
    rank = len(order)
    return order == (*range(rank - 2), rank - 1, rank - 2)


def _keeps(dtype: str, wider: str) -> bool:
    """Whether every value of `dtype` is one of `wider`."""
    if dtype in _DIGITS:
        return _DIGITS[dtype] <= _DIGITS.get(wider, 0) and _RANGE[dtype] <= _RANGE[wider]
    if wider in _DIGITS:
        return _BITS[dtype] <= _DIGITS[wider]
    if wider == "bool" or (dtype in INTEGERS - UNSIGNED and wider in UNSIGNED):
        return False
    return _BITS[dtype] <= _BITS[wider]
