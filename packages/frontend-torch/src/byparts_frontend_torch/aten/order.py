"""Order, counts, and running results along an axis.

A running result that is no op of ours is found by doubling: after k rounds each place holds the
result of the 2^k places up to it, so an axis of n takes about log2(n) rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import byparts_opset as ops
from byparts_frontend_torch.aten.axes import axis_of, dims_of, rank_of, size_at
from byparts_frontend_torch.errors import UnsupportedOp
from byparts_frontend_torch.promotion import as_value, floating, promoted
from byparts_frontend_torch.rules import rules
from byparts_graph_ir import FLOATS, Value

Pair = tuple[Value, Value]


@rules.on("aten.kthvalue.default")
def kthvalue(x: Value, k: int, dim: int = -1, keepdim: bool = False) -> Pair:
    """The k-th least, counted from 1."""
    if not rank_of(x):
        return x, ops.zeros((), "i64")
    at = ops.argsort(x, axis_of(x, dim))
    return _taken(x, _part(at, axis_of(x, dim), k - 1, k), dim, keepdim)


@rules.on("aten.median.dim")
def median(x: Value, dim: int, keepdim: bool = False) -> Pair:
    """The lower of two in the middle; nan if there is one."""
    return _middle(x, dim, keepdim, skip=False)


@rules.on("aten.nanmedian.dim")
def nanmedian(x: Value, dim: int, keepdim: bool = False) -> Pair:
    return _middle(x, dim, keepdim, skip=True)


@rules.on("aten.median.default")
def median_of_all(x: Value) -> Value:
    return median(ops.reshape(x, (-1,)), 0)[0]  # type: ignore[no-any-return]


@rules.on("aten.nanmedian.default")
def nanmedian_of_all(x: Value) -> Value:
    return nanmedian(ops.reshape(x, (-1,)), 0)[0]  # type: ignore[no-any-return]


def _middle(x: Value, dim: int, keepdim: bool, skip: bool) -> Pair:
    """nan stands last in the order: skipped, or, where there is one, taken."""
    if not rank_of(x):
        return x, ops.zeros((), "i64")
    axis = axis_of(x, dim)
    size = size_at(x, axis)
    if not size:
        raise UnsupportedOp(f"the median of nothing, along axis {axis} of {x.type}")
    lost = ops.cast(ops.is_nan(x) if x.type.dtype in FLOATS else ops.zeros_like(x), "i64")
    lost = ops.sum(lost, axis, keepdims=True)
    lower = ops.floordiv(ops.maximum(ops.sub(size - 1, lost), 0), 2)
    at = lower if skip else ops.where(ops.greater(lost, 0), size - lost, lower)
    return _taken(x, ops.take_along_axis(ops.argsort(x, axis), at, axis), dim, keepdim)


def _taken(x: Value, at: Value, dim: int, keepdim: bool) -> Pair:
    axis = axis_of(x, dim)
    y = ops.take_along_axis(x, at, axis)
    return (y, at) if keepdim else (ops.squeeze(y, axis), ops.squeeze(at, axis))


@rules.on("aten.searchsorted.Tensor")
def searchsorted(
    row: Value, x: Value, out_int32: bool = False, right: bool = False,
    side: str | None = None, sorter: Value | None = None,
) -> Value:  # fmt: skip
    if sorter is not None:
        row = ops.take_along_axis(row, sorter, rank_of(row) - 1)
    row, values = promoted(row, x)
    if rank_of(row) == 1:
        values = ops.reshape(values, (-1,))
    y = ops.searchsorted(row, values, "right" if right or side == "right" else "left")
    return ops.cast(ops.reshape(y, dims_of(x)), "i32" if out_int32 else "i64")


@rules.on("aten.bucketize.Tensor")
def bucketize(x: Value, row: Value, out_int32: bool = False, right: bool = False) -> Value:
    return searchsorted(row, x, out_int32, right)  # type: ignore[no-any-return]


@rules.on("aten.histc.default")
def histc(x: Value, bins: int = 100, min: float = 0, max: float = 0) -> Value:
    return _histogram(
        ops.reshape(x, (-1,)), bins, None if min == max == 0 else (min, max), None, 1
    )[0]


@rules.on("aten.histogram.bin_ct")
def histogram(
    x: Value, bins: int = 100, range: Sequence[float] | None = None,
    weight: Value | None = None, density: bool = False,
) -> Pair:  # fmt: skip
    counts, low, high = _histogram(
        ops.reshape(x, (-1,)),
        bins,
        range,
        None if weight is None else ops.reshape(weight, (-1,)),
        0.5,
    )
    steps = ops.arange(0.0, float(bins + 1), 1.0, x.type.dtype) / bins
    edges = low + (high - low) * steps
    return (counts / (ops.sum(counts) * (high - low) / bins) if density else counts), edges


def _histogram(
    x: Value, bins: int, bounds: Any, weight: Value | None, around: float
) -> tuple[Value, ...]:
    """The number of elements of x [n] in each of so many equal parts, and the bounds.

    Equal bounds are moved apart, each by `around`.
    """
    low, high = (
        (ops.min(x), ops.max(x)) if bounds is None else (as_value(b, x.type.dtype) for b in bounds)
    )
    flat = ops.equal(low, high)
    low, high = ops.where(flat, low - around, low), ops.where(flat, high + around, high)
    inside = ops.logical_and(ops.greater_equal(x, low), ops.less_equal(x, high))
    place = ops.floor((ops.where(inside, x, low) - low) * bins / (high - low))
    at = ops.cast(ops.minimum(place, as_value(bins - 1, x.type.dtype)), "i64")
    more = ops.cast(inside, x.type.dtype)
    more = more if weight is None else more * weight
    return ops.scatter_add(at, more, ops.zeros((bins,), x.type.dtype), 0), low, high


@rules.on("aten.cumprod.default")
def cumprod(x: Value, dim: int, dtype: str | None = None) -> Value:
    x = ops.cast(x, dtype or (x.type.dtype if x.type.dtype in FLOATS else "i64"))
    return ops.cumprod(x, axis_of(x, dim)) if rank_of(x) else x


@rules.on("aten.logcumsumexp.default")
def logcumsumexp(x: Value, dim: int) -> Value:
    x = floating(x)
    return _running(_logaddexp, (x,), axis_of(x, dim))[0]


@rules.on("aten.cummax.default")
def cummax(x: Value, dim: int) -> Pair:
    return _extreme(x, dim, ops.greater_equal)


@rules.on("aten.cummin.default")
def cummin(x: Value, dim: int) -> Pair:
    return _extreme(x, dim, ops.less_equal)


def _extreme(x: Value, dim: int, beyond: Callable[[Value, Value], Value]) -> Pair:
    """The running extreme and its place; of equals the last, and nan, once met, stays."""
    if not rank_of(x):
        return x, ops.zeros((), "i64")
    axis = axis_of(x, dim)
    places = ops.arange(0, size_at(x, axis), 1, "i64")
    places = ops.reshape(places, [-1 if a == axis else 1 for a in range(rank_of(x))])

    def later(before: Any, now: Any) -> Any:
        wins = beyond(_number(now[0]), _number(before[0]))
        if x.type.dtype in FLOATS:
            wins = ops.logical_or(wins, ops.is_nan(now[0]))
            kept = ops.logical_and(ops.is_nan(before[0]), ops.logical_not(ops.is_nan(now[0])))
            wins = ops.logical_and(wins, ops.logical_not(kept))
        return tuple(ops.where(wins, b, a) for a, b in zip(before, now, strict=True))

    found = _running(later, (x, ops.broadcast_to(places, dims_of(x))), axis)
    return found[0], found[1]


def _running(join: Any, values: tuple[Value, ...], axis: int) -> tuple[Value, ...]:
    """Results of an associative function of tuples, up to each place of the axis."""
    width = 1
    while width < (size_at(values[0], axis) if rank_of(values[0]) else 1):
        before, now = (
            [_part(v, axis, a, b) for v in values] for a, b in ((None, -width), (width, None))
        )
        heads = [_part(v, axis, None, width) for v in values]
        joined = zip(heads, join(before, now), strict=True)
        values = tuple([ops.concat(pair, axis) for pair in joined])
        width *= 2
    return values


def _part(x: Value, axis: int, start: int | None, stop: int | None) -> Value:
    return ops.getitem(x, (slice(None),) * axis + (slice(start, stop),))


def _logaddexp(before: Any, now: Any) -> Any:
    (a,), (b,) = before, now
    most, least = ops.maximum(a, b), ops.minimum(a, b)
    same = ops.equal(most, least)  # also two infinities, whose difference is nan
    return (
        ops.where(
            same,
            most + 0.6931471805599453,
            most + ops.log1p(ops.exp(ops.where(same, 0, least - most))),
        ),
    )


def _number(x: Value) -> Value:
    return ops.cast(x, "u8") if x.type.dtype == "bool" else x
