"""Methods of variables that write some of their rows: `v.scatter_add` and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_tf.graph.composites import IndexedSlices


def _writes(function: str) -> Any:
    from byparts_frontend_tf.api.variables import scatter  # few programs write rows

    return getattr(scatter, function)


def _of_slices(function: str) -> Callable[..., Any]:
    def method(
        self: Any, sparse_delta: Any, use_locking: bool = False, name: Optional[str] = None
    ) -> Any:
        """The function of this name, of the rows that are `IndexedSlices`.

        Raises:
            TypeError: they are none.
        """
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta}")
        return _writes(function)(self, sparse_delta.indices, sparse_delta.values, name=name)

    method.__name__ = function
    return method


def _of_places(function: str) -> Callable[..., Any]:
    def method(self: Any, indices: Any, updates: Any, name: Optional[str] = None) -> Any:
        """The function of this name."""
        return _writes(function)(self, indices, updates, name=name)

    method.__name__ = function
    return method


class Rows:
    """Methods of a variable that change some of its rows or places."""

    scatter_add, scatter_sub = _of_slices("scatter_add"), _of_slices("scatter_sub")
    scatter_update, scatter_mul = _of_slices("scatter_update"), _of_slices("scatter_mul")
    scatter_div = _of_slices("scatter_div")
    scatter_min, scatter_max = _of_slices("scatter_min"), _of_slices("scatter_max")
    scatter_nd_add, scatter_nd_sub = _of_places("scatter_nd_add"), _of_places("scatter_nd_sub")
    scatter_nd_update = _of_places("scatter_nd_update")
