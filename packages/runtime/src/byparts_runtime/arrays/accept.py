"""Checks arrays that a caller feeds or writes to a variable: they must be of the expected type.

Nothing is cast in silence.  Python numbers and lists have no dtype, so they take the expected one,
if it is of their kind: bool to bool, int to integers that can hold it and to floats, float to
floats.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from byparts_graph_ir import (
    ARRAY_DTYPES,
    FLOATS,
    INTEGERS,
    GraphError,
    ShapeError,
    Space,
    TensorType,
)
from byparts_runtime.arrays.dtypes import Array, carrier, numpy_dtype, type_of

_TAKES = {"b": {"bool"}, "i": INTEGERS | FLOATS, "u": INTEGERS | FLOATS, "f": FLOATS}


def accepted(value: object, expected: TensorType, space: Space, what: str) -> Any:
    """The value as a `writer` of the space takes it: an array, or memory of the space itself.

    `what` names the value in errors.

    Raises:
        ShapeError: it is of another type; nothing is cast.
        GraphError: it is on another device, or not contiguous there.
    """
    own = resident(value, space, what)
    if own is None:
        return as_array(value, expected, what)
    memory, kind = own
    if kind != expected:
        hint = "" if kind.dtype == expected.dtype else f"; convert it to {expected.dtype} first"
        raise ShapeError(f"{what}: expected {expected}, got {kind}{hint}")
    return memory


def resident(value: object, space: Space, what: str) -> Optional[tuple[Any, TensorType]]:
    """Memory and type of an array that is in this space; `None` where the space cannot tell."""
    if isinstance(value, np.ndarray) or hasattr(value, "carried"):
        return None
    try:
        return space.adopt(value)
    except GraphError as error:
        raise type(error)(f"{what}: {error}") from error


def as_array(value: object, expected: TensorType, what: str) -> Array:
    """The value as an array of exactly the expected, static type; `what` names it in errors.

    Raises:
        ShapeError: the value has another dtype or shape.
        GraphError: the value is an array that is not in host memory.
    """
    array = to_array(value, expected, what)
    if array.dtype != carrier(expected.dtype):
        wanted = ARRAY_DTYPES[expected.dtype]
        how = f'.astype("{wanted}")' if hasattr(value, "astype") else f"a cast to {wanted}"
        raise ShapeError(f"{_got(what, expected, array)}; convert it with {how}")
    if array.shape != expected.shape:
        raise ShapeError(_got(what, expected, array))
    return array


def has_type(value: object, space: Space, what: str) -> bool:
    """Whether the value is an array, and so has a dtype."""
    known = hasattr(value, "dtype") or hasattr(value, "__dlpack__")
    return known or resident(value, space, what) is not None


def with_type(
    value: object, known: TensorType, space: Space, what: str
) -> tuple[object, TensorType]:
    """The value and its type; numbers and lists become arrays of the dtype of `known`."""
    own = resident(value, space, what)
    if own is not None:
        return value, own[1]
    array = to_array(value, known, what)
    return array, type_of(array)


def to_array(value: object, known: TensorType, what: str) -> Array:
    """The value as an array of its own shape; numbers get the dtype of `known`.

    Arrays of other libraries come through DLPack, without a copy.  A variable is copied, since
    the caller does not hold its lock.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        if value.__class__ is not np.ndarray and isinstance(value, np.ma.MaskedArray):
            raise ShapeError(f"{what}: a masked array, whose mask would be lost; use x.filled(0)")
        return np.asarray(value)
    if hasattr(value, "carried"):
        copied: Array = value.carried()
        return copied
    if hasattr(value, "__dlpack__"):
        from byparts_runtime.arrays.dlpack import (
            host_array,  # ctypes: only where such an array is met
        )

        return host_array(value, what)
    if hasattr(value, "dtype") or hasattr(value, "__array__"):
        array: Array = np.asarray(value)
        return array
    return _from_numbers(value, known, what)


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
