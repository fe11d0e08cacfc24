"""Feeds of a run: arrays for tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Optional

import numpy as np
from numpy import ndarray

from byparts_frontend_tf.graph.graph import Graph
from byparts_frontend_tf.graph.nest import flatten
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.running.fetches import composite
from byparts_tf_files.shape import fits, shown

Convert = Callable[[Any], Any]


class Feeds:
    """The tensors that are fed, and how what is given for them becomes arrays.

    Args:
        graph: of the session.
        keys: of the `feed_dict`.

    Attributes:
        tensors: those fed, in the order of `arrays`.

    Raises:
        TypeError: a key is nothing that can be fed.
    """

    def __init__(self, graph: Graph, keys: Sequence[Any]) -> None:
        self._graph = graph
        self.tensors: list[Tensor] = []
        self._rows: list[tuple[Any, Optional[Convert], Any, int]] = []
        for key in keys:
            self._add(key)
        self.simple = all(convert is None for _, convert, _, _ in self._rows)
        self._kinds = [(t, np.dtype(t.dtype.as_numpy_dtype), t.dims) for t in self.tensors]

    def _add(self, key: Any) -> None:
        if isinstance(key, tuple):  # as the state of a cell: values in the same structure
            first = len(self.tensors)
            rows, self._rows = self._rows, []
            for leaf in flatten(key):
                self._add(leaf)
            self._rows = [*rows, (key, flatten, None, len(self.tensors) - first)]
            return
        parts = composite(key)
        if parts is not None:
            tensors = [t for t in parts[1] if t is not None]
            self._rows.append((key, lambda value: list(value)[: len(tensors)], None, len(tensors)))
            self.tensors += tensors
            return
        try:
            found = self._graph.as_graph_element(key, allow_operation=False)
        except Exception as error:
            raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error}") from None
        assert isinstance(found, Tensor), "operations are not allowed"
        self.tensors.append(found)
        self._rows.append((key, None, found, 1))

    def arrays(self, feed_dict: Mapping[Any, Any]) -> list[Any]:
        """Convert the values of the feeds to arrays of the dtypes of the tensors.

        Raises:
            TypeError: a tensor is given.
            ValueError: an array does not fit the shape, or is none.
        """
        given: Iterable[Any] = feed_dict.values()
        if not self.simple:
            given = []
            for key, convert, _, count in self._rows:
                value = feed_dict[key]
                values = [value] if convert is None else convert(value)
                if len(values) != count:
                    raise ValueError(f"Cannot feed {len(values)} values for {key}: it has {count}")
                given += values
        return [
            value
            if value.__class__ is ndarray
            and value.dtype is kind
            and value.shape == dims
            and kind.kind != "O"  # texts become bytes
            else _array(tensor, value, kind)
            for value, (tensor, kind, dims) in zip(given, self._kinds, strict=True)
        ]


def _array(tensor: Tensor, value: Any, kind: Any) -> Any:
    if isinstance(value, Tensor):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include "
            "Python scalars, strings, lists and numpy ndarrays. For reference, the tensor object "
            f"was {value} which was passed to the feed with key {tensor}."
        )
    if isinstance(value, int) and kind.kind in "iu" and int(kind.type(value)) != value:
        raise TypeError(
            f"Type of feed value {value!r} with type {type(value)} is not compatible with Tensor "
            f"type {kind}. Try explicitly setting the type of the feed tensor to a larger type."
        )
    try:
        array = _strings(value) if kind.kind == "O" else np.asarray(value, kind)
    except (TypeError, ValueError) as error:
        what = f"Cannot feed a {type(value).__name__} for Tensor {tensor.name!r}"
        raise type(error)(f"{what}: {error}") from error
    if not fits(tensor.dims, array.shape):
        raise ValueError(
            f"Cannot feed value of shape {array.shape} for Tensor {tensor.name!r}, which has shape "
            f"{shown(tensor.dims)!r}"
        )
    return array


def _strings(value: Any) -> Any:
    array = np.asarray(value, object)
    flat = [s.encode() if isinstance(s, str) else s for s in array.reshape(-1)]
    made = np.empty(array.shape, object)
    made.reshape(-1)[:] = flat
    return made
