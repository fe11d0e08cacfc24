"""Reductions along axes: sums, means, extremes, the log of sums of exp, any and all; norms.

The dtype stays: a sum of i32 is an i32 and wraps.  Half types are computed in f32 and rounded once.
Of no elements the sum is 0, the mean nan, logsumexp -inf, `any` false and `all` true; there is no
max or min.  Where several elements are the extreme one they share its gradient equally, as in JAX
and TensorFlow (and torch's `amax`), or the first of them gets it, where `first` is asked for (as in
torch's `max` along an axis); the mask comes from the input, never from dy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import FLOATS, Node, Sample, ShapeError, Value
from byparts_opset.dtypes import BOOLS, Array, narrow, total_dtype, type_of, wide
from byparts_opset.elementwise import flat
from byparts_opset.half import sum_dtype, widened
from byparts_opset.reduction import Axes, Reduction, count, reduced_axes


class Sum(Reduction):
    """y = the sum of x over `axes`."""

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        w = wide(x)
        with np.errstate(all="ignore"):
            total = w.sum(axis=self.axes, keepdims=self.keepdims, dtype=total_dtype(w.dtype))
            return (narrow(total, x.dtype),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (ops.broadcast_like(self.restore(dy), node.inputs[0]),)


class Mean(Reduction):
    """y = the sum of x over `axes`, by their number; floats only.  Infinite where the sum is."""

    takes = FLOATS

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            (total,) = Sum(self.axes, self.keepdims).evaluate(wide(x))
            return (narrow(total / total.dtype.type(count(x, self.axes)), x.dtype),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,) = node.inputs
        each = widened(dy) / ops.count_like(widened(x), self.axes)
        return (ops.broadcast_like(self.restore(ops.cast(each, x.type.dtype)), x),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        total = Sum(self.axes, self.keepdims)(widened(x))
        return (ops.cast(total / ops.count_like(widened(x), self.axes), x.type.dtype),)


class Extreme(Reduction):
    """The greatest or the least of x over `axes`; nan if there is one.

    `first`, with one axis: of equals the first gets the gradient; otherwise they share it.
    """

    first: bool = False

    of_some = True

    def __post_init__(self) -> None:
        if self.first and self.axes is not None and len(self.axes) != 1:
            raise ShapeError(f"{self.name}: first is of one axis or of all, got axes {self.axes}")

    def taken(self, extreme: Callable[..., Array], x: Array) -> tuple[Array, ...]:
        """The extreme elements that NumPy finds; none where the result has no elements."""
        (y,) = self.infer(type_of(x))  # refuses to take one of nothing
        if not y.size:
            return (np.empty(y.dims, x.dtype),)
        return (narrow(extreme(wide(x), axis=self.axes, keepdims=self.keepdims), x.dtype),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,), (y,) = node.inputs, node.outputs
        if self.first:
            return (ops.select(self._is_first(x), self.restore(dy), 0),)
        mask = ops.cast(ops.equal(x, self.restore(y)), sum_dtype(x.type.dtype))
        dx = self.restore(widened(dy)) / Sum(self.axes, True)(mask) * mask
        return (ops.cast(dx, x.type.dtype),)

    def _is_first(self, x: Value) -> Value:
        """Whether each element is the one that `argmax` or `argmin` names."""
        find = ops.ArgMax if isinstance(self, Max) else ops.ArgMin
        if self.axes is None:
            line = _numbers(ops.Reshape((-1,))(x), 0)
            return ops.equal(ops.reshape_like(line, x), find()(x))
        (axis,) = self.axes
        return ops.equal(_numbers(x, axis), find(axis, True)(x))


class Max(Extreme):
    """y = the greatest of x over `axes`; nan if there is one."""

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return self.taken(np.max, x)


class Min(Extreme):
    """y = the least of x over `axes`; nan if there is one."""

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return self.taken(np.min, x)


class LogSumExp(Reduction):
    """y = log(sum(exp(x))) over `axes`, without overflow: exp is taken of x less its maximum."""

    name = "logsumexp"
    takes = FLOATS

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        w = wide(x)
        top = w.max(axis=self.axes, keepdims=True, initial=-inf)
        top = np.where(np.isinf(top), w.dtype.type(0), top)
        with np.errstate(all="ignore"):
            total = np.exp(w - top).sum(self.axes, total_dtype(w.dtype), keepdims=self.keepdims)
            return (narrow(np.log(total) + top.reshape(np.shape(total)), x.dtype),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        x, y = node.inputs[0], self.restore(node.outputs[0])
        # Where y is -inf all of x is: exp(x) = 0, and x - y would be nan.
        y = ops.select(ops.equal(y, -inf), 0, y)
        return (self.restore(dy) * ops.exp(x - y),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        (y,) = self.infer(x.type)
        if x.type.static and x.type.size == 0:
            return (ops.fill(-inf, y.dtype, y.dims),)
        w = widened(x)
        top = Max(self.axes, True)(w)
        top = ops.select(ops.equal(ops.abs(top), inf), 0, top)
        z = ops.cast(ops.log(Sum(self.axes, True)(ops.exp(w - top))) + top, y.dtype)
        if self.keepdims:
            return (z,)
        return (ops.Reshape(())(z) if self.axes is None else ops.Squeeze(self.axes)(z),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        """None that reduces no elements to one: the `max` in `decompose` refuses that."""
        return (s for s in super().samples() if s.op.infer(*s.types)[0].size <= s.types[0].size)


class All(Reduction):
    """y = whether all of x hold over `axes`."""

    takes = BOOLS
    advice = "compare first, as in x > 0"
    gradient = flat

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return (np.asarray(x.all(axis=self.axes, keepdims=self.keepdims)),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        failures = Sum(self.axes, self.keepdims)(ops.cast(ops.logical_not(x), "i64"))
        return (ops.equal(failures, 0),)


class Any(Reduction):
    """y = whether any of x holds over `axes`."""

    takes = BOOLS
    advice = "compare first, as in x > 0"
    gradient = flat

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return (np.asarray(x.any(axis=self.axes, keepdims=self.keepdims)),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (ops.logical_not(All(self.axes, self.keepdims)(ops.logical_not(x))),)


def sum(x: Value, axis: Axes = None, keepdims: bool = False) -> Value:
    """The sum over `axis`, all by default."""
    return Sum(reduced_axes("sum", axis, x.type), keepdims)(x)


def mean(x: Value, axis: Axes = None, keepdims: bool = False) -> Value:
    """The mean over `axis`, all by default."""
    return Mean(reduced_axes("mean", axis, x.type), keepdims)(x)


def max(x: Value, axis: Axes = None, keepdims: bool = False, first: bool = False) -> Value:
    """The greatest over `axis` (all); equals share the gradient, or the `first` has it."""
    return Max(reduced_axes("max", axis, x.type), keepdims, first)(x)


def min(x: Value, axis: Axes = None, keepdims: bool = False, first: bool = False) -> Value:
    """The least over `axis` (all); equals share the gradient, or the `first` has it."""
    return Min(reduced_axes("min", axis, x.type), keepdims, first)(x)


def logsumexp(x: Value, axis: Axes = None, keepdims: bool = False) -> Value:
    """log(sum(exp(x))) over `axis`, all by default."""
    return LogSumExp(reduced_axes("logsumexp", axis, x.type), keepdims)(x)


def all(x: Value, axis: Axes = None, keepdims: bool = False) -> Value:
    """Whether all hold over `axis`, all by default."""
    return All(reduced_axes("all", axis, x.type), keepdims)(x)


def any(x: Value, axis: Axes = None, keepdims: bool = False) -> Value:
    """Whether any holds over `axis`, all by default."""
    return Any(reduced_axes("any", axis, x.type), keepdims)(x)


def _numbers(x: Value, axis: int) -> Value:
    """0, 1, 2, ... along an axis of x, in a shape that broadcasts to that of x."""
    size = x.type.shape[axis] if x.type.shape is not None else None
    if x.type.shape is None or not isinstance(size, int):
        return ops.CumSum(axis, exclusive=True)(ops.ones_like(ops.cast(x, "i64")))
    behind = len(x.type.shape) - 1 - axis % len(x.type.shape)
    return ops.Reshape((size, *(1,) * behind))(ops.arange(0, size, dtype="i64"))


# The gradient of a root is infinite at 0, and 0 * inf is nan; the length of a zero vector and the
# deviation of equal numbers have 0 as one of their subgradients.  `_root` takes the root of 1 in
# place of 0 and selects 0 afterwards, so that the infinite slope is never computed, to any order.
# Norms of half types are computed in f32 and rounded once: squares leave f16 from 256 on.


def norm(x: Value, order: float = 2, axis: Axes = None, keepdims: bool = False) -> Value:
    """sum(|x|^order)^(1 / order) over `axis`; inf is the greatest |x|, -inf the least, 0 a count.

    The gradient of the norm of a zero vector is 0, as in torch; so is that of an element that is 0
    for orders below 1.
    """
    _check_float("norm", x)
    size = ops.abs(widened(x))
    if order in (inf, -inf):
        y = (ops.max if order > 0 else ops.min)(size, axis, keepdims)
    elif order == 0:
        y = ops.sum(ops.cast(ops.not_equal(size, 0), size.type.dtype), axis, keepdims)
    elif order == 1:
        y = ops.sum(size, axis, keepdims)
    elif order == 2:
        y = _root(ops.sum(ops.square(widened(x)), axis, keepdims), 2)
    else:
        y = _root(ops.sum(_powers(size, order), axis, keepdims), order)
    return ops.cast(y, x.type.dtype)


def var(x: Value, axis: Axes = None, correction: float = 0, keepdims: bool = False) -> Value:
    """The sum of squared distances from the mean, over n - correction; nan where that is no number.

    `correction=0` is NumPy's default, 1 torch's.  A divisor below 0 counts as 0.
    """
    return ops.cast(_variance("var", x, axis, correction, keepdims), x.type.dtype)


def std(x: Value, axis: Axes = None, correction: float = 0, keepdims: bool = False) -> Value:
    """The root of `var`.  The gradient where all of x are equal is 0, as in torch."""
    return ops.cast(_root(_variance("std", x, axis, correction, keepdims), 2), x.type.dtype)


def _variance(name: str, x: Value, axes: Axes, correction: float, keepdims: bool) -> Value:
    """`var`, in f32 for half types."""
    _check_float(name, x)
    x = widened(x)
    squares = ops.square(x - ops.mean(x, axes, keepdims=True))
    if correction == 0:
        return ops.mean(squares, axes, keepdims)
    divisor = ops.maximum(ops.count_like(x, axes) - float(correction), 0)
    return ops.sum(squares, axes, keepdims) / divisor


def _powers(size: Value, order: float) -> Value:
    """size^order, for size >= 0, with a gradient of 0 at 0 where it would be infinite."""
    if order > 1:
        return ops.pow(size, float(order))
    zero = ops.equal(size, 0)
    powers = ops.pow(ops.select(zero, 1, size), float(order))
    return ops.select(zero, 0 if order > 0 else inf, powers)


def _root(x: Value, degree: float) -> Value:
    """x^(1 / degree), for x >= 0, with a gradient of 0 at 0."""
    zero = ops.equal(x, 0)
    positive = ops.select(zero, 1, x)
    y = ops.sqrt(positive) if degree == 2 else ops.pow(positive, 1 / degree)
    return ops.select(zero, 0 if degree > 0 else inf, y)


def _check_float(name: str, x: Value) -> None:
    if x.type.dtype not in FLOATS:
        raise ShapeError(f"{name}: takes floats, got {x.type}; cast(x, 'f32') first")
