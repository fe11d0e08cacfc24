"""Decides whether two arrays are equal within the precision of their dtype.

Integers and bools must be equal.  Floats must agree within a few units in the last place, and NaN
must meet NaN.  The tolerance is relative to a quantity that depends on the op, because a backend
may choose the order of a sum and the formula of an op that is not elementwise:

- "each": the element itself; a zero has its sign, an infinity is the same one.
- "terms": the product of the inputs' sizes at this element, for elementwise ops whose terms cancel.
- "largest": the largest element, for all other ops.  Where the result is not finite, both an
  infinity and a NaN are accepted: which of them results depends on the formula.
- "largest, exact": likewise, but an infinity and a NaN differ: reductions, and moved data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import ArgumentError, TensorType
from byparts_graph_ir.contract import checked
from byparts_opset.dtypes import wide

Array = NDArray[Any]
_ARRAYS = (np.ndarray, np.generic)

# Relative error.  One unit in the last place: 2^-10 for f16, 2^-7 for bf16.
TOLERANCE = {"f64": 1e-12, "f32": 1e-5, "f16": 2.0**-9, "bf16": 2.0**-6}

# The smallest normal number: smaller numbers have fewer digits, and a device may flush them to 0.
TINY = {"f64": 2.0**-1022, "f32": 2.0**-126, "f16": 2.0**-14, "bf16": 2.0**-126}

# A kernel may give an infinity for larger results, as e^x / 2 does; f16 is computed in f32.
NEARLY_INFINITE = {"f64": 2.0**1023, "f32": 2.0**127, "bf16": 2.0**127, "f16": 65504.0}


@dataclass(frozen=True)
class Measure:
    """The tolerance of a comparison.

    Attributes:
        relative_to: "each", "terms", "largest" or "largest, exact", as above.
        zero_sign: whether a zero must have the right sign.
        terms: for "terms": their size at each element.
    """

    relative_to: str = "largest, exact"
    zero_sign: bool = False
    terms: Array | None = None


@checked
def difference(got: Array, want: Array, t: TensorType, measure: Measure = Measure()) -> str:
    """A sentence that says how `got` differs from `want` (of type `t`), or ""."""
    if not isinstance(got, _ARRAYS) or not isinstance(want, _ARRAYS):
        kinds = f"{type(got).__name__} and {type(want).__name__}"
        raise ArgumentError(f"difference: got and want are {kinds}; give two arrays of NumPy")
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"is {got.dtype}{list(got.shape)}, and must be {want.dtype}{list(want.shape)}"
    return named(got, want, apart(got, want, t, measure))


def apart(got: Array, want: Array, t: TensorType, measure: Measure) -> Array:
    """A bool array: true where the two arrays, both of type `t`, differ."""
    if t.dtype not in TOLERANCE:
        differ: Array = got != want
        return differ
    with np.errstate(all="ignore"):
        exact, wanted = (wide(a).astype("float64") for a in (got, want))
        near = _tolerance(wanted, t, measure)
        close = np.abs(exact - wanted) <= near
        same = (exact == wanted) | (np.isnan(exact) & np.isnan(wanted))
        if measure.relative_to in ("terms", "largest"):
            same = same | (~np.isfinite(exact) & ~np.isfinite(wanted))
        top = NEARLY_INFINITE[t.dtype]
        if measure.relative_to == "each":
            close = close | ((np.abs(wanted) >= top) & (exact == np.sign(wanted) * np.inf))
        if measure.terms is not None:  # a term may overflow, or not, if it is added unrounded
            close, same = (mask | (measure.terms >= top / 2) for mask in (close, same))
    wrong: Array = np.where(np.isfinite(wanted), ~close, ~same)
    if measure.zero_sign:
        wrong = wrong | ((wanted == 0) & (exact == 0) & (np.signbit(exact) != np.signbit(wanted)))
    return wrong


def _tolerance(want: Array, t: TensorType, measure: Measure) -> Any:
    if measure.relative_to == "each":  # an intermediate number may be a few times smaller
        return np.maximum(TOLERANCE[t.dtype] * np.abs(want), 8 * TINY[t.dtype])
    if measure.relative_to == "terms" and measure.terms is not None:
        return TOLERANCE[t.dtype] * np.maximum(measure.terms, 1.0)
    usual = want[np.isfinite(want)]
    return TOLERANCE[t.dtype] * max(1.0, float(np.max(np.abs(usual), initial=0.0)))


def named(got: Array, want: Array, wrong: Array) -> str:
    """A sentence with the first index where `wrong` is true and their number; "" if none."""
    if not np.any(wrong):
        return ""
    at = tuple(int(i) for i in np.argwhere(np.atleast_1d(wrong))[0])[: got.ndim]
    return f"differs at {list(at)}: {got[at]} instead of {want[at]} ({int(np.sum(wrong))} such)"


def flushed(a: Array, t: TensorType) -> Array:
    """The array with subnormal numbers replaced by 0, as some devices do."""
    if t.dtype not in TINY:
        return a
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(wide(a).astype("float64")) < TINY[t.dtype], a * 0, a)
