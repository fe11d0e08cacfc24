"""Dropout: some elements become 0, the others grow so that the expected value stays.

The mask is a value, drawn once from a key and a counter; the gradient reads the same mask, and a
program that computes a value again to save memory gets the same one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import (
    FLOATS,
    Dimension,
    GraphError,
    Node,
    Op,
    Sample,
    ShapeError,
    TensorType,
    Types,
    Value,
)
from byparts_opset.broadcast import broadcast_shape, meet_types
from byparts_opset.draw import Stream
from byparts_opset.dtypes import Array, require
from byparts_opset.elementwise import computed


class Dropout(Op):
    """y = 0 where dropped, else x / (1 - rate).  `dropped` is a bool that broadcasts to x."""

    rate: float

    inplace = ((0, 0),)
    pattern = "broadcast"

    def __post_init__(self) -> None:
        _check_rate(self.rate)

    def infer(self, x: TensorType, dropped: TensorType) -> Types:
        if dropped.dtype != "bool":
            raise ShapeError(f"dropout: dropped is a bool, got {dropped}")
        y = require(self.name, x, FLOATS)
        mask = TensorType(x.dtype, dropped.shape)
        return (meet_types(self.name, y, TensorType(x.dtype, broadcast_shape(self.name, y, mask))),)

    infer_unranked = infer

    def evaluate(self, x: Array, dropped: Array) -> tuple[Array, ...]:
        return computed(lambda x: np.where(dropped, 0, x / (1 - self.rate)), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (self(dy, node.inputs[1]), None)

    def decompose(self, x: Value, dropped: Value) -> tuple[Value, ...] | None:
        return (ops.select(dropped, 0.0, x * (1 / (1 - self.rate))),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for x, dropped in (((3, 4), (3, 4)), ((2, 3, 4), (2, 1, 4)), ((), ()), ((0, 2), (2,))):
            yield Sample(cls(0.25), (TensorType("f32", x), TensorType("bool", dropped)))


def dropout(
    x: Value,
    key: Stream,
    counter: Stream,
    rate: float | Value,
    shape: Iterable[Dimension] | None = None,
) -> Value:
    """x with each element dropped with probability `rate`, a number or a 0-d value.

    `shape`, which broadcasts to that of x, drops whole slices: (n, 1, 1, c) drops channels.  Takes
    as many random elements as x has, or `shape` (see `next_counter`).
    """
    like = x if shape is None else tuple(shape)
    if not isinstance(rate, Value):
        return Dropout(rate)(x, ops.bernoulli(key, counter, like, rate))
    u = ops.random_uniform(key, counter, like, dtype=rate.type.dtype)
    return ops.select(u < rate, 0.0, x / (1.0 - rate))


def _check_rate(rate: float) -> None:
    if not 0 <= rate < 1:
        raise GraphError(f"dropout: the rate is {rate}, which is not in [0, 1)")
