"""Grows regions: joins pairs of regions of which one reads the other, then siblings.

Two regions are joined if the backend agrees and if no path leaves the joint region and enters it
again (`regions.py` checks that).  The backend's answer depends on the two regions alone, so a
refusal is remembered.  Whether there is such a path may change with every other join, so all pairs
are tried again until no join succeeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from sys import maxsize
from typing import Optional

from byparts_graph_ir import (
    Fused,
    Graph,
    GraphError,
    Node,
    Region,
    ShapeError,
    Value,
    has_effect,
    reads_of,
)
from byparts_optimize.regions import Regions

Joins = Callable[[Region, Region], Optional[Region]]

_MAX_SIBLINGS = 64  # each reader of a value is paired with at most so many readers before it


class Growth:
    """The regions of a graph while they are being joined; each begins as one node.

    Args:
        graph: the graph whose nodes are joined into regions.
        wanted: for each node whether it may be in a region with others.
        joins: the backend's rule (`Backend.joins`); `None`: all regions of which one reads the
            other are joined, and no siblings.
        limits: index of a node -> the largest number of nodes of its region; no entry: no limit.
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
        self._refused: set[tuple[Region, Region]] = set()  # pairs that the backend refused
        siblings = _siblings(graph, wanted) if joins is not None else ()
        self._pairs = (tuple(self._neighbours()), tuple(dict.fromkeys(siblings)))

    def members(self) -> list[list[int]]:
        """Join until no join succeeds; the node indices of each region, in an order to run them."""
        while any([self._join_pairs(pairs) for pairs in self._pairs]):
            pass
        regions: dict[int, list[int]] = {i: [] for i in self._vertices.order()}
        for i in range(len(self._wanted)):
            regions[self._vertices.find(i)].append(i)
        return list(regions.values())

    def _neighbours(self) -> Iterator[tuple[int, int]]:
        for b, sources in enumerate(self._sources):
            if self._wanted[b]:
                yield from ((a, b) for a in sources if self._wanted[a])

    def _join_pairs(self, pairs: Iterable[tuple[int, int]]) -> bool:
        """Join the regions of these pairs of nodes until no join succeeds.  True if one did."""
        any_joined = False
        while True:
            apart = []  # pairs to try again after another join
            before = len(self._regions)
            for pair in pairs:
                a, b = map(self._vertices.find, pair)
                if a != b and not self._join(a, b):
                    apart.append(pair)
            if len(self._regions) == before:
                return any_joined
            pairs, any_joined = apart, True

    def _join(self, a: int, b: int) -> bool:
        if self._vertices.place[a] > self._vertices.place[b]:
            a, b = b, a
        first, second = self._regions[a], self._regions[b]
        limit = min(self._limits.get(a, maxsize), self._limits.get(b, maxsize))
        if first.size + second.size > limit or (first, second) in self._refused:
            return False
        joint = self._ask(first, second)
        if joint is None:
            self._refused.add((first, second))
            return False
        if not self._vertices.join(a, b):
            return False
        self._regions[a] = joint
        del self._regions[b]
        self._limits[a] = limit
        return True

    def _ask(self, first: Region, second: Region) -> Optional[Region]:
        """The joint region by the backend's rule; `None` if the rule refuses the join."""
        if self._joins is None:
            return first.joined(second)
        joint = self._joins(first, second)
        if joint is not None and getattr(joint, "parts", None) != (first, second):
            raise GraphError(
                f"fuse: joins({first}, {second}) gave {joint!r:.60}; "
                "return a.joined(b, summary), or None where they are better apart"
            )
        return joint


def _siblings(graph: Graph, wanted: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Pairs of wanted nodes that read the same value, grouped by the value.

    Values of one element do not count: reading such a value once instead of twice saves nothing,
    and all optimizer updates read the learning rate, so they would become one region, which would
    keep all gradients alive until it runs.
    """
    readers: dict[Value, list[int]] = {}
    for i, node in enumerate(graph.nodes):
        for v in dict.fromkeys(node.inputs) if wanted[i] else ():
            if not v.type.static or v.type.size != 1:
                readers.setdefault(v, []).append(i)
    for nodes in readers.values():
        for at, b in enumerate(nodes):
            yield from ((a, b) for a in nodes[max(0, at - _MAX_SIBLINGS) : at])


def _edges(graph: Graph, sources: Sequence[Sequence[int]]) -> list[set[int]]:
    """For each node the nodes that must run later: its readers; for an effect the next effect."""
    after: list[set[int]] = [set() for _ in graph.nodes]
    for i, nodes in enumerate(sources):
        for source in nodes:
            after[source].add(i)
    effects = [i for i, node in enumerate(graph.nodes) if has_effect(node.op)]
    for first, second in pairwise(effects):
        after[first].add(second)
    return after


def may_join(node: Node) -> bool:
    """Whether the node may be in any region: known shapes, no effect, not a region itself.

    Dimensions may have names.
    """
    shapes = [v.type.shape for v in (*node.inputs, *node.outputs)]
    known = all(shape is not None and None not in shape for shape in shapes)
    return known and not has_effect(node.op) and not isinstance(node.op, Fused)


def wants_named(node: Node, wants: Callable[[Node], bool]) -> bool:
    """Whether a backend wants a node; if it asks for the number of a named dimension, no."""
    if all(v.type.static for v in (*node.inputs, *node.outputs)):
        return wants(node)
    try:
        return wants(node)
    except ShapeError:
        return False
