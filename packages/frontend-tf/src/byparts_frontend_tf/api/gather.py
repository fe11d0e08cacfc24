"""`tf.gather`, `tf.gather_nd`, `tf.batch_gather`: elements by their indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import number
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import axis_of
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_opset.index import check_range
from byparts_tf_files.shape import Dims, merged


def flat_index(indices: Value, dims: Sequence[int], name: str) -> Value:
    """Flat indices of places [..., depth] in an array of these dimensions.

    Each index is checked for its own axis when it runs: one too great would be in the next row.
    """
    depth = indices.type.dims[-1] if indices.type.dims else 0
    if depth > len(dims):
        raise ValueError(f"index innermost dimension length must be <= params rank; saw: {depth}")
    flat = ops.sum(indices, [-1]) if depth == 0 else ops.getitem(indices, (..., 0))
    for axis in range(depth):
        index = ops.in_range(ops.getitem(indices, (..., axis)), dims[axis], name, axis)
        flat = flat * dims[axis] + index if axis else index
    return flat


def _gather_nd(x: Value, indices: Value) -> Value:
    depth = indices.type.dims[-1]
    rest = x.type.dims[depth:]
    count = int(np.prod(x.type.dims[:depth]))
    flat = ops.reshape(x, [count, *rest])
    return ops.gather(flat, flat_index(indices, x.type.dims, "gather_nd"))


def _gathered_nd(inputs: Sequence[Tensor]) -> Dims:
    dims, at = inputs[0].dims, inputs[1].dims
    if dims is None or at is None or at[-1] is None:
        return None
    if at[-1] > len(dims):
        raise ValueError(
            f"indices.shape[-1] must be <= params.rank, but saw indices shape: {at} and params "
            f"shape: {dims}"
        )
    return (*at[:-1], *dims[at[-1] :])


def _gather_nd_on_host(x: Any, indices: Any) -> Any:
    places = np.moveaxis(np.asarray(indices), -1, 0)
    for axis, index in enumerate(places):
        check_range("gather_nd", index, x.shape[axis], axis)
    return x[tuple(places)]


GATHER_ND = Kind(
    "GatherNd",
    _gather_nd,
    host=_gather_nd_on_host,
    shape=_gathered_nd,
)


@symbol("gather_nd", "manip.gather_nd")
def gather_nd(
    params: TensorLike, indices: TensorLike, name: Optional[str] = None, batch_dims: int = 0
) -> Tensor:
    """The slices of `params` at places [..., depth]: the first `depth` axes are indexed."""
    x, at = convert_to_tensor(params), convert_to_tensor(indices, name="indices")
    if batch_dims:
        at = _with_batches(at, batch_dims)
    return GATHER_ND(x, at, name=name)


def _with_batches(indices: Tensor, count: int) -> Tensor:
    """The indices [..., depth] with those of their batches before: [..., count + depth].

    Raises:
        ValueError: the shape is not known.
    """
    dims: Any = indices.dims
    if dims is None or None in dims or not 0 < count < len(dims):
        raise ValueError(f"gather_nd: batch_dims {count} for indices of shape {indices.shape}")
    grid = np.indices(dims[:count]).astype(indices.dtype.as_numpy_dtype)
    batches = np.moveaxis(grid, 0, -1).reshape(*dims[:count], *[1] * (len(dims) - 1 - count), count)
    return concat([np.broadcast_to(batches, (*dims[:-1], count)).copy(), indices], -1)


def _gathered(inputs: Sequence[Tensor], *, axis: int) -> Dims:
    dims, indices = inputs[0].dims, inputs[1].dims
    if dims is None:
        return None
    at = axis_of(axis, len(dims))
    if not dims:
        raise ValueError("Shape must be at least rank 1 but is rank 0 for 'GatherV2'")
    return None if indices is None else (*dims[:at], *indices, *dims[at + 1 :])


GATHER = Kind(
    "GatherV2",
    lambda x, indices, axis: ops.gather(x, indices, axis),
    host=lambda x, indices, axis: ops.Gather(axis).evaluate(x, np.asarray(indices))[0],
    shape=_gathered,
)


@symbol("gather")
def gather(
    params: TensorLike,
    indices: TensorLike,
    validate_indices: Any = None,
    name: Optional[str] = None,
    axis: Any = None,
    batch_dims: int = 0,
) -> Tensor:
    """The slices of `params` along an axis at these indices."""
    x, at = convert_to_tensor(params), convert_to_tensor(indices, name="indices")
    if not at.dtype.base_dtype.is_integer:
        raise TypeError(f"Value passed to parameter 'indices' has DataType {at.dtype.name}")
    axis = number(batch_dims if axis is None else axis, "gather: the axis")
    if batch_dims < 0 and at.dims is not None:
        batch_dims += len(at.dims)
    if batch_dims:
        axis = axis_of(axis, len(x.dims)) if x.dims is not None else axis
        return _GATHER_IN_BATCH(x, at, name=name or "GatherV2", axis=axis, batch_dims=batch_dims)
    return GATHER(x, at, name=name or "GatherV2", axis=axis)


def _gather_in_batch(x: Value, indices: Value, axis: int, batch_dims: int) -> Value:
    """The batch and the gathered axis as one, with each batch's offset added to its indices."""
    b = batch_dims
    order = [*range(b), axis, *[i for i in range(b, len(x.type.dims)) if i != axis]]
    moved = ops.transpose(x, order)
    dims, count = moved.type.dims, int(np.prod(moved.type.dims[:b]))
    flat = ops.reshape(moved, [count * dims[b], *dims[b + 1 :]])
    offsets = np.arange(count).reshape(*dims[:b], *[1] * (len(indices.type.dims) - b)) * dims[b]
    at = ops.in_range(indices, dims[b], "gather", axis)
    taken = ops.gather(flat, at + ops.constant(offsets.astype(np.int64), indices.type.dtype))
    inner = len(indices.type.dims) - b
    n, between = len(taken.type.dims), axis - b
    back = [*range(b), *range(b + inner, b + inner + between), *range(b, b + inner)]
    return ops.transpose(taken, [*back, *range(b + inner + between, n)])


def _gathered_in_batch(inputs: Sequence[Tensor], *, axis: int, batch_dims: int) -> Dims:
    dims, at = inputs[0].dims, inputs[1].dims
    if dims is None or at is None:
        return None
    batch = merged(dims[:batch_dims], at[:batch_dims])
    assert batch is not None, "both are known"
    return (*batch, *dims[batch_dims:axis], *at[batch_dims:], *dims[axis + 1 :])


_GATHER_IN_BATCH = Kind("BatchGather", _gather_in_batch, shape=_gathered_in_batch)


@symbol("batch_gather")
def batch_gather(params: TensorLike, indices: TensorLike, name: Optional[str] = None) -> Tensor:
    """Gather from each batch the slices at the batch's own indices.

    Raises:
        ValueError: how many axes the indices have is not known.
    """
    at = convert_to_tensor(indices)
    if at.dims is None:
        raise ValueError("batch_gather does not allow indices with unknown shape.")
    return gather(params, at, name=name, batch_dims=len(at.dims) - 1)
