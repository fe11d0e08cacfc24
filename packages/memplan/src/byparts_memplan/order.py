"""An order of the nodes that keeps fewer bytes alive.

A list scheduler: of the nodes that could run next it takes the one that adds least to what is alive
(it frees what it reads last, and may write over it), the earliest of those that add the same.  A
training step whose weight gradients stand at its end comes out as frameworks run it, each gradient
as soon as it can be.  Greedy, so it can also lose: the better of both orders is kept, by the bytes
that a plan of each has to hold at its worst step.

Goodman and Hsu 1988 schedule so against register pressure; here values have sizes.
O((nodes + reads) log nodes), deterministic.  Effects keep their order among themselves.
"""

from __future__ import annotations

from collections.abc import Collection
from heapq import heappop, heappush

from byparts_graph_ir import Graph, Node
from byparts_memplan.buffer import Buffer, lower_bound
from byparts_memplan.lifetimes import Values
from byparts_memplan.share import Sharing


def order(graph: Graph, *, external: Collection[int] = frozenset()) -> Graph:
    """The same nodes, in the better of two orders: the given one, and a frugal one.

    Inputs in `external` live elsewhere, so that reading them for the last time frees nothing.
    Needs static types; preserves values, and effects with their order.

    Raises:
        PlanError: a type is not static.
    """
    if len(graph.nodes) < 3:
        return graph
    nodes = _Schedule(graph, frozenset(external)).nodes()
    found = Graph(graph.inputs, tuple(nodes), graph.outputs)
    return found if peak_bytes(found, external) < peak_bytes(graph, external) else graph


def peak_bytes(graph: Graph, external: Collection[int] = frozenset()) -> int:
    """What is alive at the worst step, once all that may share bytes does."""
    sharing = Sharing(Values(graph), sorted(external), {})
    lives = zip(sharing.size, sharing.born, sharing.last, strict=True)
    return lower_bound([Buffer(size, born, last + 1) for size, born, last in lives])


class _Schedule:
    """By step of the given order: what each frees and makes, and what must run before it."""

    def __init__(self, graph: Graph, external: frozenset[int]) -> None:
        self.graph, self.values = graph, Values(graph)
        values, kept = self.values, {*external, *(graph.ids[v] for v in graph.outputs)}
        self.kept = {values.root[v] for v in kept}
        self.roots = [self._roots_read(step) for step in range(len(graph.nodes))]
        self.readers: dict[int, set[int]] = {}
        for step, roots in enumerate(self.roots):
            for root in roots:
                self.readers.setdefault(root, set()).add(step)
        self.before, self.after = self._dependencies()

    def nodes(self) -> list[Node]:
        """The schedule.  A step whose reckoning has changed is queued again; the old entry lies."""
        cost = {s: self._added(s) for s, n in enumerate(self.before) if not n}
        queue = sorted((added, step) for step, added in cost.items())
        made = []
        while queue:
            added, step = heappop(queue)
            if cost.get(step) != added:
                continue
            del cost[step]
            made.append(self.graph.nodes[step])
            changed = {s for s in self._read(step) if s in cost}
            for follower in self.after[step]:
                self.before[follower] -= 1
                if not self.before[follower]:
                    changed.add(follower)
            for other in changed:
                cost[other] = self._added(other)
                heappush(queue, (cost[other], other))
        return made

    def _read(self, step: int) -> list[int]:
        """Strike a step off the readers of what it reads; who is now the last reader of some."""
        last: list[int] = []
        for root in self.roots[step]:
            readers = self.readers[root]
            readers.discard(step)
            if len(readers) == 1:
                last += readers
        return last

    def _added(self, step: int) -> int:
        """Bytes alive after the step, less those before it."""
        values, first = self.values, self.values.first[step]
        outputs = range(first, first + len(self.graph.nodes[step].outputs))
        made = sum(values.size[v] for v in outputs if values.root[v] == v and self._needed(v))
        dies = [r for r in self.roots[step] if r not in self.kept and len(self.readers[r]) == 1]
        return made - sum(values.size[r] for r in dies)

    def _needed(self, v: int) -> bool:
        return v in self.readers or v in self.kept

    def _roots_read(self, step: int) -> frozenset[int]:
        """Whose bytes a step needs."""
        values, ignores = self.values, self.graph.nodes[step].op.ignores
        reads = enumerate(values.reads[step])
        return frozenset(values.root[v] for p, v in reads if p not in ignores)

    def _dependencies(self) -> tuple[list[int], list[list[int]]]:
        """How many steps each waits for, and which wait for it."""
        steps = {node: step for step, node in enumerate(self.graph.nodes)}
        after: list[list[int]] = [[] for _ in steps]
        before = [0] * len(steps)
        effect: int | None = None
        for node, step in steps.items():
            earlier = {steps[v.node] for v in node.inputs if v.node is not None}
            if node.op.effect:
                earlier |= set() if effect is None else {effect}
                effect = step
            before[step] = len(earlier)
            for s in earlier:
                after[s].append(step)
        return before, after
