"""Parts of arrays: `x[...]` with all that NumPy takes, and rows picked by index arrays.

On arrays that are not recorded NumPy does it.  Else the ops do: slices and ints by `getitem`,
integer arrays by `gather`, and other constant indices by one `gather` on the flat array.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import index as as_int
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_eager.array import Array, array_of, asarray
from byparts_eager.kind import Kind, caches, kind_of
from byparts_eager.standard.manipulation import beside
from byparts_eager.state import state
from byparts_graph_ir import INTEGERS, UNSIGNED, GraphError, ShapeError, TensorType, Value

_BASIC = (slice, int, type(None), type(Ellipsis))
_parts: dict[tuple[Kind, tuple[int, ...]], Kind] = {}  # the kind of a part of this shape
caches.append(_parts)


def getitem(x: Any, index: Any) -> Any:
    """The part of `x` at an index: ints, slices, `...`, `None`, integer arrays and bool masks.

    Raises:
        IndexError: an int is out of range.
        GraphError: a mask is a traced value: the shape depends on its numbers.
    """
    if x.__class__ is Array and x.kind.on_numpy and not state.recorders:
        plain = index if index.__class__ in _BASIC else constant_index(index)
        if plain is not NotImplemented:
            return _part(x, plain)
    items = index if isinstance(index, tuple) else (index,)
    if all(isinstance(i, _BASIC) and not isinstance(i, bool) for i in items):
        return ops.getitem(x, index)
    y = _by_axes(x, [_as_index(i, x) for i in items])
    if y is not NotImplemented:
        return y
    plain = constant_index(index)
    if plain is NotImplemented or not x.type.static:
        raise GraphError(
            f"x[...] of x: {x.type}: an index is a traced mask, whose numbers decide the shape, or "
            "is beside slices and other integers; use where(mask, x, other), or take the parts one "
            "after the other, as in take(x, i, axis=1)"
        )
    places = np.arange(x.type.size).reshape(x.type.dims)[plain]
    return ops.gather(ops.reshape(x, (-1,)), beside(places, x))


def take(x: Any, indices: Any, /, *, axis: Optional[int] = None) -> Any:
    """The slices of `x` along `axis` that integers name; negative ones count from the end.

    Raises:
        ShapeError: `x` has several axes, and none is named.
    """
    x = asarray(x)
    if axis is None and x.type.rank != 1:
        raise ShapeError(f"take: {x.type} has {x.type.rank} axes; say which, as in axis=0")
    return ops.gather(x, _from_front(indices, x, axis or 0), axis or 0)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """The elements of `x` that integers name along `axis`; the other axes are broadcast."""
    x = asarray(x)
    return ops.take_along_axis(x, _from_front(indices, x, axis), axis)


def constant_index(index: Any) -> Any:
    """The index with NumPy arrays in the place of ours; `NotImplemented` if a value is traced."""
    if isinstance(index, tuple):
        items = tuple([constant_index(i) for i in index])
        return NotImplemented if any(i is NotImplemented for i in items) else items
    if index.__class__ is Array:
        return index.numpy()
    return NotImplemented if isinstance(index, Value) else index


def _part(x: Array, index: Any) -> Array:
    """The part by NumPy: a view where it is contiguous, else a copy."""
    data = x.data[index]
    if data.__class__ is not np.ndarray:
        data = np.array(data)
    elif not data.flags.c_contiguous:
        data = data.copy()
    kind = _parts.get((x.kind, data.shape))
    if kind is None:
        kind = kind_of(TensorType(x.kind.type.dtype, data.shape), x.kind.backend)
        _parts[x.kind, data.shape] = kind
    return array_of(kind, data)


def _by_axes(x: Any, items: Sequence[Any]) -> Any:
    """The part by integer arrays: rows, or along one axis beside slices; else `NotImplemented`."""
    arrays = [i for i, item in enumerate(items) if isinstance(item, Value)]
    if any(items[i].type.dtype not in INTEGERS for i in arrays):
        return NotImplemented
    if all(isinstance(item, (Value, int)) for item in items):
        return _rows(x, items)
    if len(arrays) > 1 or any(isinstance(item, int) for item in items):
        return NotImplemented
    (at,) = arrays
    axis = at if Ellipsis not in items[:at] else at - len(items)
    whole = [slice(None) if i == at else item for i, item in enumerate(items)]
    y = ops.getitem(x, tuple(whole))
    return ops.gather(y, _from_front(items[at], y, axis), axis)


def _rows(x: Any, items: Sequence[Any]) -> Any:
    """The rows at integers, one for each of the leading axes, broadcast against one another."""
    count, size = len(items), x.shape[0]
    if count == 1:
        return ops.gather(x, _from_front(items[0], x, 0))
    others = [as_int(d) for d in x.shape[1:count]]
    flat: Any = ops.cast(_from_front(items[0], x, 0), "i64")
    for axis, d in enumerate(others, 1):
        i = ops.cast(_from_front(items[axis], x, axis), "i64")
        flat = flat * d + ops.in_range(i, d, "x[...]", axis)
    rows = size * prod(others) if isinstance(size, int) else -1
    return ops.gather(ops.reshape(x, (rows, *x.shape[count:])), flat)


def _from_front(indices: Any, x: Any, axis: int) -> Any:
    """Indices of an axis, counted from its front."""
    if not isinstance(indices, Value):
        indices = beside(np.asarray(indices), x)
    if isinstance(indices, Array):
        places = indices.numpy()
        if not (places < 0).any():
            return indices
        wide = places.astype(np.int64)  # the size may be more than i8 holds
        return beside(np.where(places < 0, wide + x.shape[axis], wide), indices)
    if indices.type.dtype not in INTEGERS - UNSIGNED:
        return indices
    indices, size = ops.cast(indices, "i64"), x.shape[axis]
    if not isinstance(size, int):
        size = ops.cast(ops.count_like(x, (axis,)), "i64")
    return ops.select(ops.less(indices, 0), ops.add(indices, size), indices)


def _as_index(item: Any, x: Value) -> Any:
    if isinstance(item, (*_BASIC, Value)) and not isinstance(item, bool):
        return item
    return beside(np.asarray(item), x)
