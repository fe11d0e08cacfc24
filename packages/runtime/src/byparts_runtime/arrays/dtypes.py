"""The dtypes of NumPy arrays: graph-ir's name for each, and the NumPy dtype for each name.

bf16 and i4 are those of the library ml_dtypes, imported when first met; without it their elements
are moved as untyped bytes, and only NumPy cannot compute with them.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import ARRAY_DTYPES, ITEM_BYTES, ML_DTYPES, TensorType

Array = NDArray[Any]

_BYTES = {np.dtype(f"V{ITEM_BYTES[ours]}"): ours for ours in ML_DTYPES}  # without ml_dtypes


@cache
def numpy_dtype(name: str) -> np.dtype[Any]:
    """`"f32"` -> `dtype("float32")`; bf16 and i4 are those of ml_dtypes, imported when first met.

    Raises:
        ImportError: bf16 or i4, and ml_dtypes is not installed.
    """
    if name not in ML_DTYPES:
        return np.dtype(ARRAY_DTYPES[name])
    try:
        import ml_dtypes  # an optional extra
    except ImportError as error:
        how = 'pip install ml_dtypes, or stay in torch with build(..., results="torch")'
        raise ImportError(f"{name} in NumPy needs ml_dtypes: {how}") from error
    dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, ARRAY_DTYPES[name]))
    return dtype


@cache
def carrier(name: str) -> np.dtype[Any]:
    """The dtype that holds and moves elements; bytes for bf16 and i4, where NumPy has no dtype."""
    try:
        return numpy_dtype(name)
    except ImportError:
        return np.dtype(f"V{ITEM_BYTES[name]}")


def type_of(array: Array) -> TensorType:
    """The type of an array.

    Raises:
        ShapeError: its dtype is none of ours.
    """
    return _type(array.dtype, array.shape)


@lru_cache(maxsize=1024)
def _type(dtype: np.dtype[Any], shape: tuple[int, ...]) -> TensorType:
    known: Any = _BYTES.get(dtype, dtype)
    return TensorType(known, shape)
