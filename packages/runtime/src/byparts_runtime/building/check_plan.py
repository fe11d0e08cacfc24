"""Checks a plan by running it on symbolic memory: who wrote each byte last?

Whoever wrote the planner, each read of a run must find the bytes of its value.  Memory is a sorted
list of pieces, each with bytes of one value, so a step costs a search for each value it touches:
30 us of the 430 that a node of a long chain takes to build.  (memplan has an oracle of its own,
slow, which also checks what a plan says about itself.)  A wheel for devices is without this file.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, Optional

from byparts_graph_ir import GraphError, Node, Op, Value
from byparts_runtime.building.planned_graph import PlannedGraph

Pairs = Sequence[tuple[int, int]]  # (position among the inputs, value)
_Sorted = tuple[list[int], list[int], list[tuple[int, int, int, int]]]  # starts, ends so far, rows
Content = tuple[int, int]  # (value that was written, first byte of it); ~step: its workspace


def check_run(
    planned: PlannedGraph,
    donate: Optional[Mapping[int, int]] = None,
    fetches: int = 0,
    updates: int = 0,
) -> None:
    """Refuse a plan with which a node or the caller would read bytes of another value.

    The first `fetches` outputs are read before the last `updates` nodes run, which are the commit.

    Raises:
        GraphError: names the node, and the two values.
    """
    _Run(planned, donate or {}).check(fetches, updates)


class _Room:
    """Memory: where pieces begin, ascending; where each ends, and what it holds."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.pieces: list[tuple[int, Content]] = []

    def write(self, lower: int, upper: int, content: Content) -> None:
        """Put the content of a value or a workspace in the place of what is there."""
        starts, pieces = self.starts, self.pieces
        first, last = self._span(lower, upper)
        begins, new = [lower], [(upper, content)]
        if first < last:
            (begin, (_, old)), (end, rest) = (starts[first], pieces[first]), pieces[last - 1]
            if begin < lower:
                begins.insert(0, begin)
                new.insert(0, (lower, old))
            if end > upper:
                begins.append(upper)
                new.append((end, (rest[0], rest[1] + upper - starts[last - 1])))
        starts[first:last], pieces[first:last] = begins, new

    def other(self, lower: int, upper: int, content: Content) -> Optional[int]:
        """Content of these bytes that differs from `content`: a value, ~step of a workspace."""
        first, last = self._span(lower, upper)
        held = 0
        for i in range(first, last):
            start, (end, piece) = self.starts[i], self.pieces[i]
            if piece[0] != content[0] or piece[1] - start != content[1] - lower:
                return piece[0]
            held += min(end, upper) - max(start, lower)
        return None if held == upper - lower else content[0]

    def _span(self, lower: int, upper: int) -> tuple[int, int]:
        """The pieces that share bytes with a range, half-open."""
        first = bisect_right(self.starts, lower) - 1
        if first < 0 or self.pieces[first][0] <= lower:
            first += 1
        return first, bisect_left(self.starts, upper, first)


