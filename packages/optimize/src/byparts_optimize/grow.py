"""Grows regions: joins those that read each other, then siblings, as long as a backend agrees.

A join needs the backend, whose answer depends on the two regions alone and is asked for once, and
no path that leaves the joint region and comes back (`regions.py`), which may change with each
other join.  So the pairs are tried again until nothing more joins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from sys import maxsize
from typing import Optional

from byparts_graph_ir import Fused, Graph, GraphError, Node, Region, Value, has_effect, reads_of
from byparts_optimize.regions import Regions

Joins = Callable[[Region, Region], Optional[Region]]

_MOST_SIBLINGS = 64  # of those that read one value: how many before it each is compared with


class Growth:
    """The regions of a graph while they grow; each begins as one node.

    Args:
        graph: whose nodes.
        wanted: for each node whether it may be in a region with others.
        joins: the backend's answer; `None`: all regions that read each other, and no siblings.
        limits: node -> how many nodes its region may have at most; others have no limit.
    """

    def __init__(
        self,
        graph: Graph,
        wanted: Sequence[bool],
        joins: Optional[Joins],
        limits: Mapping[int, int],
    ) -> None:
        made_by = {v: i for i, node in enumerate(graph.nodes) for v in node.outputs}
        self._wanted = wanted
        self._sources = [[made_by[v] for v in n.inputs if v in made_by] for n in graph.nodes]
        self._vertices = Regions(_edges(graph, self._sources))
        self._joins = joins
        self._limits = dict(limits)
        reads = reads_of(graph)
        self._regions = {i: Region(n, reads) for i, n in enumerate(graph.nodes) if wanted[i]}
        self._answers: set[tuple[Region, Region]] = set()  # what the backend has refused
        siblings = _siblings(graph, wanted) if joins is not None else ()
        self._pairs = (tuple(self._neighbours()), tuple(dict.fromkeys(siblings)))

    def members(self) -> list[list[int]]:
        """The nodes of each region when nothing more joins, in an order in which they can run."""
        while any([self._joined_along(pairs) for pairs in self._pairs]):
            pass
        found: dict[int, list[int]] = {i: [] for i in self._vertices.order()}
        for i in range(len(self._wanted)):
            found[self._vertices.find(i)].append(i)
        return list(found.values())

    def _neighbours(self) -> Iterator[tuple[int, int]]:
        for b, sources in enumerate(self._sources):
            if self._wanted[b]:
                yield from ((a, b) for a in sources if self._wanted[a])

    def _joined_along(self, pairs: Iterable[tuple[int, int]]) -> bool:
        """Join the regions of these pairs of nodes until none of them can be; whether any was."""
        any_joined = False
        while True:
            refused = []
            before = len(self._regions)
            for pair in pairs:
                a, b = map(self._vertices.find, pair)
                if a != b and not self._join(a, b):
                    refused.append(pair)  # until what is between them has joined one of the two
            if len(self._regions) == before:
                return any_joined
            pairs, any_joined = refused, True

    def _join(self, a: int, b: int) -> bool:
        if self._vertices.place[a] > self._vertices.place[b]:
            a, b = b, a
        first, second = self._regions[a], self._regions[b]
        limit = min(self._limits.get(a, maxsize), self._limits.get(b, maxsize))
        if first.size + second.size > limit or (first, second) in self._answers:
            return False
        made = self._answer(first, second)
        if made is None:
            self._answers.add((first, second))
            return False
        if not self._vertices.join(a, b):
            return False
        self._regions[a] = made
        del self._regions[b]
        self._limits[a] = limit
        return True

    def _answer(self, first: Region, second: Region) -> Optional[Region]:
        if self._joins is None:
            return first.joined(second)
        made = self._joins(first, second)
        if made is not None and getattr(made, "parts", None) != (first, second):
            raise GraphError(
                f"fuse: joins({first}, {second}) gave {made!r:.60}; "
                "return a.joined(b, summary), or None where they are better apart"
            )
        return made


def _siblings(graph: Graph, wanted: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Pairs of wanted nodes that read the same value, by value, in order.

    Not of those that share a number: nothing is saved by reading it once, and one region of all
    updates, which share the learning rate, would keep all gradients alive until it runs.
    """
    readers: dict[Value, list[int]] = {}
    for i, node in enumerate(graph.nodes):
        for v in dict.fromkeys(node.inputs) if wanted[i] else ():
            if v.type.size != 1:
                readers.setdefault(v, []).append(i)
    for nodes in readers.values():
        for at, b in enumerate(nodes):
            yield from ((a, b) for a in nodes[max(0, at - _MOST_SIBLINGS) : at])


def _edges(graph: Graph, sources: Sequence[Sequence[int]]) -> list[set[int]]:
    """Node -> nodes that must come later: those that read it, and after an effect the next one."""
    after: list[set[int]] = [set() for _ in graph.nodes]
    for i, made in enumerate(sources):
        for source in made:
            after[source].add(i)
    effects = [i for i, node in enumerate(graph.nodes) if has_effect(node.op)]
    for first, second in pairwise(effects):
        after[first].add(second)
    return after


def may_join(node: Node) -> bool:
    """Whether a region may hold it at all: static types, no effect, no region itself."""
    types = (v.type for v in (*node.inputs, *node.outputs))
    return (
        not has_effect(node.op) and not isinstance(node.op, Fused) and all(t.static for t in types)
    )
