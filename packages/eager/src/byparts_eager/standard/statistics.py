"""Sums, products, extremes and moments along axes; running sums.

Sums of integers are i64, so that they rarely overflow; those of floats keep their dtype.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, Union

import byparts_opset as ops
from byparts_eager.array import asarray
from byparts_graph_ir import FLOATS, ShapeError

Axis = Optional[Union[int, Sequence[int]]]


def max(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Any:
    """The greatest element along the axes, or of all; nan if one is.

    Raises:
        ShapeError: there is none.
    """
    return ops.max(asarray(x), _tuple(axis), keepdims)


def min(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Any:
    """The least element along the axes, or of all; nan if one is.

    Raises:
        ShapeError: there is none.
    """
    return ops.min(asarray(x), _tuple(axis), keepdims)


def mean(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Any:
    """The mean of floats along the axes, or of all."""
    return ops.mean(asarray(x), _tuple(axis), keepdims)


def sum(x: Any, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The sum along the axes, or of all; of integers as i64, unless `dtype` says otherwise."""
    return ops.sum(_wide(x, dtype), _tuple(axis), keepdims)


def prod(x: Any, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The product along the axes, or of all; of integers as i64, unless `dtype` says otherwise."""
    return ops.prod(_wide(x, dtype), _tuple(axis), keepdims)


def var(x: Any, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The squared distances from the mean along the axes, summed and divided by n - correction."""
    return ops.var(asarray(x), _tuple(axis), correction, keepdims)


def std(x: Any, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The root of `var`."""
    return ops.std(asarray(x), _tuple(axis), correction, keepdims)


def cumulative_sum(
    x: Any, /, *, axis: Optional[int] = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """Running sums along `axis`, from 0 on where the initial one is included.

    Raises:
        ShapeError: `x` has several axes, and none is named; or it has none.
    """
    along = _only_axis("cumulative_sum", x, axis)
    y = ops.cumsum(_wide(x, dtype), along)
    return _with_first(y, along, 0) if include_initial else y


def cumulative_prod(
    x: Any, /, *, axis: Optional[int] = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """Running products along `axis`, as `cumulative_sum`; the initial one is 1."""
    along = _only_axis("cumulative_prod", x, axis)
    y = ops.cumprod(_wide(x, dtype), along)
    return _with_first(y, along, 1) if include_initial else y


def _with_first(y: Any, axis: int, first: int) -> Any:
    """`y` with a slice of this number in front along `axis`."""
    shape = list(y.type.shape)
    shape[axis] = 1
    return ops.concat([asarray(ops.fill(first, y.type.dtype, shape)), y], axis)


def _wide(x: Any, dtype: Any) -> Any:
    """`x` in the dtype that it is summed in."""
    x = asarray(x)
    if dtype is None and x.type.dtype in FLOATS:
        return x
    return asarray(x, dtype="i64" if dtype is None else dtype)


def _tuple(axis: Axis) -> Union[int, tuple[int, ...], None]:
    return axis if axis is None or isinstance(axis, int) else tuple(axis)


def _only_axis(name: str, x: Any, axis: Optional[int]) -> int:
    type = asarray(x).type
    if type.rank == 0 or (axis is None and type.rank != 1):
        raise ShapeError(f"{name}: {type} has {type.rank} axes; name one of them, as in axis=0")
    return 0 if axis is None else axis
