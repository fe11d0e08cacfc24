"""NumPy's side of our types: dtypes by name, arrays over memory, and what a caller may feed.

An array must have exactly the type that the program expects; nothing is cast in silence.  Python
numbers and lists have no dtype, so they take the expected one, if it is of their kind: bool to
bool, int to integers that can hold it and to floats, float to floats.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import FLOATS, INTEGERS, ShapeError, Space, TensorType

Array = NDArray[Any]

_NUMPY = {
    **{"f16": "float16", "f32": "float32", "f64": "float64", "bool": "bool"},
    **{"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8"},
}
_OURS = {np.dtype(theirs): ours for ours, theirs in _NUMPY.items()}
_TAKES = {"b": {"bool"}, "i": INTEGERS | FLOATS, "u": INTEGERS | FLOATS, "f": FLOATS}


@cache
def numpy_dtype(name: str) -> np.dtype[Any]:
    """`"f32"` -> `dtype("float32")`; bf16 is that of ml_dtypes, imported when first met.

    Raises:
        ImportError: bf16, and ml_dtypes is not installed.
    """
    if name != "bf16":
        return np.dtype(_NUMPY[name])
    try:
        import ml_dtypes  # an optional extra
    except ImportError as error:
        raise ImportError("bf16 in NumPy needs ml_dtypes: pip install ml_dtypes") from error
    bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return bfloat16


def type_of(array: Array) -> TensorType:
    """The type of an array.

    Raises:
        ShapeError: its dtype is none of ours.
    """
    return _type(array.dtype, array.shape)


def as_array(value: object, expected: TensorType, what: str) -> Array:
    """The value as an array of exactly the expected, static type; `what` names it in errors.

    Raises:
        ShapeError: it is something else.
    """
    array = guess(value, expected, what)
    if array.dtype != numpy_dtype(expected.dtype):
        wanted = numpy_dtype(expected.dtype).name
        raise ShapeError(f'{_got(what, expected, array)}; convert it with .astype("{wanted}")')
    if array.shape != expected.shape:
        raise ShapeError(_got(what, expected, array))
    return array


def guess(value: object, known: TensorType, what: str) -> Array:
    """The value as an array of the known dtype; its shape is its own business."""
    if hasattr(value, "dtype"):
        array: Array = np.asarray(value)
        return array
    return _from_numbers(value, known, what)


def view(memory: Any, offset: int, kind: TensorType) -> Array:
    """The tensor of this static type at `offset` of host memory."""
    array: Array = np.ndarray(kind.dims, numpy_dtype(kind.dtype), memory, offset)
    return array


def reader(space: Space, memory: Any, offset: int, kind: TensorType) -> Callable[[], Array]:
    """A callable that gives a fresh copy of the tensor there."""
    if space.name == "host":
        return view(memory, offset, kind).copy  # bound once: a call is a C call
    return partial(_read, space, memory, offset, kind)


def writer(space: Space, memory: Any, offset: int, kind: TensorType) -> Callable[[Array], object]:
    """A callable that copies an array of exactly this type there."""
    if space.name == "host":
        return partial(view(memory, offset, kind).__setitem__, ...)
    return partial(_write, space, memory, offset)


def to_bytes(array: Array) -> bytes:
    """The elements in row-major order."""
    return np.ascontiguousarray(array).tobytes()


@lru_cache(maxsize=1024)
def _type(dtype: np.dtype[Any], shape: tuple[int, ...]) -> TensorType:
    return TensorType(_dtype_name(dtype), shape)


def _dtype_name(dtype: np.dtype[Any]) -> str:
    name = _OURS.get(dtype) or ("bf16" if dtype.name == "bfloat16" else None)
    if name is None:
        raise ShapeError(f"NumPy's {dtype} is none of our dtypes: {', '.join((*_NUMPY, 'bf16'))}")
    return name


def _from_numbers(value: object, expected: TensorType, what: str) -> Array:
    try:
        raw = np.asarray(value)
    except ValueError as error:
        raise ShapeError(f"{what}: expected {expected}, got a ragged list") from error
    unknown = raw.size == 0 and raw.dtype == np.float64  # [] says nothing of its dtype
    if not unknown and expected.dtype not in _TAKES.get(raw.dtype.kind, ()):
        raise ShapeError(f"{what}: expected {expected}, got {_kind(value, raw)}")
    array: Array = raw.astype(numpy_dtype(expected.dtype))
    if expected.dtype in INTEGERS and not np.array_equal(array, raw):
        ends = f"{raw.min()} to {raw.max()}"
        raise ShapeError(f"{what}: expected {expected}, got {ends}, which is out of range")
    return array


def _kind(value: object, raw: Array) -> str:
    kinds = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex", "U": "str"}
    name = kinds.get(raw.dtype.kind, type(value).__name__)
    if not isinstance(value, (list, tuple)):
        return f"{type(value).__name__} {value!r:.60}"
    return f"a list of {name} of shape {raw.shape}"


def _got(what: str, expected: TensorType, array: Array) -> str:
    try:
        got = str(type_of(array))
    except ShapeError:
        got = f"{array.dtype}[{','.join(map(str, array.shape))}]"
    return f"{what}: expected {expected}, got {got}"


def _read(space: Space, memory: Any, offset: int, kind: TensorType) -> Array:
    data = space.read(memory, offset, kind.size_bytes)
    flat = np.frombuffer(data, numpy_dtype(kind.dtype), prod(kind.dims)) if kind.size else ()
    return np.array(flat, numpy_dtype(kind.dtype)).reshape(kind.dims)


def _write(space: Space, memory: Any, offset: int, array: Array) -> None:
    space.write(memory, offset, to_bytes(array))
