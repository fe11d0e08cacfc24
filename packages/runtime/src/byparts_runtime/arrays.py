"""NumPy's side of our types: dtypes by name, arrays over memory, and what a caller may feed.

An array must have exactly the type that the program expects; nothing is cast in silence.  Python
numbers and lists have no dtype, so they take the expected one, if it is of their kind: bool to
bool, int to integers that can hold it and to floats, float to floats.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, lru_cache, partial
from math import prod
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import FLOATS, INTEGERS, Backend, GraphError, ShapeError, Space, TensorType

Array = NDArray[Any]

_NUMPY = {
    **{"f16": "float16", "f32": "float32", "f64": "float64", "bool": "bool"},
    **{"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8"},
}
_OURS = {np.dtype(theirs): ours for ours, theirs in _NUMPY.items()}
_BITS = np.dtype("V2")  # stands for bf16 where ml_dtypes is not installed
_MOST_DIMENSIONS = 32  # NumPy 2 has 64
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
        how = 'pip install ml_dtypes, or stay in torch with build(..., results="torch")'
        raise ImportError(f"bf16 in NumPy needs ml_dtypes: {how}") from error
    bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return bfloat16


@cache
def carrier(name: str) -> np.dtype[Any]:
    """What holds and moves elements: as `numpy_dtype`, but for bf16 two bytes do as well."""
    try:
        return numpy_dtype(name)
    except ImportError:
        return _BITS


def type_of(array: Array) -> TensorType:
    """The type of an array.

    Raises:
        ShapeError: its dtype is none of ours.
    """
    return _type(array.dtype, array.shape)


def possible_type(dtype: str, dims: tuple[int, ...]) -> TensorType:
    """The type, of which a file says that an array has it.

    Raises:
        ShapeError: NumPy has no such array, however much memory there is.
    """
    if len(dims) > _MOST_DIMENSIONS or prod([d or 1 for d in dims]) > sys.maxsize // 8:
        raise ShapeError(f"no array has the shape {dims!r:.80}")
    return TensorType(dtype, dims)


def taken(value: object, expected: TensorType, space: Space, what: str) -> Any:
    """The value as a `writer` of the space takes it: an array, or memory that is there already.

    Raises:
        ShapeError: it is of another type; nothing is cast.
        GraphError: it is on another device, or not contiguous there.
    """
    found = adopted(value, space, what)
    if found is None:
        return as_array(value, expected, what)
    memory, kind = found
    if kind != expected:
        hint = "" if kind.dtype == expected.dtype else f"; convert it to {expected.dtype} first"
        raise ShapeError(f"{what}: expected {expected}, got {kind}{hint}")
    return memory


def adopted(value: object, space: Space, what: str) -> Optional[tuple[Any, TensorType]]:
    """Memory and type of an array that is in the space already, if the space can see that."""
    if isinstance(value, np.ndarray) or hasattr(value, "carried"):
        return None
    try:
        return space.adopt(value)
    except GraphError as error:
        raise type(error)(f"{what}: {error}") from error


def as_array(value: object, expected: TensorType, what: str) -> Array:
    """The value as an array of exactly the expected, static type; `what` names it in errors.

    Raises:
        ShapeError: it is something else.
        GraphError: it is an array that is not in host memory.
    """
    array = guess(value, expected, what)
    if array.dtype != carrier(expected.dtype):
        wanted = "bfloat16" if expected.dtype == "bf16" else numpy_dtype(expected.dtype).name
        how = f'.astype("{wanted}")' if hasattr(value, "astype") else f"a cast to {wanted}"
        raise ShapeError(f"{_got(what, expected, array)}; convert it with {how}")
    if array.shape != expected.shape:
        raise ShapeError(_got(what, expected, array))
    return array


def has_type(value: object, space: Space, what: str) -> bool:
    """Whether it is an array, and so says of which type it is."""
    known = hasattr(value, "dtype") or hasattr(value, "__dlpack__")
    return known or adopted(value, space, what) is not None


def measured(
    value: object, known: TensorType, space: Space, what: str
) -> tuple[object, TensorType]:
    """The value and its type; numbers and lists become arrays of the known dtype."""
    found = adopted(value, space, what)
    if found is not None:
        return value, found[1]
    array = guess(value, known, what)
    return array, type_of(array)


def guess(value: object, known: TensorType, what: str) -> Array:
    """The value as an array, of the known dtype if it has none; its shape is its own business.

    Arrays of others come through DLPack, without a copy.  Of a variable, it is a copy: whoever
    takes the array does not hold the variable's lock.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        if value.__class__ is not np.ndarray and isinstance(value, np.ma.MaskedArray):
            raise ShapeError(f"{what}: a masked array, whose mask would be lost; use x.filled(0)")
        return np.asarray(value)
    if hasattr(value, "carried"):
        copied: Array = value.carried()
        return copied
    if hasattr(value, "__dlpack__"):
        from byparts_runtime.foreign import host_array  # ctypes: only where such an array is met

        return host_array(value, what)
    if hasattr(value, "dtype") or hasattr(value, "__array__"):
        array: Array = np.asarray(value)
        return array
    return _from_numbers(value, known, what)


