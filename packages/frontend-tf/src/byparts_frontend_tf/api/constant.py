"""Constants, and tensors of one number repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.graph.convert import (
    TensorLike,
    constant_of,
    convert_to_tensor,
    shape_tensor,
)
from byparts_frontend_tf.graph.infer import like_first, named_by
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_dims, static_number, static_value
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.arrays import as_array, filled
from byparts_tf_files.dtypes import DType, as_dtype, float32, string
from byparts_tf_files.shape import Dims, TensorShape, as_dims, is_static, shown


@symbol("constant")
def constant(
    value: Any,
    dtype: Any = None,
    shape: Any = None,
    name: str = "Const",
    verify_shape: bool = False,
) -> Tensor:
    """A constant.

    Args:
        value: numbers, strings, nested lists of them, an array.
        dtype: by default that of the value: float32, int32, or of the array.
        shape: fills it up with the last element, if there are fewer; without elements the value
            is not looked at, and is of float32 by default.
        name: of the operation.
        verify_shape: refuse a value of another shape.

    Raises:
        TypeError: the value is of another kind than the dtype.
        ValueError: it has too many elements for the shape, or is None.
    """
    if isinstance(value, Tensor):
        raise TypeError(f"List of Tensors when single Tensor expected: {value}")
    if shape is not None and not isinstance(value, np.ndarray) and 0 in (as_dims(shape) or ()):
        value = np.empty(TensorShape(shape).as_list(), np.float32)  # as TensorFlow: any value fits
    array = as_array(value, None if dtype is None else as_dtype(dtype).base_dtype)
    if shape is not None:
        array = _in_shape(array, as_dims(shape), verify_shape)
    return constant_of(array, name)


def _in_shape(array: Any, dims: Dims, verify: bool) -> Any:
    if dims is None or None in dims:
        error = ValueError if dims is None else TypeError
        raise error(f"constant: the shape {shown(dims)} is not fully known; try tf.fill")
    if array.shape == dims:
        return array
    if verify:
        raise TypeError(f"Expected Tensor's shape: {dims}, got {array.shape}.")
    count = int(np.prod(dims))  # type: ignore[arg-type]  # no None
    if array.size > count:
        raise ValueError(
            f"Too many elements provided. Needed at most {count}, but received {array.size}"
        )
    if array.size == 0 and count:
        raise ValueError("constant: there is no element to fill the shape with")
    flat = array.reshape(-1)
    if array.size < count:
        flat = np.concatenate([flat, np.repeat(flat[-1:], count - array.size)])
    return flat.reshape(dims)


def _fill_shape(shape: Any, value: Any) -> Value:
    return ops.broadcast_to(value, [int(d) for d in shape]) if len(shape) else ops.identity(value)


FILL = Kind(
    "Fill",
    _fill_shape,
    host=np.full,
    values=(0,),
    shape=named_by(0),
    dtype=lambda inputs: inputs[1].dtype.base_dtype,
)


@symbol("fill")
def fill(dims: TensorLike, value: TensorLike, name: Optional[str] = None) -> Tensor:
    """A tensor of shape `dims` with one number everywhere.

    Raises:
        ValueError: it is no single number.
    """
    number = convert_to_tensor(value, name="value")
    if number.dims:
        raise ValueError(f"Shape must be rank 0 but is rank {len(number.dims)} for 'Fill'")
    return FILL(shape_tensor(dims, "dims"), number, name=name)


def _of_one(number: Any, shape: TensorLike, dtype: Any, name: str) -> Tensor:
    """A number repeated in a shape: a constant where the shape is known."""
    dtype = as_dtype(dtype).base_dtype
    number = "" if dtype is string and number == 0 else dtype.as_numpy_dtype(number)
    element = as_array(number, dtype)
    dims: Any = shape
    if isinstance(shape, Tensor) or hasattr(shape, "_as_tensor") or _holds_tensors(shape):
        tensor = shape_tensor(shape)
        known = static_value(tensor)
        if known is None:
            if not tensor.dims:  # one number is the extent of a row
                from byparts_frontend_tf.api.reshape import reshape  # most shapes are known

                tensor = reshape(tensor, [-1])
            made: Tensor = FILL(tensor, constant_of(element, f"{name}/Const"), name=name)
            return made
        dims = [int(d) for d in known.reshape(-1)]
    try:
        dims = as_dims(dims)
    except ValueError:
        dims = None
    if not is_static(dims):
        shape_tensor(shape)  # raises, as TensorFlow's conversion of what is no shape
        raise ValueError(f"{name}: the shape is {shape}, and sizes must be >= 0")
    return constant_of(filled(element, dims), name)


def _holds_tensors(shape: Any) -> bool:
    return isinstance(shape, (list, tuple)) and any(
        isinstance(d, Tensor) or hasattr(d, "_as_tensor") for d in shape
    )


@symbol("zeros")
def zeros(shape: TensorLike, dtype: Any = float32, name: Optional[str] = None) -> Tensor:
    """Zeros."""
    return _of_one(0, shape, dtype, name or "zeros")


@symbol("ones")
def ones(shape: TensorLike, dtype: Any = float32, name: Optional[str] = None) -> Tensor:
    """Ones."""
    return _of_one(1, shape, dtype, name or "ones")


def _like(x: Value, number: float, dtype: DType) -> Value:
    return ops.fill(dtype.as_numpy_dtype(number).item(), dtype.own, x.type.dims)


LIKE = Kind(
    "ZerosLike",
    _like,
    host=lambda x, number, dtype: np.full(
        x.shape, b"" if dtype is string else number, dtype.as_numpy_dtype
    ),
    shape=like_first,
    dtype=lambda inputs, number, dtype: dtype,
)
ONES_LIKE = Kind(
    "OnesLike",
    _like,
    host=lambda x, number, dtype: np.full(x.shape, number, dtype.as_numpy_dtype),
    shape=like_first,
    dtype=lambda inputs, number, dtype: dtype,
)


@symbol("zeros_like")
def zeros_like(
    tensor: TensorLike, dtype: Any = None, name: Optional[str] = None, optimize: bool = True
) -> Tensor:
    """Zeros in the shape of a tensor."""
    return _shaped_like(LIKE, tensor, 0, dtype, name or "zeros_like", optimize)


@symbol("ones_like")
def ones_like(
    tensor: TensorLike, dtype: Any = None, name: Optional[str] = None, optimize: bool = True
) -> Tensor:
    """Ones in the shape of a tensor."""
    return _shaped_like(ONES_LIKE, tensor, 1, dtype, name or "ones_like", optimize)


def _shaped_like(
    kind: Kind, tensor: TensorLike, number: int, dtype: Any, name: str, optimize: bool
) -> Tensor:
    x = convert_to_tensor(tensor, name="tensor")
    dtype = as_dtype(dtype or x.dtype).base_dtype  # `zeros_like(x, False)` is of old programs
    if dtype is string and number:
        raise TypeError("Expected string, got 1 of type 'int' instead.")
    if optimize and is_static(x.dims) and dtype is not string:
        return _of_one(number, x.dims, dtype, name)
    return kind(x, name=name, number=number, dtype=dtype)


@symbol("eye", "linalg.eye")
def eye(
    num_rows: TensorLike,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = float32,
    name: Optional[str] = None,
) -> Tensor:
    """Ones on the diagonal, zeros elsewhere; repeated in `batch_shape` before."""
    rows = convert_to_tensor(num_rows)
    columns = rows if num_columns is None else convert_to_tensor(num_columns)
    batch = shape_tensor([] if batch_shape is None else batch_shape)
    return _EYE(rows, columns, batch, name=name or "eye", dtype=as_dtype(dtype))


def _eye(rows: Any, columns: Any, batch: Any, dtype: DType) -> Value:
    matrix = ops.eye(int(rows), int(columns), dtype.own)
    batch = [int(d) for d in np.asarray(batch).reshape(-1)]
    return ops.broadcast_to(matrix, [*batch, int(rows), int(columns)]) if batch else matrix


def _eye_shape(inputs: Sequence[Tensor], *, dtype: DType) -> Dims:
    batch = static_dims(inputs[2])
    if batch is None:
        return None
    return (*batch, static_number(inputs[0]), static_number(inputs[1]))


_EYE = Kind(
    "Eye",
    _eye,
    values=(0, 1, 2),
    shape=_eye_shape,
    dtype=lambda inputs, dtype: dtype,
    gradient=False,
)
