"""What the elementwise ops share: type rules, evaluation in wide types, samples.

Functions, not a base class: an op takes what it needs, as in `infer = infer_unranked = floats`
(these rules hold for unknown ranks too).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from byparts_graph_ir import FLOATS, Dimension, Op, Sample, ShapeError, TensorType, Types
from byparts_opset.broadcast import broadcast_types, meet_types, same_dtype
from byparts_opset.dtypes import Array, narrow, wide


def anything(self: Op, x: TensorType) -> Types:
    """y is of the type of x."""
    return (x,)


def numbers(self: Op, x: TensorType) -> Types:
    """y is of the type of x, which is no bool."""
    return (_number(self, x),)


def floats(self: Op, x: TensorType) -> Types:
    """y is of the type of x, a float."""
    return (_float(self, x),)


def asked(self: Op, x: TensorType) -> Types:
    """y is a bool in the shape of x, which is no bool."""
    return (TensorType("bool", _number(self, x).shape),)


def two_numbers(self: Op, x: TensorType, y: TensorType) -> Types:
    """z is broadcast from x and y, of one dtype, which is no bool."""
    if x is y or x == y:  # most nodes of most programs, and building them should cost little
        return (_number(self, x),)
    return (_number(self, broadcast_types(self.name, x, y)),)


def two_floats(self: Op, x: TensorType, y: TensorType) -> Types:
    """z is broadcast from x and y, of one float dtype."""
    return (_float(self, broadcast_types(self.name, x, y)),)


def compared(self: Op, x: TensorType, y: TensorType) -> Types:
    """z is a bool, broadcast from x and y, of one dtype, which is no bool."""
    return (TensorType("bool", _number(self, broadcast_types(self.name, x, y)).shape),)


def matched(self: Op, x: TensorType, y: TensorType) -> Types:
    """z is a bool, broadcast from x and y, of one dtype."""
    return (TensorType("bool", broadcast_types(self.name, x, y).shape),)


def bools(self: Op, x: TensorType) -> Types:
    """y is of the type of x, which is a bool."""
    return (_bool(self, x, x),)


def two_bools(self: Op, x: TensorType, y: TensorType) -> Types:
    """z is broadcast from x and y, both bool."""
    return (_bool(self, broadcast_types(self.name, x, y), x),)


def float_twins(self: Op, x: TensorType, y: TensorType) -> Types:
    """z is of the type of x and of y, which are of one shape and one float dtype."""
    if x is y or x == y:
        return (_float(self, x),)
    same_dtype(self.name, x, y)
    return (_float(self, meet_types(self.name, x, y)),)


def same_shape_back(self: Op, inputs: Types, outputs: Types) -> Types:
    """The rule backwards for one input: x has the shape of y."""
    return (TensorType(inputs[0].dtype, outputs[0].shape),)


def twins_back(self: Op, inputs: Types, outputs: Types) -> Types:
    """`float_twins` backwards: each input has the shape of all three."""
    x, y = (meet_types(self.name, t, outputs[0]) for t in inputs)
    return (meet_types(self.name, x, y), meet_types(self.name, y, x))


def broadcast_back(self: Op, inputs: Types, outputs: Types) -> Types:
    """The rule backwards for broadcasting: what the result tells of an axis, where only it can."""
    if any(t.shape is None for t in (*inputs, *outputs)):
        return inputs
    found = []
    for i, x in enumerate(inputs):
        others = [t.shape or () for j, t in enumerate(inputs) if j != i]
        axes = range(-len(x.shape or ()), 0)
        found.append(TensorType(x.dtype, tuple(_dim_back(a, x, others, outputs[0]) for a in axes)))
    return tuple(found)


def computed(f: Callable[..., Any], x: Array, *more: Array) -> tuple[Array]:
    """`f` in wide types, rounded once to the dtype of x; floating point warnings are silent."""
    with np.errstate(all="ignore"):
        return (narrow(f(wide(x), *map(wide, more)), x.dtype),)


def answered(f: Callable[..., Any], x: Array, *more: Array) -> tuple[Array]:
    """`f` in wide types, as bools."""
    with np.errstate(all="ignore"):
        return (np.asarray(f(wide(x), *map(wide, more)), dtype=bool),)


def unary_samples(op: Op, low: float = -2.0, high: float = 2.0) -> Iterator[Sample]:
    """A matrix, a 0-d and an empty case, drawn from `[low, high)`."""
    for shape in ((3, 4), (), (0, 2)):
        yield Sample(op, (TensorType("f32", shape),), ((low, high),))


def binary_samples(
    op: Op,
    x: tuple[float, float] = (-2.0, 2.0),
    y: tuple[float, float] = (-2.0, 2.0),
    dtype: str = "f32",
) -> Iterator[Sample]:
    """Equal shapes, broadcasting both ways, a 0-d operand, and nothing at all."""
    shapes = (
        ((3, 4), (3, 4)),
        ((3, 1), (4,)),
        ((2, 3), ()),
        ((), (2,)),
        ((), ()),
        ((0, 2), (1, 2)),
    )
    for a, b in shapes:
        ranges = () if dtype == "bool" else (x, y)
        yield Sample(op, (TensorType(dtype, a), TensorType(dtype, b)), ranges)


def _dim_back(
    axis: int, x: TensorType, others: Sequence[tuple[Dimension, ...]], y: TensorType
) -> Dimension:
    known, result = (x.shape or ())[axis], (y.shape or ())[axis]
    alone = all(len(shape) < -axis or shape[axis] == 1 for shape in others)
    return result if not isinstance(known, int) and (alone or result == 1) else known


def _number(op: Op, x: TensorType) -> TensorType:
    if x.dtype == "bool":
        raise ShapeError(
            f"{op.name}: bool has no arithmetic, got {x}; use the logic ops, or cast(x, 'i32')"
        )
    return x


def _bool(op: Op, z: TensorType, x: TensorType) -> TensorType:
    if z.dtype != "bool":
        raise ShapeError(
            f"{op.name}: takes bools, got {x}; compare first, as in x > 0 or ops.equal(x, 0)"
        )
    return z


def _float(op: Op, x: TensorType) -> TensorType:
    if x.dtype not in FLOATS:
        advice = getattr(op, "integer_advice", "cast(x, 'f32') first")
        raise ShapeError(f"{op.name}: takes floats, got {x}; {advice}")
    return x
