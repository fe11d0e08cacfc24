"""Operations of expressions on NumPy's numbers: what the interpreter computes with.

Each rounds once, to its own dtype; integers wrap.
"""

from __future__ import annotations

from fractions import Fraction
from math import erf, erfc, prod
from typing import Any

import numpy as np

from byparts_tensor_ir.expression import FLOATS, INDEX, Expr
from byparts_tensor_ir.functions import FUNCTIONS


class _NumpyTypes(dict[str, Any]):
    """dtype -> NumPy's type of it; bf16, of `ml_dtypes`, once it is asked for."""

    def __missing__(self, dtype: str) -> Any:
        if dtype != "bf16":
            raise KeyError(dtype)
        from ml_dtypes import bfloat16  # an optional extra

        self[dtype] = bfloat16
        return bfloat16


NUMPY = _NumpyTypes({"bool": np.bool_, "f16": np.float16, "f32": np.float32, "f64": np.float64})
NUMPY |= {
    f"{c}{b}": np.dtype(f"{n}{b}").type
    for c, n in (("i", "int"), ("u", "uint"))
    for b in (8, 16, 32, 64)
}
NUMPY[INDEX] = np.int64


def tf32(x: Any) -> Any:
    """An f32 with 10 bits of mantissa, ties away from zero."""
    bits = np.float32(x).view(np.uint32)
    return (
        x if np.isnan(x) else ((bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)
    )


def wrapped(number: int) -> Any:
    """An integer modulo 2^64."""
    return np.array(number & ((1 << 64) - 1), np.uint64).astype(np.int64)[()]


def _cast(e: Expr, x: Any) -> Any:
    if e.dtype in FLOATS or e.dtype == "bool" or e.args[0].dtype not in FLOATS:
        return np.asarray(x).astype(NUMPY[e.dtype])[()]
    return np.asarray(np.trunc(x)).astype(np.int64).astype(NUMPY[e.dtype])[()]


def _wide(x: Any) -> Any:
    """A half as f32: of two zeros NumPy takes another one then."""
    return np.float32(x) if x.dtype.kind in "fV" and x.dtype.itemsize == 2 else x


def _fma(e: Expr, a: Any, b: Any, c: Any) -> Any:
    """Rounded once: exact in rationals."""
    if not (np.isfinite(a) and np.isfinite(b) and np.isfinite(c)):
        return a * b + c
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if not exact:
        return a * b + c  # for the sign of zero
    return _rounded(exact, NUMPY[e.dtype])


def _rounded(exact: Fraction, kind: Any) -> Any:
    """The nearest number of this kind, ties to even: of the two around a first guess."""
    try:
        guess = kind(float(exact))
    except OverflowError:
        return kind(np.inf if exact > 0 else -np.inf)
    if not np.isfinite(guess):
        return guess
    near = [guess, np.nextafter(guess, kind(np.inf)), np.nextafter(guess, kind(-np.inf))]
    bits = {4: np.int32, 8: np.int64}[guess.itemsize]
    finite = [x for x in near if np.isfinite(x)]
    return min(finite, key=lambda x: (abs(Fraction(float(x)) - exact), int(x.view(bits)) & 1))


def _function(name: str) -> Any:
    """A function of NumPy, computed in f64 and rounded to the dtype."""
    plain = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh"}
    plain |= {"acosh": "arccosh", "atanh": "arctanh", "pow": "power", "atan2": "arctan2"}
    function = getattr(np, plain.get(name, name), None) or _OTHERS[name]
    return lambda e, *args: function(*[np.float64(a) for a in args])


_OTHERS: dict[str, Any] = {
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softplus": lambda x: np.logaddexp(x, 0),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "erf": erf,
    "erfc": erfc,
}

OPERATIONS: dict[str, Any] = {
    "mul": lambda e, *args: (
        wrapped(prod(map(int, args))) if e.dtype == INDEX else args[0] * args[1]
    ),
    "add": lambda e, a, b: a + b,
    "sub": lambda e, a, b: a - b,
    "div": lambda e, a, b: a / b,
    "floordiv": lambda e, a, b: a // b,
    "mod": lambda e, a, b: a % b,
    "min": lambda e, a, b: np.minimum(_wide(a), _wide(b)),
    "max": lambda e, a, b: np.maximum(_wide(a), _wide(b)),
    "xor": lambda e, a, b: a ^ b,
    "shl": lambda e, a, b: a << b,
    "shr": lambda e, a, b: a >> b,
    "lt": lambda e, a, b: a < b,
    "le": lambda e, a, b: a <= b,
    "eq": lambda e, a, b: a == b,
    "ne": lambda e, a, b: a != b,
    "not": lambda e, a: not a,
    "neg": lambda e, a: -a,
    "abs": lambda e, a: np.abs(a),
    "fma": _fma,
    "cast": _cast,
    "bitcast": lambda e, a: a.view(NUMPY[e.dtype]),
}
OPERATIONS |= {
    name: (lambda f: lambda e, a: f(a))(getattr(np, name))
    for name in ("sqrt", "floor", "ceil", "rint", "trunc")
}
OPERATIONS |= {name: _function(name) for name in FUNCTIONS}