class _Run:
    """A run on symbolic memory.

    Attributes:
        rooms: by value, the memory that it is in.
        ranges: likewise its bytes there.
        contents: by value, what a reader must find.
    """

    def __init__(self, planned: PlannedGraph, donate: Mapping[int, int]) -> None:
        self.planned, self.donate = planned, donate
        self.graph, self.plan, self.kernels = planned.graph, planned.plan, planned.kernels
        self.ids, graph = planned.graph.ids, planned.graph
        self.memory: dict[tuple[Optional[int], str], _Room] = {}
        places, alone = self.plan.locations, planned.space is None
        self.rooms = [self._room(p.root, "" if alone else p.space) for p in places]
        ends = [p.offset + v.type.size_bytes for p, v in zip(places, graph.values, strict=True)]
        self.ranges = [(p.offset, end) for p, end in zip(places, ends, strict=True)]
        self.contents: dict[int, Content] = {}

    def check(self, fetches: int, updates: int) -> None:
        outputs, commit = self.graph.outputs, len(self.graph.nodes) - updates
        early = {j for j, v in enumerate(outputs) if updates and (j < fetches or v.node is None)}
        inputs = range(len(self.graph.inputs))
        for i in inputs:
            self._write(i)
        for i in inputs:
            self._read(i, "a feed")
        for step, node in enumerate(self.graph.nodes):
            if step == commit:
                self._read_all([outputs[j] for j in early])
            self._step(step, node)
        self._read_all([v for j, v in enumerate(outputs) if j not in early])
        for k in self.planned.external:  # what was offered has its new value, or else the old one
            new = self.ids[outputs[self.donate[k]]] if k in self.donate else k
            self._read(new if self.plan.locations[new].root == k else k, "the next run")

    def _read_all(self, outputs: Iterable[Value]) -> None:
        for v in outputs:
            self._read(self.ids[v], "the caller")

    def _step(self, step: int, node: Node) -> None:
        ids, who = self.ids, f"node {step} ({node.op.name})"
        kernel = None if self.kernels is None else self.kernels(node)
        read = [(p, ids[v]) for p, v in enumerate(node.inputs) if p not in node.op.ignores]
        outputs = [ids[v] for v in node.outputs]
        for _, x in read:
            self._read(x, who)
        if kernel is not None and kernel.workspace_bytes:
            space, start, end = self.planned.workspace(step, kernel.workspace_bytes)
            self._room(None, space).write(start, end, (~step, 0))
            for _, x in read:
                self._read(x, f"{who}, beside its workspace,")
        views, facts = self._views(node), node.op if kernel is None else kernel
        others = self._by_start(read)
        for o, y in enumerate(outputs):
            if o in views:
                self.contents[y] = views[o]
            else:
                self._check_over(node, others, o, facts, who)
                self._write(y)
        for y in outputs if len(outputs) > 1 or views else ():
            self._read(y, f"{who}, having written its outputs,")

    def _views(self, node: Node) -> dict[int, Content]:
        """The outputs that lie where the op says that their bytes are those of an input."""
        if type(node.op).views is Op.views:
            return {}
        views = {}
        for p, o, offset in node.op.views(*[v.type for v in node.inputs]):
            x, y = self.ids[node.inputs[p]], self.ids[node.outputs[o]]
            same = self.ranges[y][0] == self.ranges[x][0] + offset
            if same and self.rooms[x] is self.rooms[y]:
                views[o] = (self.contents[x][0], self.contents[x][1] + offset)
        return views

    def _by_start(self, read: Pairs) -> _Sorted:
        """The inputs of a node that have bytes, by where they begin, with the ends so far."""
        ranges = self.ranges
        pairs = [(*ranges[x], p, x) for p, x in read if ranges[x][0] < ranges[x][1]]
        pairs.sort()
        return [row[0] for row in pairs], [*accumulate([row[1] for row in pairs], max)], pairs

    def _check_over(self, node: Node, inputs: _Sorted, o: int, facts: Any, who: str) -> None:
        """Refuse an output over an input where the kernel does not allow it, or over a variable."""
        y = self.ids[node.outputs[o]]
        (lower, upper), room = self.ranges[y], self.rooms[y]
        root = self.plan.locations[y].root
        if root is not None and root not in self.donate:
            raise GraphError(f"plan: {who} writes value {y} over input {root}, which is external")
        starts, ends, rows = inputs
        if lower == upper:
            return
        # An update of all weights has hundreds of inputs and outputs: only those near are compared.
        for start, end, p, x in rows[bisect_right(ends, lower) : bisect_left(starts, upper)]:
            if end <= lower or room is not self.rooms[x]:
                continue
            same = start == lower and node.inputs[p].type == node.outputs[o].type
            if not (same and (p, o) in facts.inplace):
                raise GraphError(
                    f"plan: {who} writes value {y} over its input, value {x}, which its kernel "
                    "does not allow"
                )

    def _write(self, i: int) -> None:
        self.contents[i] = (i, 0)
        lower, upper = self.ranges[i]
        if lower < upper:
            self.rooms[i].write(lower, upper, (i, 0))

    def _read(self, i: int, who: str) -> None:
        lower, upper = self.ranges[i]
        if lower == upper:
            return
        other = self.rooms[i].other(lower, upper, self.contents[i])
        if other is not None:
            held = f"value {other}" if other >= 0 else f"the workspace of node {~other}"
            raise GraphError(
                f"plan: {who} reads value {i} at [{lower}, {upper}), where {held} is: "
                "the planner gives bytes to two that are alive together"
            )

    def _room(self, root: Optional[int], space: str) -> _Room:
        room = self.memory.get((root, space))
        if room is None:
            room = self.memory[root, space] = _Room()
        return room
