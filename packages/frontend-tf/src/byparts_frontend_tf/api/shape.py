"""`tf.shape`, `tf.size`, `tf.rank`: the shapes of tensors, as tensors."""

from __future__ import annotations

from math import prod
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.graph.convert import (
    TensorLike,
    constant_of,
    convert_to_tensor,
)
from byparts_frontend_tf.graph.infer import scalar
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import DType, as_dtype, int32
from byparts_tf_files.shape import as_dims, is_static, merged

_of_type = lambda inputs, dtype: dtype  # noqa: E731  # the dtype rule of all measures


def _shape_of(x: Value, dtype: DType) -> Value:
    return ops.constant(np.array(x.type.dims, dtype.as_numpy_dtype))


SHAPE = Kind(
    "Shape",
    _shape_of,
    host=lambda x, dtype: np.array(x.shape, dtype.as_numpy_dtype),
    shape=lambda inputs, dtype: (None if inputs[0].dims is None else len(inputs[0].dims),),
    dtype=_of_type,
    gradient=False,
)
SIZE = Kind(
    "Size",
    lambda x, dtype: ops.constant(np.array(x.type.size, dtype.as_numpy_dtype)),
    host=lambda x, dtype: x.size,
    shape=scalar,
    dtype=_of_type,
    gradient=False,
)
RANK = Kind(
    "Rank",
    lambda x, dtype: ops.constant(np.array(len(x.type.dims), dtype.as_numpy_dtype)),
    host=lambda x, dtype: x.ndim,
    shape=scalar,
    dtype=_of_type,
    gradient=False,
)


@symbol("shape")
def shape(input: TensorLike, name: Optional[str] = None, out_type: Any = int32) -> Tensor:
    """The shape of a tensor, as a tensor: a constant where it is known."""
    return _measure(SHAPE, input, name, out_type, lambda dims: np.array(dims))


@symbol("python.ops.array_ops.shape_internal")
def shape_internal(
    input: TensorLike, name: Optional[str] = None, optimize: bool = True, out_type: Any = int32
) -> Tensor:
    """Shape as `shape` gives it: a constant where it is known, whatever `optimize` says."""
    return shape(input, name, out_type)


@symbol("size")
def size(input: TensorLike, name: Optional[str] = None, out_type: Any = int32) -> Tensor:
    """Number of elements of a tensor."""
    return _measure(SIZE, input, name, out_type, lambda dims: np.array(prod(dims)))


@symbol("rank")
def rank(input: TensorLike, name: Optional[str] = None) -> Tensor:
    """Number of axes of a tensor."""
    return _measure(RANK, input, name, int32, lambda dims: np.array(len(dims)))


def _measure(kind: Kind, input: Any, name: Optional[str], out_type: Any, known: Any) -> Tensor:
    if hasattr(input, "dense_shape") and hasattr(input, "indices"):  # a SparseTensor
        return cast(input.dense_shape, out_type)  # type: ignore[no-any-return]  # a tensor
    x, dtype = convert_to_tensor(input), as_dtype(out_type)
    if is_static(x.dims) or (kind is RANK and x.dims is not None):
        return constant_of(known(x.dims).astype(dtype.as_numpy_dtype), name or kind.type)
    return kind(x, name=name, dtype=dtype)


@symbol("shape_n")
def shape_n(input: Any, out_type: Any = int32, name: Optional[str] = None) -> list[Tensor]:
    """The shapes of tensors, as tensors."""
    with name_scope(name, "ShapeN"):
        return [shape(t, out_type=out_type) for t in input]


@symbol("ensure_shape")
def ensure_shape(x: TensorLike, shape: Any, name: Optional[str] = None) -> Tensor:
    """The tensor, whose shape is compatible with this one.

    Raises:
        ValueError: it is known not to be.
    Raises at run time:
        InvalidArgumentError: it is not.
    """
    given = convert_to_tensor(x)
    merged(given.dims, as_dims(shape))
    return ENSURE_SHAPE(given, name=name, shape=as_dims(shape))


def _ensured(x: Value, shape: Any) -> Value:
    dims = x.type.dims
    if shape is not None and (
        len(dims) != len(shape) or any(w not in (None, d) for d, w in zip(dims, shape, strict=True))
    ):
        raise ValueError(
            f"Shape of tensor {list(dims)} is not compatible with expected shape {list(shape)}."
        )
    return ops.identity(x)


ENSURE_SHAPE = Kind(
    "EnsureShape", _ensured, shape=lambda inputs, shape: merged(inputs[0].dims, shape)
)
