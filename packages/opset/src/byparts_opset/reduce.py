"""Reductions along axes: sums, means, extremes, the log of sums of exp, any and all.

The dtype stays: a sum of i32 is an i32 and wraps.  Half types are computed in f32 and rounded once.
Of no elements the sum is 0, the mean nan, logsumexp -inf, `any` false and `all` true; there is no
max or min.  Where several elements are the extreme one they share its gradient equally, as in JAX
and TensorFlow (and torch's `amax`), or the first of them gets it, where `first` is asked for (as in
torch's `max` along an axis); the mask comes from the input, never from dy.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Node, Op, Sample, ShapeError, TensorType, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.dtypes import Array, narrow, wide
from byparts_opset.half import widened
from byparts_opset.reduction import (
    Axes,
    count,
    dropped,
    given_axes,
    input_flops,
    reduced,
    reduced_bool,
    reduced_float,
    reduced_number,
    reduced_some,
    reduction_samples,
    restored,
    simpler,
    type_of,
)


@dataclass(frozen=True)
class Sum(Op):
    """y = the sum of x over `axes`."""

    axes: tuple[int, ...] | None = None
    keepdims: bool = False

    pattern = "reduction"
    infer = infer_unranked = reduced_number
    canonical = simpler
    flops = input_flops

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        w = wide(x)
        with np.errstate(all="ignore"):
            return (narrow(w.sum(axis=self.axes, keepdims=self.keepdims, dtype=w.dtype), x.dtype),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (ops.broadcast_like(restored(self, dy), node.inputs[0]),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield from reduction_samples(cls)
        yield Sample(cls((0,)), (TensorType("f32", (0, 3)),))


@dataclass(frozen=True)
class Mean(Op):
    """y = the sum of x over `axes`, by their number; floats only."""

    axes: tuple[int, ...] | None = None
    keepdims: bool = False

    pattern = "reduction"
    infer = infer_unranked = reduced_float
    canonical = simpler
    flops = input_flops

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            total = np.asarray(wide(x).sum(axis=self.axes, keepdims=self.keepdims))
            return (narrow(total / total.dtype.type(count(x, self.axes)), x.dtype),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,) = node.inputs
        each = widened(dy) / ops.count_like(widened(x), self.axes)
        return (ops.broadcast_like(restored(self, ops.cast(each, x.type.dtype)), x),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        total = Sum(self.axes, self.keepdims)(widened(x))
        return (ops.cast(total / ops.count_like(widened(x), self.axes), x.type.dtype),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return reduction_samples(cls)


@dataclass(frozen=True)
class Max(Op):
    """y = the greatest of x over `axes`; nan if there is one.

    `first`, with one axis: of equals the first gets the gradient; otherwise they share it.
    """

    axes: tuple[int, ...] | None = None
    keepdims: bool = False
    first: bool = False

    pattern = "reduction"
    infer = infer_unranked = reduced_some
    canonical = simpler
    flops = input_flops

    def __post_init__(self) -> None:
        _check_first(self)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        self.infer(type_of(x))  # refuses to take it of nothing
        return (narrow(wide(x).max(axis=self.axes, keepdims=self.keepdims), x.dtype),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (_shared(self, node, dy),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return reduction_samples(cls)


@dataclass(frozen=True)
class Min(Op):
    """y = the least of x over `axes`; nan if there is one.

    `first`, with one axis: of equals the first gets the gradient; otherwise they share it.
    """

    axes: tuple[int, ...] | None = None
    keepdims: bool = False
    first: bool = False

    pattern = "reduction"
    infer = infer_unranked = reduced_some
    canonical = simpler
    flops = input_flops

    def __post_init__(self) -> None:
        _check_first(self)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        self.infer(type_of(x))  # refuses to take it of nothing
        return (narrow(wide(x).min(axis=self.axes, keepdims=self.keepdims), x.dtype),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (_shared(self, node, dy),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return reduction_samples(cls)


@dataclass(frozen=True)
class LogSumExp(Op):
    """y = log(sum(exp(x))) over `axes`, without overflow: exp is taken of x less its maximum."""

    name = "logsumexp"

    axes: tuple[int, ...] | None = None
    keepdims: bool = False

    pattern = "reduction"
    infer = infer_unranked = reduced_float
    canonical = simpler
    flops = input_flops

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        w = wide(x)
        top = w.max(axis=self.axes, keepdims=True, initial=-inf)
        top = np.where(np.isinf(top), w.dtype.type(0), top)
        with np.errstate(all="ignore"):
            total = np.exp(w - top).sum(axis=self.axes, keepdims=self.keepdims)
            return (narrow(np.log(total) + top.reshape(np.shape(total)), x.dtype),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        x, y = node.inputs[0], restored(self, node.outputs[0])
        y = ops.select(
            ops.equal(y, -inf), 0, y
        )  # all of x is -inf there: exp(x) = 0, where x - y is nan
        return (restored(self, dy) * ops.exp(x - y),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        (y,) = reduced(self, x.type)
        if x.type.static and x.type.size == 0:
            return (ops.fill(-inf, y.dtype, y.dims),)
        w = widened(x)
        top = Max(self.axes, True)(w)
        top = ops.select(ops.equal(ops.abs(top), inf), 0, top)
        z = ops.log(Sum(self.axes, True)(ops.exp(w - top))) + top
        return (dropped(self, ops.cast(z, y.dtype)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return reduction_samples(cls)


@dataclass(frozen=True)
class All(Op):
    """y = whether all of x hold over `axes`."""

    axes: tuple[int, ...] | None = None
    keepdims: bool = False

    pattern = "reduction"
    infer = infer_unranked = reduced_bool
    canonical = simpler
    flops = input_flops

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return (np.asarray(x.all(axis=self.axes, keepdims=self.keepdims)),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (None,)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        failures = Sum(self.axes, self.keepdims)(ops.cast(ops.logical_not(x), "i64"))
        return (ops.equal(failures, 0),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for s in reduction_samples(cls):
            yield Sample(s.op, (TensorType("bool", s.types[0].shape),))


@dataclass(frozen=True)
class Any(Op):
    """y = whether any of x holds over `axes`."""

    axes: tuple[int, ...] | None = None
    keepdims: bool = False

    pattern = "reduction"
    infer = infer_unranked = reduced_bool
    canonical = simpler
    flops = input_flops

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return (np.asarray(x.any(axis=self.axes, keepdims=self.keepdims)),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (None,)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (ops.logical_not(All(self.axes, self.keepdims)(ops.logical_not(x))),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for s in reduction_samples(cls):
            yield Sample(s.op, (TensorType("bool", s.types[0].shape),))


def sum(x: Value, axes: Axes = None, keepdims: bool = False) -> Value:
    """The sum over `axes`, all by default."""
    return Sum(given_axes("sum", axes, x.type), keepdims)(x)


def mean(x: Value, axes: Axes = None, keepdims: bool = False) -> Value:
    """The mean over `axes`, all by default."""
    return Mean(given_axes("mean", axes, x.type), keepdims)(x)


def max(x: Value, axes: Axes = None, keepdims: bool = False, first: bool = False) -> Value:
    """The greatest over `axes`, all by default; its gradient is shared, or the `first` one's."""
    return Max(given_axes("max", axes, x.type), keepdims, first)(x)


