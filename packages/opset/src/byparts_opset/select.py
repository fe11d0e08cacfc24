"""Choosing between values, elementwise: by a condition, or by bounds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Node, Sample, ShapeError, TensorType, Types, Value
from byparts_opset.broadcast import broadcast_shape, same_dtype
from byparts_opset.constant import exact
from byparts_opset.dtypes import NUMBERS, Array
from byparts_opset.elementwise import Elementwise, Unary, broadcast_back, computed


class Select(Elementwise):
    """z = x where the condition c holds, else y, by NumPy's broadcasting of all three."""

    inplace = ((1, 0), (2, 0))

    def infer(self, c: TensorType, x: TensorType, y: TensorType) -> Types:
        if c.dtype != "bool":
            raise ShapeError(
                f"select: the condition is {c}, no bool; compare first, as in x > 0 "
                "or ops.equal(x, 0.0)"
            )
        dtype = same_dtype(self.name, x, y)
        return (TensorType(dtype, broadcast_shape(self.name, c, x, y)),)

    infer_unranked = infer
    infer_inputs = broadcast_back

    def evaluate(self, c: Array, x: Array, y: Array) -> tuple[Array, ...]:
        return (np.where(c, x, y),)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        c, x, y = node.inputs
        return (None, ops.sum_like(select(c, dz, 0), x), ops.sum_like(select(c, 0, dz), y))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for c, x, y in (
            ((3, 4), (3, 4), (3, 4)),
            ((3, 1), (4,), (2, 3, 4)),
            ((2,), (2,), ()),
            ((), (), ()),
            ((0,), (1,), (0,)),
        ):
            types = TensorType("bool", c), TensorType("f32", x), TensorType("f32", y)
            yield Sample(cls(), types)


class Clip(Unary):
    """y = x, but low where it is below and high where it is above; nan of nan.

    The gradient passes on the bounds themselves, as that of torch's clamp, and nowhere beyond;
    where `strict`, it is 0 on the bounds, as that of torch's hardtanh (and reads y alone).  At nan
    it is 0 either way, as there.
    """

    low: float
    high: float
    strict: bool = False

    takes = NUMBERS
    zero_sign = False

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ShapeError(f"clip: low is {self.low} and high is {self.high}; low comes first")
        # Equal ops compute the same bits, and -0.0 == 0.0.
        object.__setattr__(self, "low", self.low + 0)
        object.__setattr__(self, "high", self.high + 0)

    def infer(self, x: TensorType) -> Types:
        for bound in (self.low, self.high):
            exact(bound, x.dtype)
        return super().infer(x)

    infer_unranked = infer

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        low, high = (np.asarray(bound).astype(x.dtype) for bound in (self.low, self.high))
        return computed(lambda x: np.minimum(np.maximum(x, low), high), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,), (y,) = node.inputs, node.outputs
        if self.strict:
            inside = ops.logical_and(ops.greater(y, self.low), ops.less(y, self.high))
            return (select(inside, dy, 0),)
        inside = ops.logical_and(ops.greater_equal(x, self.low), ops.less_equal(x, self.high))
        return (select(inside, dy, 0),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (ops.minimum(ops.maximum(x, self.low), self.high),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for shape in ((3, 4), (), (0, 2)):
            yield Sample(cls(-3.0, 1.0), (TensorType("f32", shape),), ((-2.0, 0.9),))
        yield Sample(cls(-3.0, 1.0, True), (TensorType("f32", (3, 4)),), ((-2.0, 0.9),))
        yield Sample(cls(0.0, 6.0), (TensorType("f32", (8,)),), ((5.0, 7.0),))


select = where = Select()  # NumPy's name for it, and the one of compilers


def clip(x: Value, low: float, high: float, strict: bool = False) -> Value:
    """x held between `low` and `high`; `strict`: with no gradient on the two bounds."""
    return Clip(low, high, strict)(x)
