"""Places of elements: extremes, order, sorted rows, and sets of values.

`nonzero` and `unique_*` give shapes that depend on data, so they take arrays alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np

import byparts_opset as ops
from byparts_eager.array import Array, asarray
from byparts_eager.standard.manipulation import beside
from byparts_eager.standard.one_dtype import of_one_dtype
from byparts_eager.standard.statistics import sum as _sum
from byparts_eager.standard.utility import truth
from byparts_graph_ir import GraphError


class UniqueAll(NamedTuple):
    """The result of `unique_all`."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """The result of `unique_counts`."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """The result of `unique_inverse`."""

    values: Any
    inverse_indices: Any


def argmax(x: Any, /, *, axis: Optional[int] = None, keepdims: bool = False) -> Any:
    """The index (i64) of the greatest element along `axis`, or in flat x; of equals the first."""
    return ops.argmax(asarray(x), axis, keepdims)


def argmin(x: Any, /, *, axis: Optional[int] = None, keepdims: bool = False) -> Any:
    """The index (i64) of the least element along `axis`, or in flat x; of equals the first."""
    return ops.argmin(asarray(x), axis, keepdims)


def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The number of elements (i64) that are not zero along these axes, or in all."""
    return _sum(ops.cast(truth(asarray(x)), "i64"), axis=axis, keepdims=keepdims)


def nonzero(x: Any, /) -> tuple[Any, ...]:
    """The indices of the elements that are not zero, an array (i64) for each axis.

    Raises:
        GraphError: `x` is traced, or has no axes.
    """
    elements = _elements(x, "nonzero")
    if not elements.ndim:
        raise GraphError(f"nonzero: {x.type} has no axes; write x != 0")
    return tuple([beside(places, x) for places in np.nonzero(elements)])


def where(condition: Any, x1: Any, x2: Any, /) -> Any:
    """x1 where the condition holds, else x2; all three are broadcast.

    Raises:
        ShapeError: the condition is no bool.
        TypeError: x1 and x2 have no common dtype.
    """
    if isinstance(x1, (int, float)) and isinstance(x2, (int, float)):
        x1 = asarray(x1)
    return ops.select(asarray(condition), *of_one_dtype(x1, x2))


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The elements in order along `axis`; nan counts as the greatest."""
    return ops.sort(asarray(x), axis, descending)


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The places (i64) of the elements in order along `axis`; of equals the first one first."""
    return ops.argsort(asarray(x), axis, descending)


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """The places (i64) in the rising row `x1` where each of `x2` belongs, before or behind equals.

    Args:
        x1: [n]; or in any order, with its `sorter`.
        x2: of any shape.
        side: "left" of elements that are equal, or "right".
        sorter: what `argsort(x1)` gives.
    """
    places = None if sorter is None else asarray(sorter)
    row, x = of_one_dtype(x1, x2)
    return ops.searchsorted(row, x, side, places)


def unique_values(x: Any, /) -> Any:
    """The different elements in rising order; each nan is one of its own."""
    return beside(np.unique(_elements(x, "unique_values"), equal_nan=False), x)


def unique_counts(x: Any, /) -> UniqueCounts:
    """The different elements, and how often (i64) each is there."""
    elements = _elements(x, "unique_counts")
    parts = np.unique(elements, return_counts=True, equal_nan=False)
    return UniqueCounts(*[beside(part, x) for part in parts])


def unique_inverse(x: Any, /) -> UniqueInverse:
    """The different elements, and for each of x (in its shape) which of them it is."""
    values, _, inverse, _ = unique_all(x)
    return UniqueInverse(values, inverse)


def unique_all(x: Any, /) -> UniqueAll:
    """The different elements, the first flat place of each, `unique_inverse`, and their counts."""
    elements = _elements(x, "unique_all")
    values, first, inverse, counts = np.unique(
        elements, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    parts = (values, first, inverse.reshape(elements.shape), counts)
    return UniqueAll(*[beside(part, x) for part in parts])


def _elements(x: Any, name: str) -> Any:
    """The elements of an array.

    Raises:
        GraphError: it is traced.
    """
    value = asarray(x)
    if not isinstance(value, Array):
        raise GraphError(
            f"{name}: the shape of the result depends on the numbers of a traced value of type "
            f"{value.type}; call it outside of compile, or use where with a shape that is fixed"
        )
    return value.numpy()