def view(memory: Any, offset: int, kind: TensorType) -> Array:
    """The tensor of this static type at `offset` of host memory."""
    array: Array = np.ndarray(kind.dims, carrier(kind.dtype), memory, offset)
    return array


def reader(space: Space, memory: Any, offset: int, kind: TensorType) -> Callable[[], Array]:
    """A callable that gives a fresh copy of the tensor there."""
    if space.name == "host":
        return view(memory, offset, kind).copy  # bound once: a call is a C call
    return partial(_read, space, memory, offset, kind)


def fetcher(
    results: Optional[Backend], space: Space, memory: Any, offset: int, kind: TensorType
) -> Callable[[], Any]:
    """A callable that gives the caller an array of its own: of that backend, else of NumPy."""
    if results is not None and results.copy is not None:
        return partial(results.copy, results.view(memory, offset, kind))
    numpy_dtype(kind.dtype)  # bf16 may be absent
    return reader(space, memory, offset, kind)


def writer(space: Space, memory: Any, offset: int, kind: TensorType) -> Callable[[Any], object]:
    """A callable that copies there what `taken` gave for this type."""
    if space.name == "host":
        return partial(view(memory, offset, kind).__setitem__, ...)
    prepared = space.writer(memory, offset, kind)
    return partial(_write, space, memory, offset) if prepared is None else prepared


def put(space: Space, memory: Any, kind: TensorType, value: Any) -> None:
    """Copy there, this once, what `taken` gave for this type."""
    if space.name != "host" and isinstance(value, np.ndarray):
        _write(space, memory, 0, value)  # a prepared writer may hold on to pinned memory
    else:
        writer(space, memory, 0, kind)(value)


def to_bytes(array: Array) -> bytes:
    """The elements in row-major order."""
    return np.ascontiguousarray(array).tobytes()


@lru_cache(maxsize=1024)
def _type(dtype: np.dtype[Any], shape: tuple[int, ...]) -> TensorType:
    return TensorType(_dtype_name(dtype), shape)


def _dtype_name(dtype: np.dtype[Any]) -> str:
    name = _OURS.get(dtype) or ("bf16" if dtype.name == "bfloat16" or dtype == _BITS else None)
    if name is None:
        raise ShapeError(f"NumPy's {dtype} is none of our dtypes: {', '.join((*_NUMPY, 'bf16'))}")
    return name


def _from_numbers(value: object, expected: TensorType, what: str) -> Array:
    try:
        raw = np.asarray(value)
    except GraphError as error:  # of a value of a graph among the numbers
        raise ShapeError(f"{what}: {error}") from error
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
    space.synchronize()
    data = space.read(memory, offset, kind.size_bytes)
    dtype = carrier(kind.dtype)
    flat = np.frombuffer(data, dtype, prod(kind.dims)) if kind.size else ()
    return np.array(flat, dtype).reshape(kind.dims)


def _write(space: Space, memory: Any, offset: int, array: Array) -> None:
    space.write(memory, offset, to_bytes(array))
