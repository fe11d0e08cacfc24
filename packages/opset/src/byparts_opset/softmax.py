"""Softmax and its logarithm along one axis, without overflow: the maximum is subtracted first.

A row with some -inf is a row without those elements; a row of nothing but -inf has no softmax, and
gives nan.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import FLOATS, Node, Op, Sample, TensorType, Types, Value
from byparts_opset.broadcast import given_axis, meet_types, normal_axis, same_dtype
from byparts_opset.domain import between
from byparts_opset.dtypes import Array, require
from byparts_opset.elementwise import computed, same_shape_back
from byparts_opset.half import in_f32


class Rows(Op):
    """y has the type of x, a float, and is computed row by row along `axis`."""

    axis: int = -1

    inplace = ((0, 0),)
    infer_inputs = same_shape_back

    def infer(self, x: TensorType) -> Types:
        normal_axis(self.name, self.axis, len(x.shape or ()))
        return self.infer_unranked(x)

    def infer_unranked(self, x: TensorType) -> Types:
        return (require(self.name, x, FLOATS),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for axis, shape in SAMPLES:
            yield Sample(cls(axis), (TensorType("f32", shape),), ((-2, 2),))


class Softmax(Rows):
    """y = exp(x) / sum(exp(x)), along one axis.  Same shape as x."""

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: np.exp(_log_softmax(x, self.axis)), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (softmax_gradient(dy, node.outputs[0], self.axis),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        if _is_empty(x):
            return (x,)
        e = ops.exp(x - ops.max(x, (self.axis,), keepdims=True))
        return (e / ops.sum(e, (self.axis,), keepdims=True),)


class LogSoftmax(Rows):
    """y = x - log(sum(exp(x))), along one axis.  Same shape as x."""

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: _log_softmax(x, self.axis), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (log_softmax_gradient(dy, node.outputs[0], self.axis),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        if _is_empty(x):
            return (x,)
        below = x - ops.max(x, (self.axis,), keepdims=True)
        return (below - ops.log(ops.sum(ops.exp(below), (self.axis,), keepdims=True)),)


class RowsGradient(Op):
    """dx has the type of dy and of y, a float, and is computed row by row along `axis`.

    Attributes:
        outputs: [low, high], in which every element of y is.
    """

    axis: int = -1

    inplace = ((0, 0),)
    outputs: ClassVar[tuple[float, float]]

    def infer(self, dy: TensorType, y: TensorType) -> Types:
        (dx,) = self.infer_unranked(dy, y)
        normal_axis(self.name, self.axis, len(dx.shape or ()))
        return (dx,)

    def infer_unranked(self, dy: TensorType, y: TensorType) -> Types:
        same_dtype(self.name, dy, y)
        return (meet_types(self.name, require(self.name, dy, FLOATS), y),)

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        dy, y = (meet_types(self.name, t, outputs[0]) for t in inputs)
        return (meet_types(self.name, dy, y), meet_types(self.name, y, dy))

    def domain(self, dy: Array, y: Array) -> tuple[Array, ...]:
        return (dy, between(*self.outputs, y))

    def total(self, x: Value) -> Value:
        """The sum of each row."""
        return ops.sum(x, (self.axis,), keepdims=True)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        low, high = cls.outputs
        for axis, shape in SAMPLES:
            x = TensorType("f32", shape)
            yield Sample(cls(axis), (x, x), ((-1, 1), (max(low, -4.0), high)))


class SoftmaxGradient(RowsGradient):
    """dx = y * (dy - sum(y * dy)), for y = softmax(x) along one axis."""

    outputs = (0.0, 1.0)

    def evaluate(self, dy: Array, y: Array) -> tuple[Array, ...]:
        def slope(dy: Array, y: Array) -> Array:
            dx: Array = y * (dy - (y * dy).sum(self.axis, np.float64, keepdims=True))
            return dx

        return computed(slope, dy, y)

    def gradient(self, node: Node, ddx: Value) -> tuple[Value | None, ...]:
        """The Jacobian is symmetric, so dy gets what dx would."""
        dy, y = node.inputs
        below, along = self.total(y * dy), self.total(ddx * y)
        return (self(ddx, y), ddx * (dy - below) - dy * along)

    @in_f32
    def decompose(self, dy: Value, y: Value) -> tuple[Value, ...] | None:
        return (y * (dy - self.total(y * dy)),)


class LogSoftmaxGradient(RowsGradient):
    """dx = dy - exp(y) * sum(dy), for y = log_softmax(x) along one axis."""

    outputs = (-np.inf, 0.0)

    def evaluate(self, dy: Array, y: Array) -> tuple[Array, ...]:
        def slope(dy: Array, y: Array) -> Array:
            dx: Array = dy - np.exp(y) * dy.sum(self.axis, np.float64, keepdims=True)
            return dx

        return computed(slope, dy, y)

    def gradient(self, node: Node, ddx: Value) -> tuple[Value | None, ...]:
        dy, y = node.inputs
        share = ddx * ops.exp(y)
        return (ddx - self.total(share), -(share * self.total(dy)))

    @in_f32
    def decompose(self, dy: Value, y: Value) -> tuple[Value, ...] | None:
        return (dy - ops.exp(y) * self.total(dy),)


def softmax(x: Value, axis: int = -1) -> Value:
    """exp(x) along `axis`, scaled to a sum of 1."""
    return Softmax(given_axis("softmax", axis, x))(x)


def log_softmax(x: Value, axis: int = -1) -> Value:
    """The logarithm of `softmax`, exact also where that rounds to 0."""
    return LogSoftmax(given_axis("log_softmax", axis, x))(x)


def softmax_gradient(dy: Value, y: Value, axis: int = -1) -> Value:
    """The gradient of y = `softmax(x, axis)`."""
    return SoftmaxGradient(given_axis("softmax_gradient", axis, y))(dy, y)


def log_softmax_gradient(dy: Value, y: Value, axis: int = -1) -> Value:
    """The gradient of y = `log_softmax(x, axis)`."""
    return LogSoftmaxGradient(given_axis("log_softmax_gradient", axis, y))(dy, y)


def _is_empty(x: Value) -> bool:
    """Whether x is known to have no elements: there is no maximum to subtract."""
    return 0 in (x.type.shape or ())


def _log_softmax(x: Array, axis: int) -> Array:
    """In f64, whatever x is: the reference may take its time."""
    if x.size == 0:
        return x
    below = x.astype(np.float64) - x.max(axis=axis, keepdims=True)
    y: Array = below - np.log(np.exp(below).sum(axis=axis, keepdims=True))
    return y


SAMPLES = ((-1, (3, 4)), (0, (5,)), (1, (2, 3, 4)), (-1, (0, 3)), (1, (2, 0)))  # (axis, shape)
