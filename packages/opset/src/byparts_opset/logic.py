"""Logic on bools, by NumPy's broadcasting.  Nothing here has a gradient."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from byparts_graph_ir import Node, Op, Sample, TensorType, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.dtypes import Array
from byparts_opset.elementwise import (
    answered,
    binary_samples,
    bools,
    broadcast_back,
    same_shape_back,
    two_bools,
)


@dataclass(frozen=True)
class LogicalAnd(Op):
    """z = x and y."""

    pattern = "elementwise"
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = two_bools
    infer_inputs = broadcast_back

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return answered(np.logical_and, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        return (None, None)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls(), dtype="bool")


@dataclass(frozen=True)
class LogicalOr(Op):
    """z = x or y."""

    pattern = "elementwise"
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = two_bools
    infer_inputs = broadcast_back

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return answered(np.logical_or, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        return (None, None)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls(), dtype="bool")


@dataclass(frozen=True)
class LogicalXor(Op):
    """z = x or y, but not both."""

    pattern = "elementwise"
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = two_bools
    infer_inputs = broadcast_back

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return answered(np.logical_xor, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        return (None, None)

    def decompose(self, x: Value, y: Value) -> tuple[Value, ...] | None:
        return (logical_and(logical_or(x, y), logical_not(logical_and(x, y))),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls(), dtype="bool")


@dataclass(frozen=True)
class LogicalNot(Op):
    """y = not x."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = bools
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return answered(np.logical_not, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (None,)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield Sample(cls(), (TensorType("bool", (3, 4)),))
        yield Sample(cls(), (TensorType("bool", ()),))


logical_and, logical_or, logical_xor = LogicalAnd(), LogicalOr(), LogicalXor()
logical_not = LogicalNot()
