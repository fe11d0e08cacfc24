"""Norms and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import byparts_opset as ops
from byparts_graph_ir import ArgumentError, Value
from byparts_linalg.matrices import matrices
from byparts_linalg.solve import default_rtol
from byparts_linalg.spectral import svdvals

ORDERS = ("fro", "nuc", 1, 2, inf, -1, -2, -inf)


def vector_norm(
    x: Value,
    *,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    ord: float = 2,
) -> Value:
    """sum(|x|^ord)^(1 / ord) over the axes, by default over all; see `byparts_opset.norm`."""
    return ops.norm(x, ord, axis, keepdims)


def matrix_norm(a: Value, *, keepdims: bool = False, ord: float | str = "fro") -> Value:
    """Norms of matrices [..., m, n]: [...].

    Args:
        a: matrices.
        keepdims: whether the result is [..., 1, 1].
        ord: "fro", the root of the sum of squares; "nuc", the sum of the singular values; 2 and
            -2, the largest and the least of them; 1 and -1, the largest and the least sum of
            absolute values of a column; inf and -inf, of a row.
    """
    matrices("matrix_norm", a.type)
    if ord not in ORDERS:
        raise ArgumentError(f"matrix_norm: ord is {ord!r}; it is one of {ORDERS}")
    if ord == "fro":
        return ops.norm(a, 2, (-2, -1), keepdims)
    if isinstance(ord, str) or abs(ord) == 2:
        y = _OF_VALUES[ord](svdvals(a), -1)
    else:
        sums = ops.sum(ops.abs(a), -2 if abs(ord) == 1 else -1)
        y = (ops.max if ord > 0 else ops.min)(sums, -1)
    return ops.expand_dims(y, (-2, -1)) if keepdims else y


_OF_VALUES = {"nuc": ops.sum, 2: ops.max, -2: ops.min}


def matrix_rank(a: Value, *, rtol: float | Value | None = None) -> Value:
    """How many singular values are larger than `rtol` times the largest, in i64: [...].

    Args:
        a: matrices [..., m, n].
        rtol: a number, or one for each matrix [...]; by default max(m, n) times the distance of 1
            to the next number.
    """
    limit = default_rtol("matrix_rank", a) if rtol is None else rtol
    s = svdvals(a)
    largest = ops.max(s, -1, keepdims=True)
    least = largest * (ops.expand_dims(limit, -1) if isinstance(limit, Value) else limit)
    return ops.sum(ops.cast(ops.greater(s, least), "i64"), -1)
