"""The dtypes of arrays in files: graph-ir's name for each, and the NumPy dtype that holds it.

bf16 and i4 are arrays of `ml_dtypes.bfloat16` and `ml_dtypes.int4` where that library is installed,
else of untyped bytes.
"""

from __future__ import annotations

import sys
from functools import cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import ARRAY_DTYPES, ITEM_BYTES, ML_DTYPES, ShapeError, TensorType

Array = NDArray[Any]

_UNTYPED = {np.dtype(f"V{ITEM_BYTES[name]}"): name for name in ML_DTYPES}
_MAX_RANK = 32  # NumPy 2 has 64


@cache
def numpy_dtype(name: str) -> np.dtype[Any]:
    """The dtype of arrays that hold elements of `name`, e.g. "f32"."""
    if name not in ML_DTYPES:
        return np.dtype(ARRAY_DTYPES[name])
    try:
        import ml_dtypes  # an optional extra
    except ImportError:
        return np.dtype(f"V{ITEM_BYTES[name]}")
    dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, ARRAY_DTYPES[name]))
    return dtype


def type_of(array: Array) -> TensorType:
    """The type of an array.

    Raises:
        ShapeError: graph-ir has no such dtype.
    """
    dtype: Any = _UNTYPED.get(array.dtype, array.dtype)
    return TensorType(dtype, array.shape)


def claimed_type(dtype: str, dims: tuple[int, ...]) -> TensorType:
    """The type that a file claims for one of its arrays.

    Raises:
        ShapeError: NumPy can make no array of that shape, however much memory there is.
    """
    if len(dims) > _MAX_RANK or prod([d or 1 for d in dims]) > sys.maxsize // 8:
        raise ShapeError(f"no array has the shape {dims!r:.80}")
    return TensorType(dtype, dims)
