"""Our dtype names in NumPy, and the rule for narrow types: compute in a wider one, convert once.

Half types are computed in f32 and rounded once at the end.  i4 is computed in i8 and wraps at the
end, which is the same as to wrap in every step: 16 divides 256.

NumPy has no bfloat16 and no int4; `ml_dtypes` brings them, and is imported when one is first met.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from byparts_graph_ir import (
    ARRAY_DTYPES,
    FLOATS,
    INTEGERS,
    ML_DTYPES,
    ShapeError,
    TensorType,
    dtype_name as name_of_any,
    integer_limits,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn, TypeAlias

    from numpy.typing import NDArray

Array: TypeAlias = "NDArray[Any]"
DType: TypeAlias = "np.dtype[Any]"

dtype_name = cache(name_of_any)  # `dtype("float32")` -> "f32"; a `ShapeError` if we have none such

NUMBERS = FLOATS | INTEGERS
BOOLS = frozenset({"bool"})
_REFUSALS = {  # what ops of these dtypes say of another one, and what to do about it
    FLOATS: ("takes floats", "cast(x, 'f32') first"),
    INTEGERS: ("takes integers", "compare first, as in x > 0"),
    NUMBERS: ("bool has no arithmetic", "use the logic ops, or cast(x, 'i32')"),
    BOOLS: ("takes bools", "compare first, as in x > 0 or ops.equal(x, 0)"),
}


def refuse(name: str, x: TensorType, takes: frozenset[str], advice: str = "") -> NoReturn:
    """Raise the ShapeError of an op `name` that takes `takes`, one of the sets here, and got x."""
    refusal, hint = _REFUSALS[takes]
    raise ShapeError(f"{name}: {refusal}, got {x}; {advice or hint}")


def require(name: str, x: TensorType, takes: frozenset[str], advice: str = "") -> TensorType:
    """Check the dtype of x, and return x.

    Raises:
        ShapeError: the dtype of x is not among `takes`.
    """
    if x.dtype not in takes:
        refuse(name, x, takes, advice)
    return x


def type_of(x: Array) -> TensorType:
    """The type of an array."""
    return TensorType(dtype_name(x.dtype), x.shape)


@cache
def numpy_dtype(name: str) -> DType:
    """`"f32"` -> `dtype("float32")`.

    Raises:
        ImportError: bf16 or i4, and ml_dtypes is not installed.
    """
    return _of_ml_dtypes(name) if name in ML_DTYPES else np.dtype(ARRAY_DTYPES[name])


def least(dtype: DType) -> float:
    """Lower bound of the numbers of a dtype: -inf of floats, 0 of bools."""
    name = dtype_name(dtype)
    return integer_limits(name)[0] if name in INTEGERS else -np.inf if name in FLOATS else 0


@cache
def is_half(dtype: DType) -> bool:
    """Whether the type is f16 or bf16."""
    return dtype == np.float16 or dtype.name == "bfloat16"


@cache
def wide_dtype(dtype: DType) -> DType:
    """The dtype in which another is computed: f32 for half types, i8 for i4, else itself."""
    if dtype.name == "int4":
        return np.dtype(np.int8)
    return np.dtype(np.float32) if is_half(dtype) else dtype


@cache
def total_dtype(dtype: DType) -> DType:
    """The dtype in which `evaluate` adds up: f64 for floats, since NumPy adds rows in turn.

    In f32 that loses what is below 2^-24 of the sum so far: of 20 million ones the last 3 million.
    """
    return np.dtype(np.float64) if dtype_name(dtype) in FLOATS else dtype


def wide(x: Array) -> Array:
    """Convert half types to f32, and i4 to i8; other arrays are returned as they are."""
    dtype = wide_dtype(x.dtype)
    return x if dtype == x.dtype else x.astype(dtype)


def narrow(x: Any, dtype: DType) -> Array:
    """Convert to an array of `dtype`: rounds or wraps what was computed from `wide` arrays."""
    y = np.asarray(x)
    if y.dtype == dtype:
        return y
    with np.errstate(all="ignore"):  # what is too large becomes infinite
        return y.astype(dtype)


def _of_ml_dtypes(name: str) -> DType:
    try:
        import ml_dtypes  # an optional extra
    except ImportError as error:
        raise ImportError(f"{name} in NumPy needs ml_dtypes: pip install ml_dtypes") from error
    dtype: DType = np.dtype(getattr(ml_dtypes, ARRAY_DTYPES[name]))
    return dtype
