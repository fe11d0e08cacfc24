"""Softmax and its logarithm along one axis, without overflow: the maximum is subtracted first.

A row with some -inf is a row without those elements; a row of nothing but -inf has no softmax, and
gives nan.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Node, Op, Sample, TensorType, Types, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.broadcast import normal_axis
from byparts_opset.domain import between
from byparts_opset.dtypes import Array
from byparts_opset.elementwise import computed, float_twins, floats, same_shape_back, twins_back
from byparts_opset.half import in_f32


@dataclass(frozen=True)
class Softmax(Op):
    """y = exp(x) / sum(exp(x)), along one axis.  Same shape as x."""

    axis: int = -1

    inplace = ((0, 0),)
    infer_unranked = floats
    infer_inputs = same_shape_back

    def infer(self, x: TensorType) -> Types:
        return _along(self, self.axis, x)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: np.exp(_log_softmax(x, self.axis)), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (softmax_gradient(dy, node.outputs[0], self.axis),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        e = ops.exp(x - ops.max(x, (self.axis,), keepdims=True))
        return (e / ops.sum(e, (self.axis,), keepdims=True),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield from _samples(cls(-1), cls(0), cls(1))


@dataclass(frozen=True)
class LogSoftmax(Op):
    """y = x - log(sum(exp(x))), along one axis.  Same shape as x."""

    axis: int = -1

    inplace = ((0, 0),)
    infer_unranked = floats
    infer_inputs = same_shape_back

    def infer(self, x: TensorType) -> Types:
        return _along(self, self.axis, x)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: _log_softmax(x, self.axis), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (log_softmax_gradient(dy, node.outputs[0], self.axis),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        below = x - ops.max(x, (self.axis,), keepdims=True)
        return (below - ops.log(ops.sum(ops.exp(below), (self.axis,), keepdims=True)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield from _samples(cls(-1), cls(0), cls(1))


@dataclass(frozen=True)
class SoftmaxGradient(Op):
    """dx = y * (dy - sum(y * dy)), for y = softmax(x) along one axis."""

    axis: int = -1

    inplace = ((0, 0),)
    infer_unranked = float_twins
    infer_inputs = twins_back

    def infer(self, dy: TensorType, y: TensorType) -> Types:
        return _along(self, self.axis, *float_twins(self, dy, y))

    def domain(self, dy: Array, y: Array) -> tuple[Array, ...]:
        return (dy, between(0, 1, y))

    def evaluate(self, dy: Array, y: Array) -> tuple[Array, ...]:
        def slope(dy: Array, y: Array) -> Array:
            dx: Array = y * (dy - (y * dy).sum(self.axis, np.float64, keepdims=True))
            return dx

        return computed(slope, dy, y)

    def gradient(self, node: Node, ddx: Value) -> tuple[Value | None, ...]:
        """The Jacobian is symmetric, so dy gets what dx would."""
        dy, y = node.inputs
        below, along = _total(self, y * dy), _total(self, ddx * y)
        return (self(ddx, y), ddx * (dy - below) - dy * along)

    @in_f32
    def decompose(self, dy: Value, y: Value) -> tuple[Value, ...] | None:
        return (y * (dy - _total(self, y * dy)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield from _gradient_samples(cls(-1), cls(0), cls(1), (0, 1))


@dataclass(frozen=True)
class LogSoftmaxGradient(Op):
    """dx = dy - exp(y) * sum(dy), for y = log_softmax(x) along one axis."""

    axis: int = -1

    inplace = ((0, 0),)
    infer_unranked = float_twins
    infer_inputs = twins_back

    def infer(self, dy: TensorType, y: TensorType) -> Types:
        return _along(self, self.axis, *float_twins(self, dy, y))

    def domain(self, dy: Array, y: Array) -> tuple[Array, ...]:
        return (dy, between(-np.inf, 0, y))

    def evaluate(self, dy: Array, y: Array) -> tuple[Array, ...]:
        def slope(dy: Array, y: Array) -> Array:
            dx: Array = dy - np.exp(y) * dy.sum(self.axis, np.float64, keepdims=True)
            return dx

        return computed(slope, dy, y)

    def gradient(self, node: Node, ddx: Value) -> tuple[Value | None, ...]:
        dy, y = node.inputs
        share = ddx * ops.exp(y)
        return (ddx - _total(self, share), -(share * _total(self, dy)))

    @in_f32
    def decompose(self, dy: Value, y: Value) -> tuple[Value, ...] | None:
        return (dy - ops.exp(y) * _total(self, dy),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield from _gradient_samples(cls(-1), cls(0), cls(1), (-4, 0))


def softmax(x: Value, axis: int = -1) -> Value:
    """exp(x) along `axis`, scaled to a sum of 1."""
    return Softmax(_normal("softmax", x, axis))(x)


def log_softmax(x: Value, axis: int = -1) -> Value:
    """The logarithm of `softmax`, exact also where that rounds to 0."""
    return LogSoftmax(_normal("log_softmax", x, axis))(x)


def softmax_gradient(dy: Value, y: Value, axis: int = -1) -> Value:
    """The gradient of y = `softmax(x, axis)`."""
    return SoftmaxGradient(_normal("softmax_gradient", y, axis))(dy, y)


def log_softmax_gradient(dy: Value, y: Value, axis: int = -1) -> Value:
    """The gradient of y = `log_softmax(x, axis)`."""
    return LogSoftmaxGradient(_normal("log_softmax_gradient", y, axis))(dy, y)


def _normal(name: str, x: Value, axis: int) -> int:
    return axis if x.type.rank is None else normal_axis(name, axis, x.type.rank)


def _along(op: Op, axis: int, x: TensorType) -> Types:
    normal_axis(op.name, axis, len(x.shape or ()))
    return floats(op, x)


def _total(op: SoftmaxGradient | LogSoftmaxGradient, x: Value) -> Value:
    return ops.sum(x, (op.axis,), keepdims=True)


def _log_softmax(x: Array, axis: int) -> Array:
    """In f64, whatever x is: the reference may take its time."""
    if x.size == 0:
        return x
    below = x.astype(np.float64) - x.max(axis=axis, keepdims=True)
    y: Array = below - np.log(np.exp(below).sum(axis=axis, keepdims=True))
    return y.astype(x.dtype)


def _samples(last: Op, first: Op, middle: Op) -> Iterator[Sample]:
    for op, shape in ((last, (3, 4)), (first, (5,)), (middle, (2, 3, 4)), (last, (0, 3))):
        yield Sample(op, (TensorType("f32", shape),), ((-2, 2),))


def _gradient_samples(
    last: Op, first: Op, middle: Op, limits: tuple[float, float]
) -> Iterator[Sample]:
    for sample in _samples(last, first, middle):
        yield Sample(sample.op, sample.types * 2, ((-1, 1), limits))
