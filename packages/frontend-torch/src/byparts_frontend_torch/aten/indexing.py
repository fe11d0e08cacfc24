"""Elements picked by index tensors.

Our `gather` picks slices along one axis, and an index counts from 0.  Several indices into several
axes are one index into those axes written as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import byparts_opset as ops
from byparts_frontend_torch.aten.axes import axis_of, dims_of, rank_of
from byparts_frontend_torch.aten.reshape import view
from byparts_frontend_torch.errors import UnsupportedOp
from byparts_frontend_torch.promotion import as_value
from byparts_frontend_torch.rules import rules
from byparts_frontend_torch.symbols import Expression, Size, product
from byparts_graph_ir import Dimension, Value


@rules.on("aten.embedding.default")
def embedding(
    weight: Value,
    indices: Value,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Value:
    """Rows of a table; the one at `padding_idx` gets no gradient."""
    if scale_grad_by_freq:
        raise UnsupportedOp("an embedding with scale_grad_by_freq has a gradient of its own kind")
    rows = ops.gather(weight, indices, 0)
    if padding_idx < 0:
        return rows
    padded = ops.expand_dims(ops.equal(indices, padding_idx), -1)
    return ops.where(padded, ops.stop_gradient(rows), rows)


@rules.on("aten.index_select.default")
def index_select(x: Value, dim: int, index: Value) -> Value:
    if rank_of(x) == 0:  # torch gives the one element, once
        return ops.reshape(ops.gather(ops.reshape(x, (1,)), ops.reshape(index, (1,)), 0), ())
    index = ops.expand_dims(index, 0) if rank_of(index) == 0 else index
    return ops.gather(x, index, axis_of(x, dim))


@rules.on("aten.gather.default")
def gather(x: Value, dim: int, index: Value, sparse_grad: bool = False) -> Value:
    """y[i, j] = x[index[i, j], j] for dim 0: one index of the whole x for each element of y."""
    if not (x.type.static and index.type.static):
        return ops.take_along_axis(x, ops.cast(index, "i64"), axis_of(x, dim))
    return ops.gather(ops.reshape(x, -1), places(x, axis_of(x, dim), index), 0)


@rules.on("aten.index.Tensor", "aten._unsafe_index.Tensor")
def index(x: Value, indices: Sequence[Value | None]) -> Value:
    axes, rows, at = joined(x, indices)
    y = ops.gather(rows, at, 0)
    if axes != list(range(axes[0], axes[-1] + 1)):
        return y
    # The indexed axes stand together, and the result has its new axes in their place.
    new, before = rank_of(at), axes[0]
    order = [*range(new, new + before), *range(new), *range(new + before, rank_of(y))]
    return ops.transpose(y, order) if before else y


def joined(x: Value, indices: Sequence[Value | None]) -> tuple[list[int], Value, Value]:
    """The indexed axes; x with those axes in front and written as one; one index into that."""
    given = {axis: i for axis, i in enumerate(indices) if i is not None}
    for i in given.values():
        if i.type.dtype == "bool":
            raise UnsupportedOp(
                f"a mask {i.type} picks as many elements as it holds, which depends on data; "
                "torch.where keeps the shape"
            )
    axes = list(given)
    rest = [a for a in range(rank_of(x)) if a not in given]
    if len(axes) == 1:
        (axis,) = axes
        front = ops.transpose(x, [axis, *rest]) if axis else x
        return axes, front, _from_front(given[axis], (x.type.shape or ())[axis])
    sizes = [(x.type.shape or ())[a] for a in axes]
    shape = [Expression("?") if d is None else d for d in (product(sizes), *_dims(x, rest))]
    rows = view(ops.transpose(x, [*axes, *rest]), shape)
    at = _checked(given[axes[0]], axes[0], sizes[0])
    for a, size in zip(axes[1:], sizes[1:], strict=True):
        at = at * as_value(_known(size), "i64") + _checked(given[a], a, size)
    return axes, rows, at


def places(x: Value, axis: int, index: Value) -> Value:
    """For each element of `index`, which replaces one coordinate: where it is in x, as one row."""
    shape, wanted = dims_of(x) or (1,), dims_of(index)
    if not wanted:
        return ops.cast(index, "i64")
    if 0 in wanted:  # torch lets an empty index have any rank
        return ops.zeros(wanted, "i64")
    index = ops.in_range(ops.cast(index, "i64"), shape[axis], "gather", axis)
    place = ops.zeros((1,) * len(shape), "i64")
    for a, size in enumerate(wanted):
        step = prod(shape[a + 1 :])
        along = [1] * len(shape)
        along[a] = size
        count = ops.reshape(ops.arange(0, size * step, step, "i64"), along)
        place = place + (index * step if a == axis else count)
    return ops.broadcast_to(place, wanted)


def _from_front(index: Value, size: Dimension) -> Value:
    """Torch counts a negative index from the end."""
    index = ops.cast(index, "i64")
    return ops.where(index < 0, index + as_value(_known(size), "i64"), index)


def _checked(index: Value, axis: int, size: Dimension) -> Value:
    """Check one of several indices, which one too great would add to the index before it.

    The index into all axes is checked alone where a size is open.
    """
    index = _from_front(index, size)
    return ops.in_range(index, size, "index", axis) if isinstance(size, int) else index


def _dims(x: Value, axes: Sequence[int]) -> list[Dimension]:
    return [(x.type.shape or ())[a] for a in axes]


def _known(size: Dimension) -> Size:
    return Expression("unknown") if size is None else size
