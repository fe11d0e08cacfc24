"""Pooling and its gradients, as tensors computed from the inputs.

Where the first maximum of each window is, is a tensor of its own: an element of dx then compares
one number for each window around it, and not a window of elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import byparts_opset as ops
from byparts_graph_ir import TensorType
from byparts_op_loops.function import Function, function
from byparts_op_loops.reduction import ANY
from byparts_op_loops.window import (
    Program,
    View,
    as_loops,
    framed_images,
    images_of,
    numbers,
)
from byparts_opset.pool import Averaging
from byparts_opset.pooling import Pool, windows
from byparts_opset.window import TO_NCHW, Pair, pads, side
from byparts_tensor_ir.expression import BYTES, FLOATS, Expr, as_expr, const
from byparts_tensor_ir.functions import cast, maximum, minimum, select
from byparts_tensor_ir.schedule.schedule import Schedule
from byparts_tensor_ir.statement import For, walk
from byparts_tensor_ir.tensor import (
    SUM,
    Elements,
    Reduction,
    Tensor,
    compute,
    max,
    min,
    reduce_axis,
    sum,
)

_MOST_WRITTEN_OUT = 16  # elements of a window


def _scheduled(rule: Program) -> Callable[..., Function]:
    """Wrap a rule like `as_loops`; vectorize the last axis and unroll short windows.

    What is reduced over a window is kept in registers until a line of it is complete.
    """
    plain = as_loops(rule)

    def made(op: Pool, types: Sequence[TensorType]) -> Function:
        unscheduled = plain(op, types).func
        s = Schedule(unscheduled)
        names = {x.name for x in walk(s.func.body) if isinstance(x, For)}
        for block in ("first", "y") if "first_u" in names else ("y",):
            if {f"{block}_u", f"{block}_d"} <= names:
                s.cache_write(block, f"{block}_c").vectorize(f"{block}_d")
                s.vectorize(f"{block}_w3")
                if prod(op.ksize) <= _MOST_WRITTEN_OUT:
                    s.unroll(f"{block}_u").unroll(f"{block}_v")
        if "y_u" not in names and op.layout == "NCHW":
            s.vectorize("y_d")
        return Function(s.func, unscheduled=unscheduled)

    return made


@function.on(ops.MaxPool)
@_scheduled
def _max_pool(op: ops.MaxPool, inputs: Sequence[Tensor], types: Sequence[TensorType]) -> Tensor:
    """y[n, c, p, q] = max over u, v of x[n, c, p s + u, q s + v]."""
    images, (counts, around) = images_of(op, inputs[0]), windows(op, types[0].dims)
    framed, axes = framed_images(images, around, least(types[0].dtype)), _window(op)

    def element(n: Expr, c: Expr, p: Expr, q: Expr) -> Elements:
        return max(framed[n, c, _row(op, p, axes), _column(op, q, axes)], axes)

    return images.computed((*numbers(images.shape)[:2], *counts), element)


@function.on(ops.MaxPoolGradient)
@_scheduled
def _max_pool_gradient(
    op: ops.MaxPoolGradient, inputs: Sequence[Tensor], types: Sequence[TensorType]
) -> Tensor:
    """dx: where the first maximum of a window is, its dy; summed over windows."""
    first, dy = _first_maxima(op, inputs, types), images_of(op, inputs[2])

    def share(n: Expr, c: Expr, p: Expr, q: Expr, number: Expr) -> Expr:
        here = first[n, c, p, q].equal(number)
        return select(here, dy[n, c, p, q], const(0, types[0].dtype))

    return _scattered(op, images_of(op, inputs[0]), types[0], share)


@function.on(ops.MaxPoolGradientGradient)
@as_loops
def _max_pool_gradient_gradient(
    op: ops.MaxPoolGradientGradient, inputs: Sequence[Tensor], types: Sequence[TensorType]
) -> Tensor:
    """y: of each window the element of g where the first maximum is; 0 where none is."""
    first, y = _first_maxima(op, inputs, types), images_of(op, inputs[1])
    framed, axes = (
        framed_images(images_of(op, inputs[2]), windows(op, types[0].dims)[1], 0),
        _window(op),
    )

    def element(n: Expr, c: Expr, p: Expr, q: Expr) -> Elements:
        here = first[n, c, p, q].equal(_number(op, *axes))
        return _added(framed[n, c, _row(op, p, axes), _column(op, q, axes)], axes, here)

    return y.computed(numbers(y.shape), element)


@function.on(ops.AveragePool)
@as_loops
def _average_pool(
    op: ops.AveragePool, inputs: Sequence[Tensor], types: Sequence[TensorType]
) -> Tensor:
    """y[n, c, p, q] = sum over u, v of x[n, c, p s + u, q s + v], divided by their number."""
    images, (counts, around) = images_of(op, inputs[0]), windows(op, types[0].dims)
    framed, axes = framed_images(images, around, 0), _window(op)

    def summed(n: Expr, c: Expr, p: Expr, q: Expr) -> Elements:
        return sum(framed[n, c, _row(op, p, axes), _column(op, q, axes)], axes)

    total = compute((*numbers(images.shape)[:2], *counts), summed, "total")

    def element(n: Expr, c: Expr, p: Expr, q: Expr) -> Expr:
        return total[n, c, p, q] / _divisor(op, types[0], p, q)

    return images.computed((*numbers(images.shape)[:2], *counts), element)


@function.on(ops.AveragePoolGradient)
@_scheduled
def _average_pool_gradient(
    op: ops.AveragePoolGradient, inputs: Sequence[Tensor], types: Sequence[TensorType]
) -> Tensor:
    """dx: the dy of each window, divided as the mean was, added all over it."""
    dy = images_of(op, inputs[0])

    def share(n: Expr, c: Expr, p: Expr, q: Expr, number: Expr) -> Expr:
        return dy[n, c, p, q] / _divisor(op, types[1], p, q)

    return _scattered(op, images_of(op, inputs[1]), types[1], share)


def _window(op: Pool) -> list[Expr]:
    return [reduce_axis(k, name) for k, name in zip(op.ksize, "uv", strict=True)]


def _row(op: Pool, p: Expr, axes: Sequence[Expr]) -> Expr:
    """The row of the padded image under an element of the window at row p."""
    return p * op.strides[0] + axes[0]


def _column(op: Pool, q: Expr, axes: Sequence[Expr]) -> Expr:
    return q * op.strides[1] + axes[1]


def _number(op: Pool, u: Expr, v: Expr) -> Expr:
    """The number of element (u, v) of the window, counted row by row."""
    return cast(u * op.ksize[1] + v, "i32")


def _first_maxima(op: Pool, inputs: Sequence[Tensor], types: Sequence[TensorType]) -> View:
    """[n, c, p, q]: the number of the first element of the window that equals y; else one more."""
    images, y = images_of(op, inputs[0]), images_of(op, inputs[1])
    around, axes = windows(op, types[0].dims)[1], _window(op)
    framed = framed_images(images, around, least(types[0].dtype))
    _, _, h, w = numbers(images.shape)

    def element(n: Expr, c: Expr, p: Expr, q: Expr) -> Elements:
        row, column = _row(op, p, axes), _column(op, q, axes)
        hit = framed[n, c, row, column].equal(y[n, c, p, q])
        if around != ((0, 0), (0, 0)):  # padding is no maximum, not even of images of its value
            hit = hit & _inside(row, around[0], h) & _inside(column, around[1], w)
        return min(select(hit, _number(op, *axes), const(prod(op.ksize), "i32")), axes)

    return images_of(op, y.computed(numbers(y.shape), element, "first"))


def _inside(place: Expr, around: Pair, extent: int) -> Expr:
    """Whether a row or column of a padded image is of the image."""
    return (as_expr(around[0]) <= place) & (place < around[0] + extent)


def _scattered(op: Pool, x: View, type: TensorType, share: Callable[..., Expr]) -> Tensor:
    """dx[n, c, h, w]: the sum of `share(n, c, p, q, number)` over the windows at p, q around it."""
    counts, around = windows(op, type.dims)
    axes, extents, (k, s) = _window(op), numbers(x.shape), (op.ksize, op.strides)

    def alone(n: Expr, c: Expr, h: Expr, w: Expr) -> Elements:
        return share(n, c, h // s[0], w // s[1], _number(op, h % s[0], w % s[1]))

    if k == s and all(counts[a] * s[a] == extents[2 + a] for a in (0, 1)):
        return x.computed(extents, alone)  # each element is in one window

    def element(n: Expr, c: Expr, h: Expr, w: Expr) -> Elements:
        inside, places = const(True, "bool"), []
        for a, place in enumerate((h, w)):
            start = place + around[a][0] - axes[a]
            inside = inside & (as_expr(0) <= start) & (start < counts[a] * s[a])
            inside = inside & (start % s[a]).equal(0)
            places.append(start // s[a])
        return _added(share(n, c, *places, _number(op, *axes)), axes, inside)

    return x.computed(extents, element)


def _added(e: Expr, axes: Sequence[Expr], where: Expr) -> Reduction:
    """The sum over a window; of bools whether any is true."""
    return Reduction(ANY if e.dtype == "bool" else SUM, (e,), tuple(axes), where)


def _divisor(op: Averaging, x: TensorType, p: Expr, q: Expr) -> Expr:
    """The number of elements by which the average over the window at p, q is divided."""
    count = as_expr(1)
    for a, place in enumerate((p, q)):
        extent, first = x.dims[TO_NCHW[op.layout][2 + a]], place * op.strides[a]
        lower, upper = pads(side(op.padding, a), extent, op.ksize[a], op.strides[a])
        low, high = (0, lower + extent + upper) if op.count_include_pad else (lower, lower + extent)
        (_, behind), last = windows(op, x.dims)[1][a], first + op.ksize[a]
        if (lower, behind) == (0, 0) or (op.count_include_pad and behind == upper):
            count = count * op.ksize[a]  # windows lie within
        else:
            count = count * (minimum(last, high) - maximum(first, low))
    return cast(count, x.dtype)


def least(dtype: str) -> float:
    """The identity of max: minus infinity for floats, the least number for integers."""
    if dtype in FLOATS:
        return float("-inf")
    return 0 if dtype[0] == "u" else -(1 << (8 * BYTES[dtype] - 1))
