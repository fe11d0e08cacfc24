"""`tf.one_hot`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import number
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import axis_of
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_number
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import DType, as_dtype, float32, int64
from byparts_tf_files.shape import Dims


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
