"""Norms, variances and deviations: functions of the other ops.

The gradient of a root is infinite at 0, and 0 * inf is nan; the length of a zero vector and the
deviation of equal numbers have 0 as one of their subgradients.  `_root` takes the root of 1 in
place of 0 and selects 0 afterwards, so that the infinite slope is never computed, to any order.
Half types are computed in f32 and rounded once: squares leave f16 from 256 on.
"""

from __future__ import annotations

from math import inf

import byparts_opset as ops
from byparts_graph_ir import FLOATS, ShapeError, Value
from byparts_opset.half import widened
from byparts_opset.reduction import Axes


def norm(x: Value, order: float = 2, axes: Axes = None, keepdims: bool = False) -> Value:
    """sum(|x|^order)^(1 / order) over `axes`; inf is the greatest |x|, -inf the least, 0 a count.

    The gradient of the norm of a zero vector is 0, as in torch; so is that of an element that is 0
    for orders below 1.
    """
    _check_float("norm", x)
    size = ops.abs(widened(x))
    if order in (inf, -inf):
        y = (ops.max if order > 0 else ops.min)(size, axes, keepdims)
    elif order == 0:
        y = ops.sum(ops.cast(ops.not_equal(size, 0), size.type.dtype), axes, keepdims)
    elif order == 1:
        y = ops.sum(size, axes, keepdims)
    elif order == 2:
        y = _root(ops.sum(ops.square(widened(x)), axes, keepdims), 2)
    else:
        y = _root(ops.sum(_powers(size, order), axes, keepdims), order)
    return ops.cast(y, x.type.dtype)


def var(x: Value, axes: Axes = None, correction: float = 0, keepdims: bool = False) -> Value:
    """The sum of squared distances from the mean, over n - correction; nan where that is no number.

    `correction=0` is NumPy's default, 1 torch's.  A divisor below 0 counts as 0.
    """
    return ops.cast(_variance("var", x, axes, correction, keepdims), x.type.dtype)


def std(x: Value, axes: Axes = None, correction: float = 0, keepdims: bool = False) -> Value:
    """The root of `var`.  The gradient where all of x are equal is 0, as in torch."""
    return ops.cast(_root(_variance("std", x, axes, correction, keepdims), 2), x.type.dtype)


def _variance(name: str, x: Value, axes: Axes, correction: float, keepdims: bool) -> Value:
    """`var`, in f32 for half types."""
    _check_float(name, x)
    x = widened(x)
    squares = ops.square(x - ops.mean(x, axes, keepdims=True))
    if correction == 0:
        return ops.mean(squares, axes, keepdims)
    axes = (axes,) if isinstance(axes, int) else axes
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
