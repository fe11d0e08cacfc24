"""Elements put to where index tensors say.

Where several go to one place, torch says that one of them wins and not which; here the last does.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

import byparts_opset as ops
from byparts_frontend_torch.aten.axes import axis_of, dims_of, rank_of
from byparts_frontend_torch.aten.indexing import joined, places
from byparts_frontend_torch.aten.reshape import diagonal, slice_
from byparts_frontend_torch.errors import UnsupportedOp
from byparts_frontend_torch.promotion import as_value
from byparts_frontend_torch.rules import rules
from byparts_graph_ir import FLOATS, Value


@rules.on("aten.scatter_add.default")
def scatter_add(x: Value, dim: int, index: Value, source: Value) -> Value:
    return x + _added(x, dim, index, _like(source, index))


@rules.on("aten.scatter.src")
def scatter(x: Value, dim: int, index: Value, source: Value) -> Value:
    return _assigned(x, dim, index, _like(source, index))


@rules.on("aten.scatter.value")
def scatter_value(x: Value, dim: int, index: Value, value: float) -> Value:
    return _assigned(x, dim, index, ops.broadcast_to(as_value(value, x.type.dtype), dims_of(index)))


@rules.on("aten.scatter_reduce.two")
def scatter_reduce(
    x: Value, dim: int, index: Value, source: Value, reduce: str, include_self: bool = True
) -> Value:
    """Sums, means and extremes; of several greatest (least) at a place the last gets the gradient.

    An extreme is an assignment in rising (falling) order, of which the last stays.
    """
    if reduce == "prod":
        raise UnsupportedOp(
            "scatter_reduce with 'prod': only sum, mean, amax and amin are imported"
        )
    source = _like(source, index)
    if reduce in ("amax", "amin"):
        at = ops.reshape(places(x, axis_of(x, dim), index), -1)
        row, least = ops.reshape(source, -1), reduce == "amin"
        is_float = row.type.dtype in FLOATS  # whose nan comes last, so it stays
        order = ops.argsort(-row if least and is_float else row, 0, least and not is_float)
        flat = ops.reshape(x, -1)
        rows = ops.gather(row, order, 0)
        y = ops.reshape(ops.scatter(flat, ops.gather(at, order, 0), rows), dims_of(x))
        better = ops.maximum if reduce == "amax" else ops.minimum
        return better(y, x) if include_self else y
    if not include_self:
        x = scatter_value(x, dim, index, 0)
    total = scatter_add(x, dim, index, source)
    if reduce == "sum":
        return total  # type: ignore[no-any-return]
    ones = ops.ones(dims_of(index), x.type.dtype)
    count = _added(x, dim, index, ones) + (1 if include_self else 0)
    count = ops.maximum(count, as_value(1, x.type.dtype))
    return total / count if x.type.dtype in FLOATS else ops.floordiv(total, count)


@rules.on("aten.index_reduce.default")
def index_reduce(
    x: Value, dim: int, index: Value, source: Value, reduce: str, include_self: bool = True
) -> Value:
    """Slices of `source` along an axis, each to the place that the 1-d index says."""
    axis, shape = axis_of(x, dim), dims_of(source)
    wide = ops.reshape(index, [-1 if a == axis else 1 for a in range(len(shape))])
    wide = ops.broadcast_to(wide, shape) if shape else ops.reshape(index, ())
    return scatter_reduce(x, dim, wide, source, reduce, include_self)  # type: ignore[no-any-return]


@rules.on("aten.masked_scatter.default")
def masked_scatter(x: Value, mask: Value, source: Value) -> Value:
    """The elements of `source`, in order, to where the mask is true."""
    shape = np.broadcast_shapes(dims_of(x), dims_of(mask))
    x, mask = ops.broadcast_to(x, shape), ops.broadcast_to(mask, shape)
    picked, mask = _in_order(ops.reshape(source, -1), ops.reshape(mask, -1))
    return ops.where(ops.reshape(mask, shape), ops.reshape(picked, shape), x)


@rules.on("aten.index_put.default", "aten._unsafe_index_put.default")
def index_put(
    x: Value, indices: Sequence[Value | None], values: Value, accumulate: bool = False
) -> Value:
    """x with `values` at the indices, or plus them."""
    values = ops.cast(values, x.type.dtype)
    if any(i is not None and i.type.dtype == "bool" for i in indices):
        return _index_put_by_mask(x, indices, values, accumulate)
    axes, rows, at = joined(x, indices)
    result = _put(rows, _as_slices(values, axes, rows, at), at, accumulate)
    return _from_front(result, x, axes)


@rules.on("aten.put.default")
def put(x: Value, index: Value, source: Value, accumulate: bool = False) -> Value:
    """By places in x as one row."""
    row = index_put(ops.reshape(x, -1), [index], source, accumulate)
    return ops.reshape(row, dims_of(x))


@rules.on("aten.diagonal_scatter.default")
def diagonal_scatter(
    x: Value, source: Value, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Value:
    places = ops.reshape(ops.arange(0, prod(dims_of(x)), 1, "i64"), dims_of(x))
    return put(x, diagonal(places, offset, dim1, dim2), source)  # type: ignore[no-any-return]


def _put(rows: Value, values: Value, at: Value, accumulate: bool) -> Value:
    """values: [*shape of at, *rows.shape[1:]]."""
    if not accumulate:
        count = prod(dims_of(at))
        values = ops.reshape(values, (count, *dims_of(rows)[1:]))
        return ops.scatter(rows, ops.reshape(at, (count,)), values, 0)
    if rows.type.dtype == "bool":  # which have no sum, and torch's is "or"
        rows, values = ops.cast(rows, "i64"), ops.cast(values, "i64")
        return ops.cast(rows + ops.scatter_add(at, values, rows, 0), "bool")
    return rows + ops.scatter_add(at, values, rows, 0)


def _from_front(rows: Value, x: Value, axes: Sequence[int]) -> Value:
    """Undo `joined`: bring its rows back to the shape of x."""
    shape = dims_of(x)
    front = [*axes, *(a for a in range(rank_of(x)) if a not in axes)]
    y = ops.reshape(rows, [shape[a] for a in front])
    return ops.transpose(y, [front.index(a) for a in range(len(front))])


def _index_put_by_mask(
    x: Value, indices: Sequence[Value | None], values: Value, accumulate: bool
) -> Value:
    """x[:, mask] = values: one for all, or as many as the mask holds, in order."""
    given = [(axis, i) for axis, i in enumerate(indices) if i is not None]
    if len(given) > 1:
        raise UnsupportedOp("a mask beside other indices: write x[mask] = values, or torch.where")
    ((first, mask),) = given
    span, shape = range(first, first + rank_of(mask)), dims_of(x)
    rest = [a for a in range(rank_of(x)) if a not in span]
    front = ops.transpose(x, [*span, *rest])
    rows = ops.reshape(front, (prod(dims_of(mask)), *(shape[a] for a in rest)))
    rank = 1 + len(rest)
    values = ops.expand_dims(values, range(rank - rank_of(values)))
    values = ops.transpose(values, [first, *(a for a in range(rank) if a != first)])
    mask = ops.reshape(mask, -1)
    if dims_of(values)[0] != 1:
        values, mask = _in_order(values, mask, whole=True)
    changed = rows + values if accumulate else values
    chosen = ops.where(ops.expand_dims(mask, range(1, rank)), changed, rows)
    return _from_front(chosen, x, span)


def _in_order(source: Value, mask: Value, whole: bool = False) -> tuple[Value, Value]:
    """The next slice of `source` for each place where mask [n] is true; and the mask.

    A mask that holds more than there are slices is an index out of range when the program runs;
    for `whole`, so is one that holds fewer.
    """
    count, n = dims_of(source)[0], dims_of(mask)[0]
    if count == 0:
        return ops.zeros((n, *dims_of(source)[1:]), source.type.dtype), ops.zeros((n,), "bool")
    ones = ops.cast(mask, "i64")
    place = ops.where(mask, ops.cumsum(ones, 0, exclusive=True), 0)
    if whole:
        place = place + ops.cast(ops.not_equal(ops.sum(ones), count), "i64") * count
    return ops.gather(source, place, 0), mask


def _as_slices(values: Value, axes: Sequence[int], rows: Value, at: Value) -> Value:
    """Reshape values to those that `index` gives for x, with the axes of the index in front."""
    new, rest = dims_of(at), dims_of(rows)[1:]
    together = list(axes) == list(range(axes[0], axes[-1] + 1))
    before = axes[0] if together else 0
    values = ops.broadcast_to(values, (*rest[:before], *new, *rest[before:]))
    span = range(before, before + len(new))
    return ops.transpose(values, [*span, *(a for a in range(rank_of(values)) if a not in span)])


def _added(x: Value, dim: int, index: Value, source: Value) -> Value:
    """Zeros in the shape of x, plus each element of `source` at its place."""
    at = ops.reshape(places(x, axis_of(x, dim), index), -1)
    flat = ops.scatter_add(at, ops.reshape(source, -1), ops.reshape(x, -1), 0)
    return ops.reshape(flat, dims_of(x))


def _assigned(x: Value, dim: int, index: Value, source: Value) -> Value:
    """x with each element of `source` at its place."""
    at = ops.reshape(places(x, axis_of(x, dim), index), -1)
    flat = ops.scatter(ops.reshape(x, -1), at, ops.reshape(source, -1))
    return ops.reshape(flat, dims_of(x))


def _like(source: Value, index: Value) -> Value:
    """The beginning of the source, in the shape of the index."""
    if 0 in dims_of(index):  # which may have any rank
        return ops.zeros(dims_of(index), source.type.dtype)
    if rank_of(source) != rank_of(index):  # one of the two is 0-d, the other has one element
        return ops.reshape(source, dims_of(index))
    for axis, size in enumerate(dims_of(index)):
        source = slice_(source, axis, 0, size)
    return source
