"""Other shapes for the same elements, parts of a tensor, tensors put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import byparts_opset as ops
from byparts_frontend_torch.aten.axes import axis_of, dims_of, rank_of, size_at
from byparts_frontend_torch.errors import UnsupportedOp
from byparts_frontend_torch.promotion import promote
from byparts_frontend_torch.rules import rules
from byparts_frontend_torch.symbols import (
    Expression,
    Size,
    difference,
    number,
    shapes_given,
    size_value,
    target,
)
from byparts_graph_ir import Dimension, Value

_END = 2**63 - 1


@rules.on(
    *("aten.view.default", "aten.reshape.default", "aten._unsafe_view.default"),
    "aten.view_copy.default",
)
def view(x: Value, size: Sequence[Size]) -> Value:
    shape = target(list(size), "the shape of a view")
    return x if shape == x.type.shape else ops.reshape(x, shape)


@rules.on("aten.permute.default", "aten.permute_copy.default")
def permute(x: Value, dims: Sequence[int]) -> Value:
    return ops.transpose(x, [axis_of(x, d) for d in dims])


@rules.on("aten.transpose.int")
def transpose(x: Value, dim0: int, dim1: int) -> Value:
    if not rank_of(x):
        return x
    order = list(range(rank_of(x)))
    a, b = axis_of(x, dim0), axis_of(x, dim1)
    order[a], order[b] = b, a
    return ops.transpose(x, order)


@rules.on("aten.unsqueeze.default")
def unsqueeze(x: Value, dim: int) -> Value:
    return ops.expand_dims(x, dim % (rank_of(x) + 1))


@rules.on("aten.squeeze.dims", "aten.squeeze.dim")
def squeeze(x: Value, dim: int | Sequence[int]) -> Value:
    """Axes that are not of size 1 stay; one that is open is not, torch says."""
    dims = [dim] if isinstance(dim, int) else dim
    shape = x.type.shape or ()
    axes = [axis_of(x, d) for d in dims if shape and shape[axis_of(x, d)] == 1]
    return ops.squeeze(x, axes) if axes else x


@rules.on("aten.squeeze.default")
def squeeze_all(x: Value) -> Value:
    return squeeze(x, range(rank_of(x)))  # type: ignore[no-any-return]


@rules.on("aten.expand.default")
def expand(x: Value, size: Sequence[Size], implicit: bool = False) -> Value:
    shape = tuple(-1 if isinstance(s, Expression) else s for s in size)
    return x if shape == x.type.shape else ops.broadcast_to(x, shape)


@rules.on("aten.repeat.default")
def repeat(x: Value, repeats: Sequence[int]) -> Value:
    counts = [number(r, "how often to repeat") for r in repeats]
    lead = len(counts) - rank_of(x)
    return ops.tile(ops.expand_dims(x, range(lead)) if lead else x, counts)


@rules.on("aten.flip.default")
def flip(x: Value, dims: Sequence[int]) -> Value:
    return ops.reverse(x, [axis_of(x, d) for d in dims]) if dims and rank_of(x) else x


@rules.on("aten.cat.default")
def cat(tensors: Sequence[Value], dim: int = 0) -> Value:
    """Torch skips tensors of shape (0,), whatever the others are."""
    parts = [t for t in tensors if t.type.shape != (0,)] or list(tensors)
    dtype = tensors[0].type.dtype
    for t in tensors:
        dtype = promote(dtype, t.type.dtype)
    parts = [ops.cast(t, dtype) for t in parts]
    return parts[0] if len(parts) == 1 else ops.concat(parts, axis_of(parts[0], dim))


@rules.on("aten.stack.default")
def stack(tensors: Sequence[Value], dim: int = 0) -> Value:
    axis = dim % (rank_of(tensors[0]) + 1)
    return cat([ops.expand_dims(t, axis) for t in tensors], axis)  # type: ignore[no-any-return]


@rules.on("aten.split_with_sizes.default", "aten.split_with_sizes_copy.default")
def split_with_sizes(x: Value, sizes: Sequence[Size], dim: int = 0) -> tuple[Value, ...]:
    return cut(x, axis_of(x, dim), [None if isinstance(s, Expression) else s for s in sizes])


@rules.on("aten.split.Tensor")
def split(x: Value, size: Size, dim: int = 0) -> tuple[Value, ...]:
    axis = axis_of(x, dim)
    return cut(x, axis, [shape[axis] for shape in shapes_given()])


@rules.on("aten.unbind.int", "aten.unbind_copy.int")
def unbind(x: Value, dim: int = 0) -> tuple[Value, ...]:
    return ops.unstack(x, axis_of(x, dim))


@rules.on("aten.select.int")
def select(x: Value, dim: int, index: Size) -> Value:
    axis = axis_of(x, dim)
    if isinstance(index, str):
        return ops.gather(x, size_value(index), axis)
    return ops.getitem(x, ((slice(None),) * axis + (number(index, "an index"),)))


@rules.on("aten.slice.Tensor")
def slice_(
    x: Value, dim: int = 0, start: Size | None = None, end: Size | None = None, step: int = 1
) -> Value:
    axis = axis_of(x, dim)
    if isinstance(start, (str, Expression)) or _is_open_end(x, axis, end):
        return _open_slice(x, axis, start, end, step)
    part = _slice(x, axis, start, end, step)
    return x if part == slice(0, None, 1) else ops.getitem(x, ((slice(None),) * axis + (part,)))


@rules.on("aten.narrow_copy.default")
def narrow(x: Value, dim: int, start: int, length: int) -> Value:
    first = start % max(1, size_at(x, axis_of(x, dim))) if start < 0 else start
    return slice_(x, dim, first, first + length)  # type: ignore[no-any-return]


@rules.on("aten.slice_scatter.default")
def slice_scatter(
    x: Value,
    source: Value,
    dim: int = 0,
    start: Size | None = None,
    end: Size | None = None,
    step: int = 1,
) -> Value:
    """x with `source` in the place of a slice."""
    axis = axis_of(x, dim)
    part = _slice(x, axis, start, end, step)
    shape = dims_of(x)
    taken = range(shape[axis])[part]
    before = (None,) * axis
    place = ops.SliceGradient((*before, taken.start), (*before, taken.stop), (*(1,) * axis, step))
    source = ops.cast(source, x.type.dtype)
    if step > 1:
        hit = place(ops.ones(source.type.dims), x)
        return ops.where(ops.cast(hit, "bool"), place(source, x), x)
    ends = [slice_(x, axis, 0, taken.start), source, slice_(x, axis, taken.stop, None)]
    return ops.concat([p for p in ends if (p.type.shape or ())[axis] != 0] or [x], axis)


@rules.on("aten.select_scatter.default")
def select_scatter(x: Value, source: Value, dim: int, index: Size) -> Value:
    axis, at = axis_of(x, dim), number(index, "an index")
    at %= size_at(x, axis)
    row = ops.expand_dims(source, axis)
    return slice_scatter(x, row, axis, at, at + 1)  # type: ignore[no-any-return]


@rules.on("aten.diagonal.default", "aten.diagonal_copy.default")
def diagonal(x: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    """The elements of a diagonal, picked out of the two axes written as one, behind the others."""
    a, b = axis_of(x, dim1), axis_of(x, dim2)
    rows, columns = size_at(x, a), size_at(x, b)
    rest = [axis for axis in range(rank_of(x)) if axis not in (a, b)]
    shape = x.type.shape or ()
    flat = ops.transpose(x, [*rest, a, b])
    flat = view(flat, [*_sizes(shape, rest), rows * columns])
    first = offset if offset >= 0 else -offset * columns
    count = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    places = ops.arange(first, first + count * (columns + 1), columns + 1, "i64")
    return ops.gather(flat, places, len(rest))


@rules.on("aten.unfold.default")
def unfold(x: Value, dimension: int, size: int, step: int) -> Value:
    """Windows along an axis: which one in its place, and what is in it behind all others."""
    if rank_of(x) == 0:
        return ops.reshape(x, (1,)) if size else ops.zeros((0,), x.type.dtype)
    axis = axis_of(x, dimension)
    starts = range(0, size_at(x, axis) - size + 1, step)
    at = ops.constant([[start + i for i in range(size)] for start in starts], "i64")
    y, rank = ops.gather(x, at, axis), rank_of(x) + 1
    return ops.transpose(y, [*(a for a in range(rank) if a != axis + 1), axis + 1])


def _sizes(shape: Sequence[Any], axes: Sequence[int]) -> list[Size]:
    return [Expression("?") if shape[a] is None else shape[a] for a in axes]


def _slice(x: Value, axis: int, start: Size | None, end: Size | None, step: int) -> slice:
    """Python's slice; one that goes up to the size of the axis goes to the end."""
    size = (x.type.shape or ())[axis]
    beyond = isinstance(end, int) and isinstance(size, int) and end >= size
    if end in (None, _END, size) or beyond:
        end = None
    bounds = (
        None if b is None else number(b, f"a bound of a slice of {x.type}") for b in (start, end)
    )
    return slice(next(bounds) or 0, next(bounds), step)


