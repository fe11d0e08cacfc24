"""Our dtype names in NumPy, and the rule for half types: compute in f32, round once at the end.

NumPy has no bfloat16; `ml_dtypes` brings one, and is imported only when a bf16 array is met.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from byparts_graph_ir import ShapeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

Array: TypeAlias = "NDArray[Any]"
DType: TypeAlias = "np.dtype[Any]"

_NUMPY = {
    **{"f16": "float16", "f32": "float32", "f64": "float64", "bool": "bool"},
    **{"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8"},
}
_OURS = {np.dtype(theirs): ours for ours, theirs in _NUMPY.items()}


@cache
def numpy_dtype(name: str) -> DType:
    """`"f32"` -> `dtype("float32")`.

    Raises:
        ImportError: bf16, and ml_dtypes is not installed.
    """
    return _bfloat16() if name == "bf16" else np.dtype(_NUMPY[name])


def dtype_name(dtype: DType) -> str:
    """`dtype("float32")` -> `"f32"`.

    Raises:
        ShapeError: we have no such type.
    """
    name = _OURS.get(dtype)
    if name is not None:
        return name
    if dtype.name == "bfloat16":
        return "bf16"
    raise ShapeError(f"NumPy's {dtype} is none of our dtypes: {', '.join((*_NUMPY, 'bf16'))}")


def is_half(dtype: DType) -> bool:
    """Whether the type is f16 or bf16."""
    return dtype == np.float16 or dtype.name == "bfloat16"


def wide(x: Array) -> Array:
    """In f32 if it is a half type, else as it is."""
    return x.astype(np.float32) if is_half(x.dtype) else x


def narrow(x: Any, dtype: DType) -> Array:
    """An array of this dtype: rounds back what `wide` widened, and makes arrays of 0-d scalars."""
    y = np.asarray(x)
    if y.dtype == dtype:
        return y
    with np.errstate(all="ignore"):  # what is too large becomes infinite
        return y.astype(dtype)


def _bfloat16() -> DType:
    try:
        import ml_dtypes  # an optional extra
    except ImportError as error:
        raise ImportError("bf16 in NumPy needs ml_dtypes: pip install ml_dtypes") from error
    dtype: DType = np.dtype(ml_dtypes.bfloat16)
    return dtype
