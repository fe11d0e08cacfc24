"""Data types and what they hold: casts, limits, questions about kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_eager.array import Array, asarray
from byparts_eager.dtype import DTYPES, DType, dtype_of, our_name
from byparts_eager.promotion import result_type
from byparts_graph_ir import FLOATS, INTEGERS, UNSIGNED, ArgumentError, Value, integer_limits
from byparts_runtime.arrays.dtypes import numpy_dtype

float16, bfloat16, float32, float64 = (DTYPES[d] for d in ("f16", "bf16", "f32", "f64"))
int8, int16, int32, int64 = (DTYPES[d] for d in ("i8", "i16", "i32", "i64"))
uint8, uint16, uint32, uint64 = (DTYPES[d] for d in ("u8", "u16", "u32", "u64"))
bool = DTYPES["bool"]  # the standard's name

_KINDS = {
    **{"bool": {"bool"}, "signed integer": INTEGERS - UNSIGNED, "unsigned integer": UNSIGNED},
    **{"integral": INTEGERS, "real floating": FLOATS, "complex floating": set()},
    "numeric": INTEGERS | FLOATS,
}


@dataclass(frozen=True)
class FloatLimits:
    """The numbers of a float dtype; `finfo` gives it."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True)
class IntegerLimits:
    """The numbers of an integer dtype; `iinfo` gives it."""

    bits: int
    max: int
    min: int
    dtype: DType


def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Optional[str] = None) -> Any:
    """`x` cast to a dtype; itself where it has that dtype, since arrays never change."""
    value = ops.cast(asarray(x), our_name(dtype))
    moves = device is not None and isinstance(value, Array)
    return value.to_device(device) if moves else value  # type: ignore[attr-defined]  # an Array


def can_cast(from_: Any, to: Any, /) -> Any:
    """Whether `from_` and `to` together promote to `to`."""
    try:
        return result_type(from_, to) == dtype_of(to)
    except TypeError:
        return False


def finfo(type: Any, /) -> FloatLimits:
    """The limits of a float dtype, or of the dtype of an array.

    Raises:
        ArgumentError: it is no float dtype.
    """
    dtype = _dtype(type)
    if dtype.ours not in FLOATS:
        raise ArgumentError(f"finfo: {dtype} is no float dtype; use iinfo")
    limits: Any = np.finfo
    if dtype.ours == "bf16":
        from ml_dtypes import finfo as limits  # NumPy has no bf16
    theirs = limits(numpy_dtype(dtype.ours))
    eps, most, least, small = (
        float(x) for x in (theirs.eps, theirs.max, theirs.min, theirs.smallest_normal)
    )
    return FloatLimits(dtype.bits, eps, most, least, small, dtype)


def iinfo(type: Any, /) -> IntegerLimits:
    """The limits of an integer dtype, or of the dtype of an array.

    Raises:
        ArgumentError: it is no integer dtype.
    """
    dtype = _dtype(type)
    if dtype.ours not in INTEGERS:
        raise ArgumentError(f"iinfo: {dtype} is no integer dtype; use finfo")
    least, greatest = integer_limits(dtype.ours)
    return IntegerLimits(dtype.bits, greatest, least, dtype)


def isdtype(dtype: Any, kind: Any) -> Any:
    """Whether a dtype is this one, or of this kind ("integral"), or one of several.

    Raises:
        ArgumentError: there is no such kind.
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if not isinstance(kind, str) or kind in DTYPES:
        return dtype_of(dtype) == dtype_of(kind)
    if kind not in _KINDS:
        raise ArgumentError(f"isdtype: there is no kind {kind!r}; kinds are {', '.join(_KINDS)}")
    return our_name(dtype) in _KINDS[kind]


def _dtype(type: Any) -> DType:
    return dtype_of(type.type.dtype if isinstance(type, Value) else type)
