"""Floats made whole, elementwise.  All are flat: no gradient."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Node, Op, Sample, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.dtypes import Array
from byparts_opset.elementwise import computed, floats, same_shape_back, unary_samples


@dataclass(frozen=True)
class Floor(Op):
    """y = the greatest whole number that is not above x."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.floor, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (None,)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls(), 0.6, 0.9)


@dataclass(frozen=True)
class Ceil(Op):
    """y = the least whole number that is not below x."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.ceil, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (None,)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (-floor(-x),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls(), 0.6, 0.9)


@dataclass(frozen=True)
class Round(Op):
    """y = the nearest whole number, halves to even."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.rint, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (None,)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls(), 0.6, 0.9)


@dataclass(frozen=True)
class Trunc(Op):
    """y = x rounded towards 0."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.trunc, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (None,)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (ops.select(ops.less(x, 0), ceil(x), floor(x)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls(), 0.6, 0.9)


floor, ceil, round, trunc = Floor(), Ceil(), Round(), Trunc()
