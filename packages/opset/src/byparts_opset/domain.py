"""The nearest inputs on which an op is defined: what `Op.domain` is written with.

Only the conformance kit asks: it draws values without knowing the op.
"""

from __future__ import annotations

import numpy as np

from byparts_graph_ir import integer_limits
from byparts_opset.dtypes import Array, dtype_name, wide


def index_into(size: int, indices: Array) -> Array:
    """Each index modulo the size of the axis that it picks from, as far as its dtype counts."""
    count = min(size, integer_limits(dtype_name(indices.dtype))[1] + 1)
    return (indices.astype("int64") % count).astype(indices.dtype) if count else indices


def finite(x: Array) -> Array:
    """0 for infinities and NaN."""
    exact = wide(x).dtype.kind in "iub"
    return x if exact else np.where(np.isfinite(wide(x)), x, np.zeros_like(x))


def moderate(x: Array) -> Array:
    """Finite numbers whose products and their sums do not overflow in f32."""
    return between(-1e4, 1e4, finite(x))


def large(x: Array) -> Array:
    """Numbers whose reciprocals are normal, and infinities."""
    most = float(np.finfo(wide(x).dtype).max) ** 0.9
    return np.where(np.isinf(wide(x)), x, between(-most, most, x))


def between(low: float, high: float, x: Array) -> Array:
    """The nearest number in [low, high]; NaN stays."""
    return np.clip(wide(x), low, high).astype(x.dtype)


def divisible(x: Array, y: Array) -> tuple[Array, Array]:
    """Numbers whose quotient is no overflow, and whose remainder is 0 or a normal number.

    For `Floordiv` and `Mod`, which are not continuous: backends that take subnormal numbers for 0
    would differ by a whole step.
    """
    if wide(y).dtype.kind in "iub":
        return x, y
    tiny = np.finfo(wide(y).dtype).smallest_normal
    small, large = 2 * float(tiny) ** 0.5, float(tiny) ** -0.5
    divides = (np.abs(wide(y)) >= small) | np.isnan(wide(y))
    return (
        np.where(np.isinf(wide(x)), x, between(-large, large, x)),
        np.where(divides, y, np.ones_like(y)),
    )
