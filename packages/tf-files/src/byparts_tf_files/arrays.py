"""Python's numbers, lists and strings as arrays, in the dtypes TensorFlow gives them.

Floats are float32 and integers int32 (int64 where they do not fit); NumPy's arrays keep their
dtype.  A dtype that is asked for takes Python's numbers of its own kind only, and any array.
"""

from __future__ import annotations

from math import prod
from typing import Any, Optional

import numpy as np

from byparts_tf_files.dimension import Dimension
from byparts_tf_files.dtypes import DType, as_dtype, string
from byparts_tf_files.shape import TensorShape

_MOST_FILLED = 1 << 16


def as_array(value: Any, dtype: Optional[DType] = None) -> Any:
    """`value` as an array of `dtype`, or of the dtype TensorFlow gives it.

    Raises:
        TypeError: Python values of another kind than the dtype's, or of no kind.
        ValueError: None, or lists that are no array.
    """
    if value is None:
        raise ValueError("None values not supported.")
    if isinstance(value, (np.ndarray, np.generic)):
        return _of_numpy(np.asarray(value), dtype)
    if isinstance(value, (Dimension, TensorShape)):
        value = _known(value, "int32" if dtype is None else dtype.name)
    if hasattr(value, "__array__") and not isinstance(value, (list, tuple, str, bytes)):
        return _of_numpy(np.asarray(value), dtype)
    value = _plain(value)
    if dtype is not None:
        _check_kind(value, dtype)
    return _of_python(value, dtype)


def _known(sizes: Any, dtype: str) -> Any:
    if isinstance(sizes, Dimension):
        if sizes.value is None:
            raise ValueError("Cannot convert an unknown Dimension to a Tensor: ?")
        return sizes.value
    if None in (dims := [d.value for d in sizes]):
        raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {sizes}")
    return np.array(dims, dtype)


def filled(element: Any, dims: Any) -> Any:
    """An array of one element; a large one stands in memory once, and is read-only.

    A few bytes of a file say how many there are, and initial values of weights are often zeros.
    """
    if prod(dims) <= _MOST_FILLED:
        return np.full(dims, element)
    return np.broadcast_to(element, dims)


def _plain(value: Any) -> Any:
    """Dimensions inside lists as numbers; `None`, which no list of a tensor has, if not known."""
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, range):
        return list(value)
    if isinstance(value, DType):
        return value.as_datatype_enum
    return value.value if isinstance(value, Dimension) else value


def _of_numpy(array: Any, dtype: Optional[DType]) -> Any:
    """A copy, as what the program does to its array is no longer seen by the graph."""
    if array.dtype.kind in "SU" or (array.dtype == object and dtype in (None, string)):
        array = _texts(array)
    if dtype is None:
        as_dtype(array.dtype)  # raises for what TensorFlow does not have
        return array.astype(array.dtype.newbyteorder("="))
    if array.dtype == object and dtype is not string:
        return _of_python(array.tolist(), dtype)
    if (dtype is string) != (array.dtype == object):
        raise TypeError(f"Expected {dtype.name}, got an array of dtype {array.dtype}.")
    return array.astype(dtype.as_numpy_dtype)


def _texts(array: Any) -> Any:
    """Texts as bytes."""
    flat = list(array.reshape(-1))
    wrong = [v for v in flat if not isinstance(v, (str, bytes))]
    if wrong:
        kind = type(wrong[0]).__name__
        raise TypeError(
            f"Failed to convert a NumPy array to a Tensor (Unsupported object type {kind})."
        )
    made = np.empty(array.shape, object)
    made.reshape(-1)[:] = [_bytes(s) for s in flat]
    return made


def _of_python(value: Any, dtype: Optional[DType]) -> Any:
    try:
        array = np.array(value, None if dtype is None else _numpy(dtype))
    except UnicodeDecodeError:  # bytes beside text
        array = np.array(value, object)
    except OverflowError as error:
        raise ValueError(f"{value!r:.60} does not fit: {error}") from error
    except (TypeError, ValueError) as error:
        if isinstance(value, list) and not _even(value) and not _mixed(value):
            raise ValueError(
                f"Argument must be a dense tensor: {value!r:.80} - its rows differ in length"
            ) from error
        raise TypeError(_unconvertible(value)) from error
    if array.dtype == object or array.dtype.kind in "SU":
        return _strings(value, array)
    if dtype is not None:
        return array
    if array.dtype == np.float64:
        with np.errstate(over="ignore"):
            return array.astype(np.float32)
    if array.dtype == np.int64:
        small = array.astype(np.int32)
        return small if np.array_equal(small, array) else array
    as_dtype(array.dtype)
    return array


def _numpy(dtype: DType) -> Any:
    return object if dtype is string else dtype.as_numpy_dtype


def _strings(value: Any, array: Any) -> Any:
    if array.dtype.kind in "SU":
        if not _all_text(value):
            raise TypeError(_unconvertible(value))
        array = np.array(value, object)  # NumPy's own strings lose zeros at their end
    flat = list(array.astype(object).reshape(-1))
    if not all(isinstance(s, (str, bytes)) for s in flat):
        kinds = {type(s).__name__ for s in flat}
        raise (ValueError if "list" in kinds else TypeError)(_unconvertible(value))
    made = np.empty(array.shape, object)
    made.reshape(-1)[:] = [_bytes(s) for s in flat]
    return made


def _unconvertible(value: Any) -> str:
    shown, kind = f"{value!r:.80}", type(value).__name__
    return (
        f"Failed to convert object of type {kind} to Tensor. Contents: {shown}. Consider casting "
        "elements to a supported type."
    )


def _all_text(value: Any) -> bool:
    if isinstance(value, list):
        return all(_all_text(v) for v in value)
    return isinstance(value, (str, bytes))


def _bytes(s: Any) -> bytes:
    return s.encode() if isinstance(s, str) else bytes(s)


def _even(value: Any) -> bool:
    """Whether nested lists have equal lengths."""
    if not isinstance(value, list):
        return True
    lengths = {len(v) if isinstance(v, list) else -1 for v in value}
    return len(lengths) < 2 and all(_even(v) for v in value)


def _mixed(value: Any) -> bool:
    """Whether lists and numbers stand side by side."""
    if not isinstance(value, list):
        return False
    return len({isinstance(v, list) for v in value}) > 1 or any(_mixed(v) for v in value)


def _check_kind(value: Any, dtype: DType) -> None:
    """Refuse Python's numbers of another kind than the dtype's."""
    found = _first_wrong(value, dtype)
    if found is not None:
        raise TypeError(
            f"Expected {dtype.name}, got {found[0]!r:.60} of type {type(found[0]).__name__!r} "
            "instead."
        )


def _first_wrong(value: Any, dtype: DType) -> Optional[tuple[Any]]:
    if isinstance(value, list):
        for v in value:
            found = _first_wrong(v, dtype)
            if found is not None:
                return found
        return None
    if isinstance(value, (np.ndarray, np.generic)):
        return None
    return None if isinstance(value, _allowed(dtype)) else (value,)


def _allowed(dtype: DType) -> tuple[type, ...]:
    if dtype.is_bool:
        return (bool,)
    if dtype is string:
        return (str, bytes)
    if dtype.is_integer or dtype.is_quantized:
        return (int,)
    return (int, float, complex) if dtype.is_complex else (int, float)
