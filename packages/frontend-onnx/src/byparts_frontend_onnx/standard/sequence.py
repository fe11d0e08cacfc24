"""Sequences and optional values, as lists when the model is read."""

from __future__ import annotations

from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_frontend_onnx.node import OnnxNode, axis_in, ints, rank_of
from byparts_frontend_onnx.rules import rules
from byparts_graph_ir import Value


def _place(node: OnnxNode, i: int, size: int, default: int) -> int:
    known = node.known(i)
    place = default if known is None else int(ints(known)[0])
    return place + size if place < 0 else place


@rules.on("SequenceConstruct", raw=True)
def construct(node: OnnxNode, *items: Any) -> Any:
    """A list of its inputs."""
    return list(items)


@rules.on("SequenceEmpty", raw=True)
def empty(node: OnnxNode) -> Any:
    """A list of nothing."""
    return []


@rules.on("SequenceInsert", raw=True)
def insert(node: OnnxNode, items: list[Any], item: Any, place: Any = None) -> Any:
    """A list with one item more."""
    at = _place(node, 2, len(items), len(items))
    return [*items[:at], item, *items[at:]]


@rules.on("SequenceErase", raw=True)
def erase(node: OnnxNode, items: list[Any], place: Any = None) -> Any:
    """A list without one of its items."""
    at = _place(node, 1, len(items), len(items) - 1)
    return [*items[:at], *items[at + 1 :]]


@rules.on("SequenceAt", raw=True)
def at(node: OnnxNode, items: list[Any], place: Any) -> Any:
    """One item of a list."""
    return items[_place(node, 1, len(items), 0)]


@rules.on("SequenceLength", raw=True)
def length(node: OnnxNode, items: list[Any]) -> Any:
    """How many items a list has."""
    return np.asarray(len(items), np.int64)


@rules.on("ConcatFromSequence", raw=True)
def concat_from_sequence(node: OnnxNode, items: list[Any]) -> Value:
    """The items behind each other, or stacked along a new axis."""
    values = [node.value(i) for i in items]
    new = node.get("new_axis", 0)
    axis = axis_in(node.get("axis"), rank_of(values[0]) + new)
    return ops.stack(values, axis) if new else ops.concat(values, axis)


@rules.on("SplitToSequence", raw=True)
def split_to_sequence(node: OnnxNode, x: Any, parameter: Any = None) -> Any:
    """A list of parts: of these sizes, of one size, or of size 1 without their axis."""
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


@rules.on("Optional", raw=True)
def optional(node: OnnxNode, item: Any = None) -> Any:
    """Its input, which is there."""
    if item is None:
        raise node.refuse("an optional value that is not there")
    return item


@rules.on("OptionalHasElement", raw=True)
def has_element(node: OnnxNode, item: Any = None) -> Any:
    """Whether there is a value."""
    return np.asarray(item is not None)


@rules.on("OptionalGetElement", raw=True)
def get_element(node: OnnxNode, item: Any) -> Any:
    """The value that is there."""
    return item
