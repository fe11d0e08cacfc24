"""Trees of arrays: nested lists, tuples, dicts and dataclasses, taken apart and put together."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from byparts_graph_ir import ArgumentError, Value

_LEAF = "leaf"


def flatten(tree: Any) -> tuple[list[Any], Hashable]:
    """The arrays and values of a tree in order, and its structure.  O(leaves).

    The structure is hashable, and equal for trees that differ in arrays alone; what is no array
    (numbers, strings, functions, modules) is part of it.

    Raises:
        ArgumentError: something in it is neither a container, an array nor hashable.
    """
    leaves: list[Any] = []
    return leaves, _structure(tree, leaves)


def unflatten(structure: Any, leaves: Sequence[Any]) -> Any:
    """The tree of this structure with these leaves."""
    rest = iter(leaves)

    def build(s: Any) -> Any:
        if s is _LEAF:
            return next(rest)
        kind, parts = s
        if kind is _Static:
            return parts.value
        if kind is dict:
            return {key: build(part) for key, part in parts}
        if kind in (list, tuple):
            return kind([build(part) for _, part in parts])
        if hasattr(kind, "_fields"):
            return kind(*[build(part) for _, part in parts])
        return kind(**{name: build(part) for name, part in parts})

    return build(structure)


class _Static:
    """Something that is no array, compared by its class and value."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not _Static:
            return False
        a, b = self.value, other.value
        return a is b or (a.__class__ is b.__class__ and repr(a) == repr(b) and bool(a == b))

    def __hash__(self) -> int:
        return hash((self.value.__class__, self.value))


def _structure(tree: Any, leaves: list[Any]) -> Any:
    if isinstance(tree, (Value, np.ndarray, np.generic)):
        leaves.append(tree)
        return _LEAF
    if isinstance(tree, dict):
        return dict, tuple([(key, _structure(tree[key], leaves)) for key in tree])
    if isinstance(tree, (list, tuple)):
        kind = list if isinstance(tree, list) else tree.__class__
        return kind, tuple([(i, _structure(part, leaves)) for i, part in enumerate(tree)])
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        names = [f.name for f in dataclasses.fields(tree) if f.init]
        return tree.__class__, tuple([(n, _structure(getattr(tree, n), leaves)) for n in names])
    if not isinstance(tree, Hashable):
        raise ArgumentError(
            f"{tree.__class__.__name__} {tree!r:.60} is no array, no container of arrays and not "
            "hashable, so nothing can be remembered for it; make it an array, or give it __hash__"
        )
    return _Static, _Static(tree)
