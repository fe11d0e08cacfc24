"""Questions about two values, or one: the answer is a bool, by NumPy's broadcasting.

Nothing here has a gradient.  A comparison with nan is false, but for `not_equal`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import FLOATS, Node, Op, Sample, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.dtypes import Array
from byparts_opset.elementwise import (
    answered,
    asked,
    binary_samples,
    broadcast_back,
    compared,
    matched,
    same_shape_back,
    unary_samples,
)


@dataclass(frozen=True)
class Equal(Op):
    """z = x == y."""

    pattern = "elementwise"
    infer = infer_unranked = matched
    infer_inputs = broadcast_back

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return answered(np.equal, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        return (None, None)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls())


@dataclass(frozen=True)
class NotEqual(Op):
    """z = x != y."""

    pattern = "elementwise"
    infer = infer_unranked = matched
    infer_inputs = broadcast_back

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return answered(np.not_equal, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        return (None, None)

    def decompose(self, x: Value, y: Value) -> tuple[Value, ...] | None:
        return (ops.logical_not(equal(x, y)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls())


@dataclass(frozen=True)
class Less(Op):
    """z = x < y."""

    pattern = "elementwise"
    infer = infer_unranked = compared
    infer_inputs = broadcast_back

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return answered(np.less, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        return (None, None)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls())


@dataclass(frozen=True)
class LessEqual(Op):
    """z = x <= y."""

    pattern = "elementwise"
    infer = infer_unranked = compared
    infer_inputs = broadcast_back

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return answered(np.less_equal, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        return (None, None)

    def decompose(self, x: Value, y: Value) -> tuple[Value, ...] | None:
        return (ops.logical_or(less(x, y), equal(x, y)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls())


@dataclass(frozen=True)
class Greater(Op):
    """z = x > y."""

    pattern = "elementwise"
    infer = infer_unranked = compared
    infer_inputs = broadcast_back

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return answered(np.greater, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        return (None, None)

    def decompose(self, x: Value, y: Value) -> tuple[Value, ...] | None:
        return (less(y, x),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls())


@dataclass(frozen=True)
class GreaterEqual(Op):
    """z = x >= y."""

    pattern = "elementwise"
    infer = infer_unranked = compared
    infer_inputs = broadcast_back

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return answered(np.greater_equal, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        return (None, None)

    def decompose(self, x: Value, y: Value) -> tuple[Value, ...] | None:
        return (less_equal(y, x),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls())


@dataclass(frozen=True)
class IsNan(Op):
    """y = whether x is nan."""

    pattern = "elementwise"
    infer = infer_unranked = asked
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return answered(np.isnan, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (None,)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (not_equal(x, x),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls())


@dataclass(frozen=True)
class IsInf(Op):
    """y = whether x is inf or -inf."""

    pattern = "elementwise"
    infer = infer_unranked = asked
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return answered(np.isinf, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (None,)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (equal(ops.abs(x), inf) if x.type.dtype in FLOATS else not_equal(x, x),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls())


@dataclass(frozen=True)
class IsFinite(Op):
    """y = whether x is neither nan nor infinite."""

    pattern = "elementwise"
    infer = infer_unranked = asked
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return answered(np.isfinite, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (None,)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (less(ops.abs(x), inf) if x.type.dtype in FLOATS else equal(x, x),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls())


equal, not_equal = Equal(), NotEqual()
less, less_equal, greater, greater_equal = Less(), LessEqual(), Greater(), GreaterEqual()
is_nan, is_inf, is_finite = IsNan(), IsInf(), IsFinite()
