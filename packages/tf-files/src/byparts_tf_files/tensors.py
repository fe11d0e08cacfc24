"""Arrays as `TensorProto` messages, and back: `tf.make_tensor_proto` and `tf.make_ndarray`.

Source: TensorFlow's `tensor.proto`.  Elements stand as bytes in `tensor_content`, or as numbers in
the list of their dtype, where the last one stands for all that are missing.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import FormatError
from byparts_tf_files.arrays import as_array, filled
from byparts_tf_files.dtypes import DType, as_dtype, string
from byparts_tf_files.messages.tensor import TensorProto, TensorShapeProto
from byparts_tf_files.shape import shape_proto

Array = NDArray[Any]

MAX_BYTES = 1 << 31  # of the elements of one message: protobuf's own limit
_MOST_FILLED = 1 << 20  # elements that are filled up in memory: a message of 20 bytes asks for all
_MAX_RANK = 32
_LISTS = {
    **{"float32": "float_val", "float64": "double_val", "string": "string_val"},
    **{"int64": "int64_val", "bool": "bool_val", "uint32": "uint32_val", "uint64": "uint64_val"},
    **{"complex64": "scomplex_val", "complex128": "dcomplex_val"},
    **{"float16": "half_val", "bfloat16": "half_val"},
}
_BITS = ("float16", "bfloat16")  # whose numbers are the bits of the elements


def list_of(dtype: DType) -> str:
    """The name of the list in which elements of a dtype stand."""
    return _LISTS.get(dtype.name, "int_val")


def dims_of(shape: TensorShapeProto) -> tuple[int, ...]:
    """The numbers of a shape that is known.

    Raises:
        FormatError: it is not, or no array has it.
    """
    dims = tuple([d.size for d in shape.dim])
    if shape.unknown_rank or any(d < 0 for d in dims):
        raise FormatError(f"a tensor of the shape {dims}; expected sizes of at least 0")
    if len(dims) > _MAX_RANK or prod([d or 1 for d in dims]) > 1 << 60:
        raise FormatError(f"no array has the shape {dims!r:.80}")
    return dims


def make_tensor_proto(
    values: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False
) -> TensorProto:
    """The message of an array, or of what can be made one.

    Args:
        values: numbers, texts, lists of them, or an array.
        dtype: of the elements; by default that which TensorFlow gives the values.
        shape: of the tensor; fewer values than it has are filled up with the last one.
        verify_shape: refuse values of another shape.

    Raises:
        TypeError: the values are of no dtype, or of another shape than is to be verified.
        ValueError: there are more values than the shape has.
    """
    array = as_array(values, None if dtype is None else as_dtype(dtype).base_dtype)
    kind = as_dtype(array.dtype) if dtype is None else as_dtype(dtype).base_dtype
    dims = array.shape if shape is None else tuple([int(d) for d in shape])
    if verify_shape and dims != array.shape:
        raise TypeError(f"Expected Tensor's shape: {dims}, got {array.shape}.")
    if array.size > prod(dims):
        raise ValueError(
            f"Too many elements provided. Needed at most {prod(dims)}, but received {array.size}"
        )
    made = TensorProto(dtype=kind.as_datatype_enum, tensor_shape=shape_proto(dims))
    if kind is not string and array.size == prod(dims) > 1:
        made.tensor_content = array.astype(array.dtype.newbyteorder("<")).tobytes()
    else:
        getattr(made, list_of(kind)).extend(_numbers(array, kind))
    return made


def _numbers(array: Array, dtype: DType) -> list[Any]:
    flat = np.ascontiguousarray(array).reshape(-1)
    if dtype.name in _BITS:
        flat = flat.view(np.uint16)
    if dtype.is_complex:
        flat = flat.view(dtype.real_dtype.as_numpy_dtype)
    numbers: list[Any] = flat.tolist()
    return numbers


def make_ndarray(tensor: TensorProto) -> Array:
    """The array of a message, to be written; of texts, an array of `bytes` objects.

    Raises:
        FormatError: its dtype, shape and elements do not fit together, or it is too large.
        TypeError: no array has elements of its dtype.
    """
    array = array_of(tensor)
    return array if array.flags.writeable else array.copy()


def array_of(tensor: TensorProto) -> Array:
    """Read as `make_ndarray`; a number that fills a large array is kept once, read-only."""
    try:
        dtype = as_dtype(tensor.dtype).base_dtype
    except TypeError as error:
        raise TypeError(f"Unsupported tensor type: {tensor.dtype}") from error
    if not dtype.is_numpy_compatible:
        raise TypeError(f"Unsupported tensor type: {tensor.dtype} ({dtype.name})")
    dims = dims_of(tensor.tensor_shape)
    kind = np.dtype(dtype.as_numpy_dtype)
    size_bytes = prod(dims) * kind.itemsize
    if tensor.tensor_content and dtype is not string:
        return _of_content(tensor.tensor_content, dims, kind)
    if size_bytes > MAX_BYTES:
        raise FormatError(f"a tensor of {size_bytes} bytes; expected at most {MAX_BYTES}")
    return _filled(elements_of(tensor, dtype), dims)


def _of_content(content: bytes, dims: tuple[int, ...], kind: Any) -> Array:
    if len(content) != prod(dims) * kind.itemsize:
        expected = prod(dims) * kind.itemsize
        raise FormatError(f"{len(content)} bytes of a tensor {kind} {dims}; expected {expected}")
    if kind == np.bool_ and content.translate(None, b"\0\1"):
        raise FormatError("a bool is neither 0 nor 1")
    array = np.frombuffer(content, kind.newbyteorder("<"))
    return array.astype(kind).reshape(dims)


def elements_of(tensor: TensorProto, dtype: DType) -> Array:
    """Elements in the message's list for a dtype, without a shape.

    Raises:
        FormatError: a number that is none of the dtype.
    """
    kind = np.dtype(dtype.as_numpy_dtype)
    items = getattr(tensor, list_of(dtype))
    if dtype is string:
        texts = np.empty(len(items), object)
        texts[:] = list(items)
        return texts
    if dtype.name in _BITS:
        numbers = np.array(list(items), np.int64)
        if ((numbers < 0) | (numbers > 0xFFFF)).any():
            raise FormatError(f"an element of {dtype.name} whose bits are beyond 16")
        return numbers.astype(np.uint16).view(kind)
    if dtype.is_complex:
        parts = np.array(list(items), dtype.real_dtype.as_numpy_dtype)
        return parts[: len(parts) // 2 * 2].view(kind)
    return np.array(list(items), np.int64 if list_of(dtype) == "int_val" else kind).astype(kind)


def _filled(elements: Array, dims: tuple[int, ...]) -> Array:
    """The elements in a shape; the last one stands for all that are missing."""
    count = prod(dims)
    if len(elements) > count:
        raise FormatError(f"{len(elements)} elements of a tensor of the shape {dims}")
    if count > _MOST_FILLED + len(elements):
        if len(elements) > 1:
            raise FormatError(f"{len(elements)} elements are to fill a tensor of the shape {dims}")
        empty = b"" if elements.dtype == object else 0
        one = np.full((), elements[0] if len(elements) else empty, elements.dtype)
        whole: Array = filled(one, dims)
        return whole
    made = np.zeros(count, elements.dtype)
    if elements.dtype == object:
        made[:] = b""
    made[: len(elements)] = elements
    if len(elements):
        made[len(elements) :] = elements[-1]
    return made.reshape(dims)
