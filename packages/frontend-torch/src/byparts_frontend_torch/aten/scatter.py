"""Elements put to where index tensors say.

Where two go to one place, torch says that one of them wins and not which; here they are added.
"""

from __future__ import annotations

from collections.abc import Sequence

import byparts_opset as ops
from byparts_frontend_torch.aten.axes import axis_of, dims_of, rank_of
from byparts_frontend_torch.aten.indexing import joined, places
from byparts_frontend_torch.aten.reshape import slice_
from byparts_frontend_torch.errors import UnsupportedOp
from byparts_frontend_torch.promotion import as_value
from byparts_frontend_torch.rules import rules
from byparts_graph_ir import Value


@rules.on("aten.scatter_add.default")
def scatter_add(x: Value, dim: int, index: Value, source: Value) -> Value:
    return x + _added(x, dim, index, _like(source, index))


@rules.on("aten.scatter.src")
def scatter(x: Value, dim: int, index: Value, source: Value) -> Value:
    source = _like(ops.cast(source, x.type.dtype), index)
    return ops.where(_hit(x, dim, index), _added(x, dim, index, source), x)


@rules.on("aten.scatter.value")
def scatter_value(x: Value, dim: int, index: Value, value: float) -> Value:
    return ops.where(_hit(x, dim, index), as_value(value, x.type.dtype), x)


@rules.on("aten.scatter_reduce.two")
def scatter_reduce(
    x: Value, dim: int, index: Value, source: Value, reduce: str, include_self: bool = True
) -> Value:
    if reduce != "sum":
        raise UnsupportedOp(f"scatter_reduce with {reduce!r}: only 'sum' is imported")
    added = _added(x, dim, index, _like(source, index))
    if include_self:
        return x + added
    return ops.where(_hit(x, dim, index), added, x)


@rules.on("aten.index_put.default", "aten._unsafe_index_put.default")
def index_put(
    x: Value, indices: Sequence[Value | None], values: Value, accumulate: bool = False
) -> Value:
    """x with `values` at the indices; a mask chooses, if it is given one value."""
    first = indices[0]
    if len(indices) == 1 and first is not None and first.type.dtype == "bool":
        if values.type.shape not in ((), (1,)) or accumulate:
            raise UnsupportedOp(f"a mask {first.type} takes one value here, got {values.type}")
        behind = tuple(range(rank_of(first), rank_of(x)))
        mask = ops.expand_dims(first, behind) if behind else first
        return ops.where(mask, ops.reshape(ops.cast(values, x.type.dtype), ()), x)
    if x.type.dtype == "bool":  # which have no sum
        numbers = index_put(ops.cast(x, "u8"), indices, ops.cast(values, "u8"), accumulate)
        return ops.cast(numbers, "bool")
    axes, rows, at = joined(x, indices)
    front = [*axes, *(a for a in range(rank_of(x)) if a not in axes)]
    values = _as_slices(ops.cast(values, x.type.dtype), axes, rows, at)
    added = ops.scatter_add(at, values, rows, 0)
    if not accumulate:
        hits = ops.scatter_add(at, ops.ones(dims_of(values)), rows, 0)
        added = ops.where(hits > 0, added, rows)
    shape = dims_of(x)
    added = ops.reshape(added, [shape[a] for a in front])
    added = ops.transpose(added, [front.index(a) for a in range(len(front))])
    return x + added if accumulate else added


def _as_slices(values: Value, axes: Sequence[int], rows: Value, at: Value) -> Value:
    """What `index` gives for x, with the axes of the index in front."""
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


def _hit(x: Value, dim: int, index: Value) -> Value:
    """Whether something goes to this place of x."""
    return _added(x, dim, index, ops.ones(dims_of(index))) > 0


def _like(source: Value, index: Value) -> Value:
    """As much of the source as there is index."""
    for axis, size in enumerate(dims_of(index)):
        source = slice_(source, axis, 0, size)
    return source
