"""Sequences and optional values, as lists when the model is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_frontend_onnx.node import OnnxNode, axis_in, ints, rank_of
from byparts_frontend_onnx.rules import rules
from byparts_graph_ir import Value


def _place(node: OnnxNode, i: int, size: int, default: int) -> int:
    """Read a place in a list from input i; it counts from the end below 0."""
    known = node.known(i)
    place = default if known is None else int(ints(known)[0])
    return place + size if place < 0 else place


def _inserted(node: OnnxNode, items: list[Any], item: Any, place: Any = None) -> list[Any]:
    at = _place(node, 2, len(items), len(items))
    return [*items[:at], item, *items[at:]]


def _erased(node: OnnxNode, items: list[Any], place: Any = None) -> list[Any]:
    at = _place(node, 1, len(items), len(items) - 1)
    return [*items[:at], *items[at + 1 :]]


def _concatenated(node: OnnxNode, items: list[Any]) -> Value:
    values = [node.value(i) for i in items]
    new = node.get("new_axis", 0)
    axis = axis_in(node.get("axis"), rank_of(values[0]) + new)
    return ops.stack(values, axis) if new else ops.concat(values, axis)


def _split(node: OnnxNode, x: Any, parameter: Any = None) -> list[Value]:
    """Parts of given sizes, of one size, or of size 1 without their axis."""
    value = node.value(x)
    axis = axis_in(node.get("axis"), rank_of(value))
    size = node.dims(value)[axis]
    known = node.known(1)
    if known is None:
        parts = list(ops.split(value, [1] * size, axis))
        return parts if node.get("keepdims") else [ops.squeeze(p, axis) for p in parts]
    sizes = [int(s) for s in ints(known)]
    if isinstance(known, np.ndarray) and known.ndim == 0:
        sizes = [min(sizes[0], size - start) for start in range(0, size, sizes[0])]
    return list(ops.split(value, sizes, axis))


_RULES: Mapping[str, Callable[..., Any]] = {
    "SequenceConstruct": lambda node, *items: list(items),
    "SequenceEmpty": lambda node: [],
    "SequenceInsert": _inserted,
    "SequenceErase": _erased,
    "SequenceAt": lambda node, items, place: items[_place(node, 1, len(items), 0)],
    "SequenceLength": lambda node, items: np.asarray(len(items), np.int64),
    "ConcatFromSequence": _concatenated,
    "SplitToSequence": _split,
    "Optional": lambda node, item=None: item,
    "OptionalHasElement": lambda node, item=None: np.asarray(item is not None),
    "OptionalGetElement": lambda node, item: item,
}
for _name, _rule in _RULES.items():
    rules.on(_name, raw=True)(_rule)
