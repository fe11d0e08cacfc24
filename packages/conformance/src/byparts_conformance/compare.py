"""Whether two arrays are the same answer.

Integers and bools: exactly.  Floats: within a few units of the last place that the dtype has,
relative to the largest element, because the order of a sum is a backend's own business; infinities
and NaNs in the same places.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import TensorType
from byparts_opset.dtypes import wide

Array = NDArray[Any]

# Relative to max(1, largest element).  One unit in the last place: 2^-10 for f16, 2^-7 for bf16.
TOLERANCE = {"f64": 1e-12, "f32": 1e-5, "f16": 2.0**-9, "bf16": 2.0**-6}


def difference(got: Array, want: Array, t: TensorType) -> str:
    """What is wrong with `got`, or "" if nothing is."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"is {got.dtype}{list(got.shape)}, and must be {want.dtype}{list(want.shape)}"
    if t.dtype not in TOLERANCE:
        wrong = got != want
    else:
        wrong = _apart(
            wide(got).astype("float64"), wide(want).astype("float64"), TOLERANCE[t.dtype]
        )
    if not np.any(wrong):
        return ""
    at = tuple(int(i) for i in np.argwhere(np.atleast_1d(wrong))[0])[: got.ndim]
    return f"differs at {list(at)}: {got[at]} instead of {want[at]} ({int(np.sum(wrong))} such)"


def _apart(got: Array, want: Array, tolerance: float) -> Array:
    usual = np.isfinite(want)
    scale = max(1.0, float(np.max(np.abs(want[usual]), initial=0.0)))
    with np.errstate(invalid="ignore"):
        near = np.abs(got - want) <= tolerance * scale
        same = (got == want) | (np.isnan(got) & np.isnan(want))
    wrong: Array = np.where(usual, ~near, ~same)
    return wrong