def _is_open_end(x: Value, axis: int, end: Size | None) -> bool:
    return isinstance(end, (str, Expression)) and end != (x.type.shape or ())[axis]


def _open_slice(x: Value, axis: int, start: Any, end: Any, step: int) -> Value:
    """A slice with a bound that is a symbol: the part of x between two others.

    Torch knows its size from guards; where it begins follows from that and from its end.
    """
    size, wanted = (x.type.shape or ())[axis], shapes_given()[0][axis]
    if end is None or end == _END:
        start = difference(size, wanted)
    elif isinstance(start, int) and start < 0:
        start = difference(size, -start)
    behind = difference(size, start or 0, wanted)
    if step != 1 or not isinstance(behind, (int, str)):
        raise UnsupportedOp(f"a slice of {x.type} from {start} to {end} by {step}: fix its size")
    return cut(x, axis, [start or 0, wanted, behind])[1]


def cut(x: Value, axis: int, sizes: Sequence[Dimension]) -> tuple[Value, ...]:
    """x cut along an axis into parts of these sizes, which may be symbols.

    Raises:
        UnsupportedOp: a size, or another axis of x, is unknown.
    """
    whole = [d for d in sizes if isinstance(d, int)]
    if len(whole) == len(sizes):
        return ops.split(x, whole, axis)
    shape = x.type.shape or ()
    zero, likes = ops.fill(0, "bool"), []
    for size in sizes:
        like = [d for d in (*shape[:axis], size, *shape[axis + 1 :]) if d is not None]
        if len(like) < len(shape):
            raise UnsupportedOp(f"parts of {x.type} along axis {axis}, of sizes {list(sizes)}")
        likes.append(ops.broadcast_to(zero, like))
    return ops.SplitLike(axis, len(likes)).outputs_of(x, *likes)