def min(x: Value, axes: Axes = None, keepdims: bool = False, first: bool = False) -> Value:
    """The least over `axes`, all by default; its gradient is shared, or the `first` one's."""
    return Min(given_axes("min", axes, x.type), keepdims, first)(x)


def logsumexp(x: Value, axes: Axes = None, keepdims: bool = False) -> Value:
    """log(sum(exp(x))) over `axes`, all by default."""
    return LogSumExp(given_axes("logsumexp", axes, x.type), keepdims)(x)


def all(x: Value, axes: Axes = None, keepdims: bool = False) -> Value:
    """Whether all hold over `axes`, all by default."""
    return All(given_axes("all", axes, x.type), keepdims)(x)


def any(x: Value, axes: Axes = None, keepdims: bool = False) -> Value:
    """Whether any holds over `axes`, all by default."""
    return Any(given_axes("any", axes, x.type), keepdims)(x)


def _shared(op: Max | Min, node: Node, dy: Value) -> Value:
    """The gradient, in equal parts for all elements that are the extreme one, or for the first."""
    (x,), (y,) = node.inputs, node.outputs
    if op.first:
        return ops.select(_first(op, x), restored(op, dy), 0)
    mask = ops.cast(ops.equal(x, restored(op, y)), x.type.dtype)
    return restored(op, dy) / Sum(op.axes, True)(mask) * mask


def _check_first(op: Max | Min) -> None:
    if op.first and op.axes is not None and len(op.axes) != 1:
        raise ShapeError(f"{op.name}: first is of one axis or of all, got axes {op.axes}")


def _first(op: Max | Min, x: Value) -> Value:
    """Whether each element is the one that `argmax` or `argmin` names."""
    find = ops.ArgMax if isinstance(op, Max) else ops.ArgMin
    if op.axes is None:
        line = _numbers(ops.Reshape((-1,))(x), 0)
        return ops.equal(ops.reshape_like(line, x), find()(x))
    (axis,) = op.axes
    return ops.equal(_numbers(x, axis), find(axis, True)(x))


def _numbers(x: Value, axis: int) -> Value:
    """0, 1, 2, ... along an axis of x, in a shape that broadcasts to that of x."""
    size = x.type.shape[axis] if x.type.shape is not None else None
    if x.type.shape is None or not isinstance(size, int):
        return ops.CumSum(axis, exclusive=True)(ops.ones_like(ops.cast(x, "i64")))
    behind = len(x.type.shape) - 1 - axis % len(x.type.shape)
    return ops.Reshape((size, *(1,) * behind))(ops.arange(0, size, dtype="i64"))
