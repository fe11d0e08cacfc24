"""A sequence of steps as a graph: a step that comes again is a node of its own.

A second computation of the same thing would be merged with the first by the first pass that merges
equal nodes, so its inputs come through an `OptimizationBarrier`, which also keeps it from running
early.  Views are made where they are first needed, and again of what was computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Optional

from byparts_graph_ir import Graph, Node, OptimizationBarrier, Value
from byparts_memplan.buffer import PlanError
from byparts_memplan.steps import Steps


def replay(steps: Steps, sequence: Sequence[int], *, barriers: bool = True) -> Graph:
    """The graph whose nodes are the steps of the sequence, in this order, each as often as it says.

    Whoever reads a value reads its latest computation.  Nodes that come once are those of the old
    graph where their inputs are.  Without `barriers`, merging or reordering may undo it all: only
    for who does neither afterwards.  O(length of the sequence).

    Raises:
        PlanError: a step is missing, comes before what it reads, or must not come again.
    """
    return _replayed(steps, sequence, barriers)[0]


def runs(steps: Steps, sequence: Sequence[int]) -> tuple[Graph, list[Node]]:
    """The graph without barriers, and by position of the sequence the node that it became."""
    return _replayed(steps, sequence, barriers=False)


def _replayed(steps: Steps, sequence: Sequence[int], barriers: bool) -> tuple[Graph, list[Node]]:
    made, nodes = _Replay(steps, barriers), list[Node]()
    for position, s in enumerate(sequence):
        made.run(s, position)
        nodes.append(made.latest[s])
    missing = [s for s in range(len(steps.nodes)) if s not in made.latest]
    if missing:
        raise PlanError(f"step {missing[0]} ({steps.nodes[missing[0]].op.name}) is never run")
    outputs = tuple(made.now(v) for v in steps.graph.outputs)
    return Graph(steps.graph.inputs, tuple(made.nodes), outputs), nodes


class _Replay:
    def __init__(self, steps: Steps, barriers: bool) -> None:
        self.steps, self.barriers = steps, barriers
        self.nodes: list[Node] = []
        self.current: dict[Value, Value] = {v: v for v in steps.graph.inputs}
        self.latest: dict[int, Node] = {}  # step -> its last computation
        self.computed = set(steps.nodes)
        self.early = self._views_of_ignored()
        self._make_early(None)

    def run(self, s: int, position: int) -> None:
        """Add one computation of step `s`."""
        node, last = self.steps.nodes[s], self.latest.get(s)
        if last is not None and not self.steps.again[s]:
            raise PlanError(f"position {position}: step {s} ({node.op.name}) must run only once")
        try:
            inputs = tuple(
                self.current[v] if p in node.op.ignores and v in self.current else self.now(v)
                for p, v in enumerate(node.inputs)
            )
        except KeyError as error:
            raise PlanError(
                f"position {position}: step {s} ({node.op.name}) reads what is not computed yet"
            ) from error
        if last is None and inputs == node.inputs:
            new = node
        else:
            if last is not None and inputs == last.inputs and self.barriers:
                inputs = self._behind_barrier(node, inputs)
            new = Node(node.op, inputs, node.where)
        self.latest[s] = new
        self.nodes.append(new)
        self.current.update(zip(node.outputs, new.outputs, strict=True))
        if last is None:
            self._make_early(node)

    def _views_of_ignored(self) -> dict[Optional[Node], list[Value]]:
        """By the node that computes their bytes: views that someone takes but does not read.

        Made where they are taken they would keep the bytes alive until then, for nothing.
        """
        found: dict[Optional[Node], list[Value]] = {}
        values, graph = self.steps.values, self.steps.graph
        for node in graph.nodes:
            for p in node.op.ignores:
                v = node.inputs[p] if p < len(node.inputs) else None
                if v is not None and v.node is not None and v.node not in self.computed:
                    root = graph.values[values.root[graph.ids[v]]]
                    found.setdefault(root.node, []).append(v)
        return found

    def _make_early(self, node: Optional[Node]) -> None:
        for v in self.early.get(node, ()):
            with suppress(KeyError):  # it looks at something else besides, which is not there yet
                self.now(v)

    def now(self, value: Value) -> Value:
        """The latest computation of a value; of a view, that of what it looks at."""
        todo = [(value, False)]
        while todo:  # a chain of views may be longer than Python's stack
            v, ready = todo.pop()
            node = v.node
            if node is None or node in self.computed:
                continue
            if ready:
                self._view(node)
            else:
                todo.append((v, True))
                ignored = [node.inputs[p] for p in node.op.ignores if p < len(node.inputs)]
                todo += [
                    (i, False) for i in node.inputs if i not in ignored or i not in self.current
                ]
        return self.current[value]

    def _view(self, node: Node) -> None:
        inputs = tuple(self.current[v] for v in node.inputs)
        made = self.current.get(node.outputs[0])
        if made is not None and made.node is not None and made.node.inputs == inputs:
            return
        new = node if inputs == node.inputs else Node(node.op, inputs, node.where)
        self.nodes.append(new)
        self.current.update(zip(node.outputs, new.outputs, strict=True))

    def _behind_barrier(self, node: Node, inputs: tuple[Value, ...]) -> tuple[Value, ...]:
        """One input is enough: what reads another value is another expression."""
        before = next((n for n in reversed(self.nodes) if n.outputs), None)
        read = next((p for p in range(len(inputs)) if p not in node.op.ignores), None)
        if before is None or read is None:
            return inputs
        barrier = Node(OptimizationBarrier(), (inputs[read], before.outputs[0]), node.where)
        self.nodes.append(barrier)
        return (*inputs[:read], barrier.outputs[0], *inputs[read + 1 :])
