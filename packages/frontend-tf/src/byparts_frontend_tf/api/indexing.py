"""Elements by their indices: gather, one_hot, where, boolean_mask, embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import number
from byparts_frontend_tf.api.families import pair
from byparts_frontend_tf.api.shaping import reshape, shape as shape_of
from byparts_frontend_tf.api.stacking import concat
from byparts_frontend_tf.graph.composites import IndexedSlices
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import axis_of, broadcast
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_dims, static_number
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import DType, as_dtype, float32, int64
from byparts_tf_files.shape import Dims, merged, shown


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


def _one_hot(indices: Value, depth: Any, on: Value, off: Value, axis: int, dtype: DType) -> Value:
    axes = len(indices.type.dims) + 1
    columns = ops.constant(np.arange(int(depth)), indices.type.dtype)
    made = ops.select(ops.equal(ops.expand_dims(indices, -1), columns), on, off)
    at = axis_of(axis, axes)
    if at == axes - 1:
        return made
    order = [*range(axes - 1)]
    order.insert(at, axes - 1)
    return ops.transpose(made, order)


def _one_hot_on_host(indices: Any, depth: Any, on: Any, off: Any, axis: int) -> Any:
    made: Any = np.where(np.expand_dims(indices, -1) == np.arange(depth), on, off)
    return np.moveaxis(made, -1, axis)


def _one_hot_shape(inputs: Sequence[Tensor], *, axis: int, dtype: DType) -> Dims:
    dims = inputs[0].dims
    if dims is None:
        return None
    at = axis_of(axis, len(dims) + 1)
    return (*dims[:at], static_number(inputs[1]), *dims[at:])


ONE_HOT = Kind(
    "OneHot",
    _one_hot,
    host=lambda indices, depth, on, off, axis, dtype: _one_hot_on_host(
        indices, depth, on, off, axis
    ),
    values=(1,),
    shape=_one_hot_shape,
    dtype=lambda inputs, axis, dtype: dtype,
    gradient=False,
)


@symbol("one_hot")
def one_hot(
    indices: TensorLike,
    depth: TensorLike,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: Optional[str] = None,
) -> Tensor:
    """`on_value` where the place along a new axis of `depth` is the index, else `off_value`.

    Raises:
        TypeError: indices are no integers, or dtypes differ.
    """
    at = convert_to_tensor(
        indices, int64 if isinstance(indices, list) and not indices else None, name="indices"
    )
    if not at.dtype.base_dtype.is_integer:
        raise TypeError(f"Value passed to parameter 'indices' has DataType {at.dtype.name}")
    given = [v for v in (on_value, off_value) if v is not None]
    kind = None if dtype is None else as_dtype(dtype).base_dtype
    found = [convert_to_tensor(v) for v in given]
    for t in found:
        kind = kind or t.dtype.base_dtype
        if t.dtype.base_dtype is not kind:
            raise TypeError(f"dtype {kind.name} of one_hot is not that of {t}")
    kind = kind or float32
    on = convert_to_tensor(_number_of(1, kind) if on_value is None else on_value, kind)
    off = convert_to_tensor(_number_of(0, kind) if off_value is None else off_value, kind)
    place = -1 if axis is None else number(axis, "one_hot: the axis")
    size = convert_to_tensor(depth, name="depth")
    if size.dims is not None and size.dims:
        raise ValueError(f"Input must be scalar but has rank {len(size.dims)} for 'one_hot'")
    return ONE_HOT(at, size, on, off, name=name or "one_hot", axis=place, dtype=kind)


def _number_of(given: int, kind: DType) -> Any:
    return kind.as_numpy_dtype(given)


def _chosen(inputs: Sequence[Tensor]) -> Dims:
    condition, x, y = [t.dims for t in inputs]
    dims = merged(x, y)
    if dims is not None and condition is not None and len(condition) not in (0, 1, len(dims)):
        raise ValueError(f"Shapes {shown(condition)} and {shown(dims)} do not fit for 'Select'")
    if condition is not None and dims is not None and len(condition) == len(dims):
        return merged(condition, dims)
    return dims


def _choose(condition: Value, x: Value, y: Value) -> Value:
    rank = len(x.type.dims)
    if len(condition.type.dims) == 1 and rank > 1:  # rows are chosen
        condition = ops.reshape(condition, [condition.type.dims[0], *[1] * (rank - 1)])
    return ops.select(condition, x, y)


def _choose_on_host(condition: Any, x: Any, y: Any) -> Any:
    if condition.ndim == 1 and x.ndim > 1:
        condition = condition.reshape(-1, *[1] * (x.ndim - 1))
    return np.where(condition, x, y)


SELECT = Kind(
    "Select",
    _choose,
    host=_choose_on_host,
    shape=_chosen,
    dtype=lambda inputs: inputs[1].dtype.base_dtype,
)
SELECT_V2 = Kind(
    "SelectV2", ops.select, shape=broadcast, dtype=lambda inputs: inputs[1].dtype.base_dtype
)
WHERE = Kind(
    "Where",
    host=np.argwhere,
    shape=lambda inputs: (None, None if inputs[0].dims is None else len(inputs[0].dims)),
    dtype=int64,
    gradient=False,
)


@symbol("where")
def where(
    condition: TensorLike, x: Any = None, y: Any = None, name: Optional[str] = None
) -> Tensor:
    """x where the condition holds, else y; without these, the indices where it holds: [n, rank].

    Raises:
        ValueError: only one of x and y is given, or shapes do not fit.
        TypeError: dtypes differ.
    """
    if x is None and y is None:
        return WHERE(convert_to_tensor(condition), name=name or "Where")
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    test = convert_to_tensor(condition, name="condition")
    x, y, name = pair(x, y, "Select", name or "Select")
    return SELECT(test, x, y, name=name)


@symbol("where_v2", "compat.v2.where")
def where_v2(
    condition: TensorLike, x: Any = None, y: Any = None, name: Optional[str] = None
) -> Tensor:
    """As `where`, all three repeated to one shape."""
    if x is None and y is None:
        return where(condition, name=name)
    x, y, name = pair(x, y, "SelectV2", name or "SelectV2")
    return SELECT_V2(convert_to_tensor(condition), x, y, name=name)


@symbol("boolean_mask")
def boolean_mask(
    tensor: TensorLike, mask: TensorLike, name: str = "boolean_mask", axis: Any = None
) -> Tensor:
    """The elements (slices, where the mask has fewer axes) where the mask holds.

    Raises:
        ValueError: the mask has no axis, or they do not fit.
    """
    with name_scope(name, "boolean_mask", [tensor, mask]):
        x, m = convert_to_tensor(tensor), convert_to_tensor(mask)
        at = 0 if axis is None else number(axis, "boolean_mask: the axis")
        if m.dims == ():
            raise ValueError("mask cannot be scalar.")
        if m.dims is None:
            raise ValueError("Number of mask dimensions must be specified, even if some are None")
        if x.dims is not None:
            merged(x.dims[at : at + len(m.dims)], m.dims)
        flat = _flat_axes(x, at, len(m.dims))  # also for one axis: so its gradient is dense
        return gather(flat, reshape(where(reshape(m, [-1])), [-1]), axis=at)


def _flat_axes(x: Tensor, at: int, count: int) -> Tensor:
    size = shape_of(x)
    made = reshape(x, concat([size[:at], [-1], size[at + count :]], 0))
    if x.dims is not None:
        made.set_shape((*x.dims[:at], None, *x.dims[at + count :]))
    return made


def densify(slices: IndexedSlices, name: Optional[str] = None) -> Tensor:
    """The tensor that `IndexedSlices` are rows of.

    Raises:
        ValueError: its shape is not known.
    """
    if slices.dense_shape is None:
        raise ValueError(
            f"Tensor conversion requested for IndexedSlices without dense_shape: {slices}"
        )
    return SUM_ROWS(slices.values, slices.indices, slices.dense_shape, name=name or "Densify")


def _sum_rows(values: Value, indices: Value, shape: Any) -> Value:
    like = ops.fill(0, values.type.dtype, [int(d) for d in shape])
    return ops.scatter_add(indices, values, like)


SUM_ROWS = Kind("SumRows", _sum_rows, values=(2,), shape=lambda inputs: static_dims(inputs[2]))
