"""Grows sets of nodes that can each be computed in one go, and an order in which they can run.

A vertex is a set of nodes.  Joining two makes a cycle if a path leads from the one to the other by
way of a third; so the vertices are kept in an order that all edges follow, and only what stands
between the two is searched.  Joining moves what is between them before or behind the joint vertex,
as Pearce and Kelly (2006, https://doi.org/10.1145/1187436.1210590) do for a new edge.

O(vertices and edges between the two) for each question; in a chain that is nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Optional

Vertices = list[set[int]]


class Regions:
    """An acyclic graph whose vertices can be joined; vertex `i` stands at `place[i]` in its order.

    Args:
        edges: for each vertex those it leads to; all of them later.
    """

    def __init__(self, edges: Sequence[Iterable[int]]) -> None:
        self.after: Vertices = [set(to) for to in edges]
        self.before: Vertices = [set() for _ in edges]
        for i, to in enumerate(self.after):
            for j in to:
                assert i < j, "edges lead onwards"
                self.before[j].add(i)
        self.place = list(range(len(edges)))
        self._joined: dict[int, int] = {}  # vertex that is gone -> the one it became part of

    def find(self, i: int) -> int:
        """The vertex that `i` is part of now."""
        root = i
        while root in self._joined:
            root = self._joined[root]
        while i != root:  # the way is shorter next time
            step, self._joined[i] = self._joined[i], root
            i = step
        return root

    def join(self, a: int, b: int) -> bool:
        """Make one vertex of `a` and `b`, of which `a` stands first; False if it would be a cycle.

        They need not be neighbours.
        """
        assert self.place[a] < self.place[b], "the first of the two comes first"
        behind = self._between(a, b, self.after)
        if behind is None:
            return False
        ahead = self._between(b, a, self.before)
        assert ahead is not None, "there is no other path, whichever way one looks"
        self._reorder([*ahead, a, b, *behind])
        self._merge(a, b)
        return True

    def order(self) -> list[int]:
        """The vertices that are left, each after those that lead to it."""
        left = [i for i in range(len(self.place)) if i not in self._joined]
        return sorted(left, key=self.place.__getitem__)

    def _between(self, start: int, stop: int, edges: Vertices) -> Optional[list[int]]:
        """What `start` leads to before the place of `stop`; `None` if it leads to `stop` as well.

        With `before` for edges, all this looking backwards.  The edge between the two is left out.
        """
        end, onwards = self.place[stop], self.place[start] < self.place[stop]
        seen: set[int] = set()
        todo = list(edges[start] - {stop})
        while todo:
            i = todo.pop()
            if i == stop:
                return None
            if i not in seen and (self.place[i] < end) == onwards:
                seen.add(i)
                todo += edges[i]
        return sorted(seen, key=self.place.__getitem__)

    def _reorder(self, moved: list[int]) -> None:
        """Put these vertices in this order, in the places that they have together."""
        places = sorted(self.place[i] for i in moved)
        for i, place in zip(moved, places, strict=True):
            self.place[i] = place

    def _merge(self, a: int, b: int) -> None:
        """`b` becomes part of `a`."""
        self._joined[b] = a
        self.after[a].discard(b)
        self.before[b].discard(a)
        for edges, back in ((self.after, self.before), (self.before, self.after)):
            for i in edges[b]:
                back[i].discard(b)
                back[i].add(a)
            edges[a] |= edges[b]
            edges[b] = set()
