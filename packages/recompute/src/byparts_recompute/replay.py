"""Build the graph of a sequence of steps: each run of a step is a node of its own.

A pass that merges equal nodes would merge the second run of a step with the first.  So an input of
the second run goes through an `OptimizationBarrier`, which also keeps the run from moving forward.
Views are made where they are first read, and made again of a value that was computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Optional

from byparts_graph_ir import Graph, Node, OptimizationBarrier, Value
from byparts_memplan.buffer import PlanError
from byparts_memplan.steps import Steps


def replay(steps: Steps, sequence: Sequence[int], *, barriers: bool = True) -> Graph:
    """The graph with one node for each run of the sequence, in this order.

    Each run reads the latest computation of its inputs.  Runs with the inputs of the original node
    are that node itself.  Without `barriers`, passes that merge or reorder nodes may undo the
    recomputation.  O(length of the sequence).

    Raises:
        PlanError: a step is missing, comes before what it reads, or must not come again.
    """
    return _replayed(steps, sequence, barriers)[0]


def runs(steps: Steps, sequence: Sequence[int]) -> tuple[Graph, list[Node]]:
    """The graph without barriers, and for each position of the sequence its node."""
    return _replayed(steps, sequence, barriers=False)


def _replayed(steps: Steps, sequence: Sequence[int], barriers: bool) -> tuple[Graph, list[Node]]:
    builder, nodes = _Builder(steps, barriers), list[Node]()
    for position, s in enumerate(sequence):
        builder.run(s, position)
        nodes.append(builder.latest[s])
    missing = [s for s in range(len(steps.nodes)) if s not in builder.latest]
    if missing:
        raise PlanError(f"step {missing[0]} ({steps.nodes[missing[0]].op.name}) is never run")
    outputs = tuple(builder.latest_value(v) for v in steps.graph.outputs)
    return Graph(steps.graph.inputs, tuple(builder.nodes), outputs), nodes


class _Builder:
    def __init__(self, steps: Steps, barriers: bool) -> None:
        self.steps, self.barriers = steps, barriers
        self.nodes: list[Node] = []
        self.current: dict[Value, Value] = {v: v for v in steps.graph.inputs}
        self.latest: dict[int, Node] = {}  # step -> the node of its latest run
        self.computed = set(steps.nodes)  # all others are views
        self.early = self._ignored_views()
        self._make_early(None)

    def run(self, s: int, position: int) -> None:
        """Add a node for one run of step `s`."""
        node, last = self.steps.nodes[s], self.latest.get(s)
        if last is not None and not self.steps.again[s]:
            raise PlanError(f"position {position}: step {s} ({node.op.name}) must run only once")
        try:
            inputs = tuple(
                self.current[v]
                if p in node.op.ignores and v in self.current
                else self.latest_value(v)
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

    def _ignored_views(self) -> dict[Optional[Node], list[Value]]:
        """Views that some node takes as an input without reading it, by the node of their bytes.

        They are made right after that node: made where they are taken, they would keep the bytes
        alive until then.
        """
        views: dict[Optional[Node], list[Value]] = {}
        values, graph = self.steps.values, self.steps.graph
        for node in graph.nodes:
            for p in node.op.ignores:
                v = node.inputs[p] if p < len(node.inputs) else None
                if v is not None and v.node is not None and v.node not in self.computed:
                    root = graph.values[values.root[graph.ids[v]]]
                    views.setdefault(root.node, []).append(v)
        return views

    def _make_early(self, node: Optional[Node]) -> None:
        for v in self.early.get(node, ()):
            with suppress(KeyError):  # another input of the view is not computed yet
                self.latest_value(v)

    def latest_value(self, value: Value) -> Value:
        """The latest computation of a value; a view is made again where its input was."""
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
        view = self.current.get(node.outputs[0])
        if view is not None and view.node is not None and view.node.inputs == inputs:
            return
        new = node if inputs == node.inputs else Node(node.op, inputs, node.where)
        self.nodes.append(new)
        self.current.update(zip(node.outputs, new.outputs, strict=True))

    def _behind_barrier(self, node: Node, inputs: tuple[Value, ...]) -> tuple[Value, ...]:
        """Put the first input that is read behind a barrier.

        One is enough: a node with another input is not equal to the first run.
        """
        before = next((n for n in reversed(self.nodes) if n.outputs), None)
        read = next((p for p in range(len(inputs)) if p not in node.op.ignores), None)
        if before is None or read is None:
            return inputs
        barrier = Node(OptimizationBarrier(), (inputs[read], before.outputs[0]), node.where)
        self.nodes.append(barrier)
        return (*inputs[:read], barrier.outputs[0], *inputs[read + 1 :])
