"""Places where nan and infinities have one meaning, and where a backend may give another.

What an op does with nan and infinities is its `evaluate`, and every backend must give the same, but

- where `Op.domain` replaces a value that is not finite (nan as an integer, a filter of a
  convolution that is infinite): nothing is said of the result; of an op that is not elementwise,
  nothing of all its results;
- where the terms of an op cancel, or its formula is a backend's own (products, convolutions,
  losses, rows of softmax): a result that is not finite may be nan or an infinity;
- results near the largest number may be infinite.

That is what the kit holds each op to (`compare.py`), said here of programs: such a result is open,
and what depends on it is compared only as far as it is the same whatever stands there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_conformance.compare import NEARLY_INFINITE
from byparts_graph_ir import FLOATS, Node
from byparts_opset.dtypes import dtype_name, wide

Array = NDArray[Any]


def open_results(node: Node, given: Sequence[Array], made: Sequence[Array]) -> list[Array | bool]:
    """For each output, where (a mask, or everywhere) its results are open."""
    op = node.op
    undefined = _undefined(node, given)
    own_formula = op.cancels or op.pattern not in ("elementwise", "injective", "reduction")
    moves = op.pattern in ("injective", "broadcast")
    rows = []
    for y in made:
        where: Array | bool = undefined
        if not moves and dtype_name(y.dtype) in FLOATS:
            x = wide(y).astype(np.float64)
            if own_formula:
                where = where | ~np.isfinite(x)
            if op.pattern == "elementwise":
                where = where | (
                    np.isfinite(x) & (np.abs(x) >= NEARLY_INFINITE[dtype_name(y.dtype)])
                )
        rows.append(where)
    return rows


def _undefined(node: Node, given: Sequence[Array]) -> Array | bool:
    """Mask of the places where a value that is not finite lies outside of what the op defines."""
    odd = [_not_finite(x) for x in given]
    if not any(map(np.any, odd)):
        return False
    with np.errstate(all="ignore"):
        kept = node.op.domain(*given)
    changed = [o & ~_same(x, y) for o, x, y in zip(odd, given, kept, strict=True)]
    if node.op.pattern == "elementwise":
        masks = np.broadcast_arrays(*changed)
        return np.asarray(np.any(masks, axis=0))
    return any(map(np.any, changed))


def _not_finite(x: Array) -> Array:
    floats = dtype_name(x.dtype) in FLOATS
    return np.asarray(~np.isfinite(wide(x))) if floats else np.zeros(x.shape, bool)


def _same(x: Array, y: Array) -> Array:
    a, b = wide(x), wide(y)
    return np.asarray((a == b) | ((a != a) & (b != b)))
