"""`x.at[index].set(y)` and `.add(y)`: an array with other elements at an index, gradients included.

The index is a constant (ints, slices, `...`, `None`, integer and bool arrays, as NumPy takes them),
so the places of its elements are known, and one scatter on the flat array does the work.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_eager.array import Array, asarray
from byparts_graph_ir import GraphError, ShapeError, Value


class At:
    """An array, or a traced value, and an index of it."""

    __slots__ = ("_index", "_x")

    def __init__(self, x: Value, index: Any = None) -> None:
        self._x, self._index = x, index

    def __getitem__(self, index: Any) -> At:
        return At(self._x, index)

    def set(self, y: Any) -> Any:
        """The array with `y`, broadcast, at the index; of a place named twice the last one stays.

        Raises:
            ShapeError: `y` does not broadcast to the elements at the index.
            IndexError: the index is out of range.
        """
        places, new = self._parts(y)
        flat = np.full(self._x.type.size, -1)
        flat[places] = np.arange(len(places))
        kept = asarray(flat < 0)
        rows = ops.gather(new, asarray(np.maximum(flat, 0))) if len(places) else None
        x = ops.reshape(self._x, (-1,))
        result = x if rows is None else ops.select(kept, x, rows)
        return ops.reshape(result, self._x.type.dims)

    def add(self, y: Any) -> Any:
        """The array with `y` added at the index, as often as a place is named.  As `set`."""
        places, new = self._parts(y)
        x = ops.reshape(self._x, (-1,))
        return ops.reshape(x + ops.scatter_add(asarray(places), new, x), self._x.type.dims)

    def _parts(self, y: Any) -> tuple[Any, Any]:
        """The flat places at the index, and the flat elements for them."""
        dims = self._x.type.dims
        places = np.arange(self._x.type.size).reshape(dims)[_constant(self._index)]
        value = asarray(y, dtype=self._x.type.dtype)
        try:
            spread = ops.broadcast_to(value, places.shape)
        except GraphError as error:
            raise ShapeError(
                f"at[...]: a value of type {value.type} for elements of shape {places.shape}"
            ) from error
        return places.reshape(-1), ops.reshape(spread, (-1,))


def _constant(index: Any) -> Any:
    """The index with NumPy arrays in the place of ours."""
    if isinstance(index, tuple):
        return tuple([_constant(i) for i in index])
    return index.numpy() if isinstance(index, Array) else index
