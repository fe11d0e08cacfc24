"""`tf.cast`, `tf.to_float`, `tf.bitcast`: elements as another dtype."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import (
    DType,
    as_dtype,
    bfloat16,
    float32,
    float64,
    int32,
    int64,
)
from byparts_tf_files.errors import UnimplementedError
from byparts_tf_files.shape import Dims, shown


def _cast(x: Value, dtype: DType) -> Value:
    return ops.cast(x, dtype.own)


def _cast_on_host(x: Any, dtype: DType) -> Any:
    if object in (x.dtype, dtype.as_numpy_dtype):
        raise UnimplementedError(None, None, "Cast of string is not supported")
    return x.astype(dtype.as_numpy_dtype)


_CAST = Kind("Cast", _cast, host=_cast_on_host, shape=like_first, dtype=lambda inputs, dtype: dtype)


@symbol("cast", "dtypes.cast")
def cast(x: TensorLike, dtype: Any, name: Optional[str] = None) -> Any:
    """The elements as another dtype; of a SparseTensor or IndexedSlices, its values.

    Raises at run time:
        UnimplementedError: of or to strings.
    """
    dtype = as_dtype(dtype).base_dtype
    if hasattr(x, "_map_values"):
        return x._map_values(lambda values: cast(values, dtype, name))
    x = convert_to_tensor(x, name="x")
    if x.dtype.base_dtype is dtype:
        return x
    return _CAST(x, name=name or "Cast", dtype=dtype)


@symbol("to_float")
def to_float(x: TensorLike, name: str = "ToFloat") -> Any:
    """The elements as float32."""
    return cast(x, float32, name)


@symbol("to_bfloat16")
def to_bfloat16(x: TensorLike, name: str = "ToBFloat16") -> Any:
    """Cast a tensor to bfloat16."""
    return cast(x, bfloat16, name)


@symbol("to_double")
def to_double(x: TensorLike, name: str = "ToDouble") -> Any:
    """The elements as float64."""
    return cast(x, float64, name)


@symbol("to_int32")
def to_int32(x: TensorLike, name: str = "ToInt32") -> Any:
    """The elements as int32."""
    return cast(x, int32, name)


@symbol("to_int64")
def to_int64(x: TensorLike, name: str = "ToInt64") -> Any:
    """The elements as int64."""
    return cast(x, int64, name)


def _as_bits(x: Any, dtype: DType) -> Any:
    of, to = x.dtype.itemsize, np.dtype(dtype.as_numpy_dtype).itemsize
    if of < to:
        return np.asarray(x, order="C").view(dtype.as_numpy_dtype)[..., 0]
    made = np.asarray(x, order="C")[..., None].view(dtype.as_numpy_dtype)
    return made if of > to else made[..., 0]


def _bits_shape(inputs: Any, *, dtype: DType) -> Dims:
    dims, of = inputs[0].dims, inputs[0].dtype.base_dtype.size
    if dims is None or of == dtype.size:
        return dims  # type: ignore[no-any-return]  # a shape
    if of > dtype.size:
        return (*dims, of // dtype.size)
    if not dims or dims[-1] not in (None, dtype.size // of):
        raise ValueError(
            f"Cannot bitcast due to shape: {shown(dims)} does not end with {dtype.size // of}"
        )
    return tuple(dims[:-1])


_BITCAST = Kind(
    "Bitcast",
    host=_as_bits,
    shape=_bits_shape,
    dtype=lambda inputs, dtype: dtype,
    gradient=False,
)


@symbol("bitcast")
def bitcast(input: TensorLike, type: Any, name: Optional[str] = None) -> Any:
    """The same bits as another dtype; the last axis is parted, or joined, where sizes differ."""
    return _BITCAST(convert_to_tensor(input), name=name, dtype=as_dtype(type))
