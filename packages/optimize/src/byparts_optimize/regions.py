"""An acyclic graph whose vertices can be joined, kept in a topological order.

Joining two vertices makes a cycle if a path leads from the first to the second through a third
vertex.  All edges lead forward in the order, so only vertices between the two in the order need to
be searched.  A join moves those vertices before or behind the joint vertex, as Pearce and Kelly
(2006, https://doi.org/10.1145/1187436.1210590) do when they add an edge.

`join` is O(vertices and edges between the two in the order); for neighbours O(1).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Optional

Vertices = list[set[int]]


class Regions:
    """An acyclic graph whose vertices can be joined; vertex `i` stands at `place[i]` in its order.

    Args:
        edges: for each vertex the vertices that it has an edge to, all with larger numbers.
    """

    def __init__(self, edges: Sequence[Iterable[int]]) -> None:
        self.after: Vertices = [set(to) for to in edges]
        self.before: Vertices = [set() for _ in edges]
        for i, to in enumerate(self.after):
            for j in to:
                assert i < j, "edges lead to later vertices"
                self.before[j].add(i)
        self.place = list(range(len(edges)))
        self._joined: dict[int, int] = {}  # vertex that was joined -> the vertex it is part of

    def find(self, i: int) -> int:
        """The vertex that the original vertex `i` is part of now.  Amortised nearly O(1)."""
        root = i
        while root in self._joined:
            root = self._joined[root]
        while i != root:  # path compression
            step, self._joined[i] = self._joined[i], root
            i = step
        return root

    def join(self, a: int, b: int) -> bool:
        """Join `b` to `a`, where `a` is earlier in the order; False if that would make a cycle.

        There need not be an edge between the two.
        """
        assert self.place[a] < self.place[b], "a is earlier in the order than b"
        successors = self._between(a, b, self.after)
        if successors is None:
            return False
        predecessors = self._between(b, a, self.before)
        assert predecessors is not None, "a search backwards finds the same paths"
        self._reorder([*predecessors, a, b, *successors])
        self._merge(a, b)
        return True

    def order(self) -> list[int]:
        """The vertices that exist now, in topological order."""
        vertices = [i for i in range(len(self.place)) if i not in self._joined]
        return sorted(vertices, key=self.place.__getitem__)

    def _between(self, start: int, stop: int, edges: Vertices) -> Optional[list[int]]:
        """Vertices reachable from `start` that are placed before `stop`, in order.

        `None` if `stop` is reachable through another vertex (the edge from `start` to `stop` itself
        does not count).  With `edges=self.before` the search goes backwards.
        """
        end, forward = self.place[stop], self.place[start] < self.place[stop]
        seen: set[int] = set()
        todo = list(edges[start] - {stop})
        while todo:
            i = todo.pop()
            if i == stop:
                return None
            if i not in seen and (self.place[i] < end) == forward:
                seen.add(i)
                todo += edges[i]
        return sorted(seen, key=self.place.__getitem__)

    def _reorder(self, moved: list[int]) -> None:
        """Give these vertices, in this order, the places that they occupy together."""
        places = sorted(self.place[i] for i in moved)
        for i, place in zip(moved, places, strict=True):
            self.place[i] = place

    def _merge(self, a: int, b: int) -> None:
        """Move the edges of `b` to `a`."""
        self._joined[b] = a
        self.after[a].discard(b)
        self.before[b].discard(a)
        for edges, back in ((self.after, self.before), (self.before, self.after)):
            for i in edges[b]:
                back[i].discard(b)
                back[i].add(a)
            edges[a] |= edges[b]
            edges[b] = set()
