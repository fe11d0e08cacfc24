"""The dtypes of arrays in files: graph-ir's name for each, and the NumPy dtype that holds it.

bf16 is an array of `ml_dtypes.bfloat16` where that library is installed, else of two untyped bytes.
"""

from __future__ import annotations

import sys
from functools import cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import ARRAY_DTYPES, ShapeError, TensorType

Array = NDArray[Any]

_TWO_BYTES = np.dtype("V2")
_MAX_RANK = 32  # NumPy 2 has 64


@cache
def numpy_dtype(name: str) -> np.dtype[Any]:
    """The dtype of arrays that hold elements of `name`, e.g. "f32"."""
    if name != "bf16":
        return np.dtype(ARRAY_DTYPES[name])
    try:
        import ml_dtypes  # an optional extra
    except ImportError:
        return _TWO_BYTES
    bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return bfloat16


def type_of(array: Array) -> TensorType:
    """The type of an array.

    Raises:
        ShapeError: graph-ir has no such dtype.
    """
    dtype: Any = "bf16" if array.dtype == _TWO_BYTES else array.dtype
    return TensorType(dtype, array.shape)


def claimed_type(dtype: str, dims: tuple[int, ...]) -> TensorType:
    """The type that a file claims for one of its arrays.

    Raises:
        ShapeError: NumPy can make no array of that shape, however much memory there is.
    """
    if len(dims) > _MAX_RANK or prod([d or 1 for d in dims]) > sys.maxsize // 8:
        raise ShapeError(f"no array has the shape {dims!r:.80}")
    return TensorType(dtype, dims)
