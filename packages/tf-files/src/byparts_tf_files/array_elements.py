"""Arrays of bytes that a file has: of numbers and texts alone, with as many elements as it says."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from byparts_graph_ir import FormatError

_MAX_RANK = 32  # NumPy 1's own limit


def elements(data: bytes, dtype: str) -> Any:
    """The numbers or texts of bytes, in an array of one axis.

    Raises:
        FormatError: there is no such dtype of numbers or texts, or there are other bytes.
    """
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = np.dtype(object)
    if kind.kind == "b" and data.translate(None, b"\0\1"):
        raise FormatError("a bool is neither 0 nor 1")
    if kind.kind not in "biufcS" or not kind.itemsize or len(data) % kind.itemsize:
        raise FormatError(f"{len(data)} bytes of {dtype}: no array of numbers or texts")
    return np.frombuffer(bytearray(data), kind)


def as_shape(flat: Any, shape: tuple[int, ...], order: Any = "C") -> Any:
    """The array of a shape.

    Raises:
        FormatError: it has another number of elements.
    """
    if len(shape) > _MAX_RANK or prod(shape) != flat.size:
        raise FormatError(f"an array of {flat.size} elements is said to be {list(shape)!r:.80}")
    return flat.reshape(shape, order=order)
