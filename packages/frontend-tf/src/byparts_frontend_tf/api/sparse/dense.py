"""Sparse tensors: made, fed, and made dense; `reshape.py` and `math.py` have the rest.

Places are computed in the graph where their number is known; what decides how many elements are
left runs on the host.  Values are gathered and summed in the graph, so gradients pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.constant import zeros_like
from byparts_frontend_tf.api.gather import gather_nd
from byparts_frontend_tf.api.math.binary import not_equal
from byparts_frontend_tf.api.placeholder import placeholder
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.composites import SparseTensor
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import named_by
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import bool_, int64


def sparse(given: Any) -> SparseTensor:
    """A SparseTensor, or a value of one.

    Raises:
        TypeError: it is neither.
    """
    if not all(hasattr(given, part) for part in ("indices", "values", "dense_shape")):
        raise TypeError(f"Input must be a SparseTensor, and is {given!r}")
    return SparseTensor.from_value(given)


def is_sparse(given: Any) -> bool:
    """Whether `given` is a SparseTensor, or a value of one."""
    return hasattr(given, "dense_shape") and hasattr(given, "indices")


@symbol("sparse_placeholder", "sparse.placeholder")
def sparse_placeholder(dtype: Any, shape: Any = None, name: Optional[str] = None) -> SparseTensor:
    """A SparseTensor that each run is fed; its shape, too, unless all of it is known."""
    rank = None
    if isinstance(shape, Tensor):
        rank = None if shape.dims is None else shape.dims[0]
    elif shape is not None:
        dims = [getattr(d, "value", d) for d in shape]
        rank, shape = len(dims), None if None in dims else np.array(dims, np.int64)
    at, values, size = [name and f"{name}/{part}" for part in ("indices", "values", "shape")]
    dense_shape = (
        placeholder(int64, [rank], size) if shape is None else convert_to_tensor(shape, int64, size)
    )
    found = placeholder(dtype, [None], values)
    return SparseTensor(placeholder(int64, [None, rank], at), found, dense_shape)


def flat_places(indices: Value, dims: Sequence[int]) -> Value:
    """Flat index of each place [n, rank] in an array of these dimensions; -1 for one outside."""
    indices = ops.cast(indices, "i64")
    steps = [int(np.prod(dims[i + 1 :])) for i in range(len(dims))]
    flat = ops.sum(indices * ops.constant(np.array(steps, np.int64)), [1])
    sizes = ops.constant(np.array(dims, np.int64))
    inside = ops.all(ops.logical_and(indices >= 0, indices < sizes), [1])
    return ops.select(inside, flat, ops.fill(-1, "i64"))


def numbers_of(array: Any) -> list[int]:
    """A shape that is known, as a list."""
    return [int(d) for d in np.asarray(array).reshape(-1)]


def _dense(indices: Value, shape: Any, values: Value, default: Value) -> Value:
    dims = numbers_of(shape)
    rows = 1 if len(indices.type.dims) == 0 else indices.type.dims[0]
    at = ops.reshape(indices, [rows, len(dims)])
    whole = ops.broadcast_to(default, [int(np.prod(dims))])
    spread = ops.broadcast_to(values, [rows])
    return ops.reshape(ops.scatter(whole, flat_places(at, dims), spread), dims)


def _dense_on_host(indices: Any, shape: Any, values: Any, default: Any) -> Any:
    made = np.full(numbers_of(shape), default, values.dtype)
    made[tuple(np.reshape(indices, (-1, made.ndim)).T)] = values
    return made


TO_DENSE = Kind(
    "SparseToDense",
    _dense,
    host=_dense_on_host,
    values=(1,),
    shape=named_by(1),
    dtype=lambda inputs: inputs[2].dtype.base_dtype,
)


@symbol("sparse_to_dense")
def sparse_to_dense(
    sparse_indices: TensorLike,
    output_shape: TensorLike,
    sparse_values: TensorLike,
    default_value: Any = 0,
    validate_indices: bool = True,
    name: Optional[str] = None,
) -> Tensor:
    """A tensor with these values at these places, and `default_value` elsewhere.

    Raises at run time:
        InvalidArgumentError: a place is outside.
    """
    values = convert_to_tensor(sparse_values, name="values")
    if default_value.__class__ is int and default_value == 0:
        default_value = values.dtype.base_dtype.as_numpy_dtype(0) if values.dtype.own else ""
    default = convert_to_tensor(default_value, values.dtype.base_dtype, "default_value")
    at = convert_to_tensor(sparse_indices, name="indices")
    size = convert_to_tensor(output_shape, name="output_shape")
    return TO_DENSE(at, size, values, default, name=name)


@symbol("sparse_tensor_to_dense", "sparse.to_dense")
def sparse_tensor_to_dense(
    sp_input: Any,
    default_value: Any = None,
    validate_indices: bool = True,
    name: Optional[str] = None,
) -> Tensor:
    """The tensor that a SparseTensor is, `default_value` (0, "") where it has no value."""
    sp = sparse(sp_input)
    default = 0 if default_value is None else default_value
    return sparse_to_dense(
        sp.indices, sp.dense_shape, sp.values, default, validate_indices, name or "SparseToDense"
    )


@symbol("sparse.from_dense", "contrib.layers.dense_to_sparse")
def from_dense(tensor: TensorLike, name: Optional[str] = None) -> SparseTensor:
    """The elements of a tensor that are not zero (not empty)."""
    with name_scope(name, "dense_to_sparse"):
        x = convert_to_tensor(tensor)
        at = where(x if x.dtype.base_dtype is bool_ else not_equal(x, zeros_like(x)))
        return SparseTensor(at, gather_nd(x, at), shape_of(x, out_type=int64))
