"""The dtypes of NumPy arrays: graph-ir's name for each, and the NumPy dtype for each name.

bf16 is that of the library ml_dtypes, imported when first met; without it bf16 is moved as two
untyped bytes, and only NumPy cannot compute with it.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import ARRAY_DTYPES, ShapeError, TensorType

Array = NDArray[Any]

_OURS = {np.dtype(theirs): ours for ours, theirs in ARRAY_DTYPES.items() if ours != "bf16"}
_BITS = np.dtype("V2")  # stands for bf16 where ml_dtypes is not installed


@cache
def numpy_dtype(name: str) -> np.dtype[Any]:
    """`"f32"` -> `dtype("float32")`; bf16 is that of ml_dtypes, imported when first met.

    Raises:
        ImportError: bf16, and ml_dtypes is not installed.
    """
    if name != "bf16":
        return np.dtype(ARRAY_DTYPES[name])
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


@lru_cache(maxsize=1024)
def _type(dtype: np.dtype[Any], shape: tuple[int, ...]) -> TensorType:
    return TensorType(_dtype_name(dtype), shape)


def _dtype_name(dtype: np.dtype[Any]) -> str:
    name = _OURS.get(dtype) or ("bf16" if dtype.name == "bfloat16" or dtype == _BITS else None)
    if name is None:
        raise ShapeError(f"NumPy's {dtype} is none of our dtypes: {', '.join(ARRAY_DTYPES)}")
    return name
