"""Places values on shelves, one for each size: each takes a free place there, or a new one.

Nothing is ever split, so no two sizes share memory: wasteful, and quick, O(values).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Optional

from byparts_graph_ir import Graph


@dataclass(frozen=True)
class Place:
    """Where a value is: in the arena, or (`root`) an input outside."""

    root: Optional[int]
    offset: int


@dataclass(frozen=True)
class Shelves:
    """A plan."""

    locations: tuple[Place, ...]
    arena_bytes: int


def plan(
    graph: Graph,
    *,
    external: frozenset[int] = frozenset(),
    alignment: int = 64,
    donate: Optional[Mapping[int, int]] = None,
    kernels: object = None,
) -> Shelves:
    """A place for each value; offers of variables' own memory (`donate`) are declined.

    Of `kernels` nothing is asked: the runtime finds room for workspaces behind the arena.
    """
    shop = _Shop(alignment)
    places = [Place(i, 0) if i in external else None for i in range(len(graph.values))]
    for i, v in enumerate(graph.inputs):
        places[i] = places[i] or shop.take(v.type.size_bytes)
    last = _last_reads(graph)
    for step, node in enumerate(graph.nodes):
        for v in node.outputs:
            places[graph.ids[v]] = shop.take(v.type.size_bytes)
        for v in dict.fromkeys((*node.inputs, *node.outputs)):
            place = places[graph.ids[v]]
            if last[graph.ids[v]] <= step and place is not None and place.root is None:
                shop.give_back(place, v.type.size_bytes)
    return Shelves(tuple(p for p in places if p is not None), shop.top)


def _last_reads(graph: Graph) -> list[int]:
    """Value -> the last step that reads it; -1 if none, beyond the end if it is a result."""
    last = [-1] * len(graph.values)
    for step, node in enumerate(graph.nodes):
        for v in node.inputs:
            last[graph.ids[v]] = step
    for v in graph.outputs:
        last[graph.ids[v]] = len(graph.nodes)
    return last


class _Shop:
    def __init__(self, alignment: int) -> None:
        self.alignment, self.top = alignment, 0
        self._free: dict[int, list[int]] = {}

    def take(self, size_bytes: int) -> Place:
        size = -(-size_bytes // self.alignment) * self.alignment
        free = self._free.setdefault(size, [])
        if free:
            return Place(None, free.pop())
        self.top += size
        return Place(None, self.top - size)

    def give_back(self, place: Place, size_bytes: int) -> None:
        size = -(-size_bytes // self.alignment) * self.alignment
        self._free[size].append(place.offset)
