"""Questions about all elements, and differences of neighbours."""

from __future__ import annotations

from typing import Any

import byparts_opset as ops
from byparts_eager.array import asarray
from byparts_eager.standard.manipulation import concat
from byparts_eager.standard.statistics import Axis, _tuple
from byparts_opset.slicing import along


def all(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Any:
    """Whether all elements along the axes are true, or not zero."""
    return ops.all(truth(asarray(x)), _tuple(axis), keepdims)


def any(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Any:
    """Whether an element along the axes is true, or not zero."""
    return ops.any(truth(asarray(x)), _tuple(axis), keepdims)


def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    """The differences of neighbours along `axis`, `n` times over.

    Args:
        x: an array of numbers.
        axis: along which they are neighbours.
        n: how often.
        prepend: what comes before x along the axis.
        append: what comes behind.
    """
    x = asarray(x)
    parts = [part for part in (prepend, x, append) if part is not None]
    y = concat(parts, axis=axis) if len(parts) > 1 else x
    axis = axis % y.type.rank
    for _ in range(n):
        y = ops.sub(along(axis, 1, None)(y), along(axis, None, -1)(y))
    return y


def truth(x: Any) -> Any:
    """Bools: x, or where it is not zero."""
    return x if x.type.dtype == "bool" else ops.not_equal(x, 0)
