"""Programs in stages: an op whose output shapes depend on data ends a stage.

    stage 1: the nodes before that op -> run the op -> stage 2: the nodes after it

The shapes that come out of the op are types of feeds of the next stage, so an executor specialises
the next stage on them and keeps it by them.  A loop whose state grows runs the same way: its bodies
are programs, one for each shape.  Variables are written by the last stage, when all others have
succeeded; they are locked from the first stage on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from byparts_graph_ir import Graph, Input, Loop, Node, TensorType, Value, add_note
from byparts_graph_ir.model.cached_property import cached_property
from byparts_graph_ir.model.frozen import Frozen
from byparts_runtime.memory.variable import Variable
from byparts_runtime.run.locks import lock_of

if TYPE_CHECKING:
    from byparts_runtime.run.executor import Executor


def first_unknown(graph: Graph) -> Optional[Node]:
    """The first node whose output types are not static, where all inputs are; or `None`."""
    if not all(v.type.static for v in graph.inputs):
        return None  # an error of the caller, which `build` reports
    return next((n for n in graph.nodes if not all(v.type.static for v in n.outputs)), None)


class Staged(Frozen):
    """A graph that runs in stages; it is called with the feeds, as a program is.

    Attributes:
        executor: runs the stages and keeps their programs.
        graph: its inputs are the feeds, then the variables.
        node: the op that ends the first stage.
        variables: the values of the last inputs, in order.
        updates: the variables that the last outputs are written to.
        limits: keywords of the executor: `budget_bytes`, `max_extra_cost`.
    """

    executor: Executor
    graph: Graph
    node: Node
    variables: tuple[Variable, ...]
    updates: tuple[Variable, ...]
    limits: Mapping[str, Any]

    def __call__(self, *feeds: Any) -> tuple[Any, ...]:
        """Run all stages; the fetches.

        Raises:
            Exception: what a stage raised; no variable has changed.
        """
        used = dict.fromkeys((*self.variables, *self.updates))
        with lock_of(tuple(used)) if used else nullcontext():
            return self._run(feeds)

    def _run(self, feeds: Sequence[Any]) -> tuple[Any, ...]:
        node, first = self.node, self._first
        known = dict(zip(first.outputs, self._stage(first, feeds, ()), strict=True))
        results = run_node(self.executor, node, [known[v] for v in node.inputs])
        known.update(zip(node.outputs, results, strict=True))
        types = {v: _type_of(v, x) for v, x in known.items() if v.node}
        rest = self._rest(tuple(types.items()))
        return self._stage(rest, (*feeds, *[known[v] for v in types]), self.updates)

    @cached_property
    def _first(self) -> Graph:
        """The first stage: gives what the node and the nodes after it read."""
        graph, node = self.graph, self.node
        at = graph.nodes.index(node)
        before, behind = graph.nodes[:at], graph.nodes[at + 1 :]
        read = (*node.inputs, *[v for n in behind for v in n.inputs], *graph.outputs)
        available = {v for n in before for v in n.outputs} | (set(node.inputs) & set(graph.inputs))
        kept = [v for v in dict.fromkeys(read) if v in available]
        return Graph.of(graph.inputs, kept, order=[v for n in before for v in n.outputs])

    @cached_property
    def _rest(self) -> Callable[[tuple[tuple[Value, TensorType], ...]], Graph]:
        """The second stage, from the values that it is given and their types.

        Kept for as many types as the executor keeps programs, least recently used first out.
        """
        graph, variables = self.graph, len(self.variables)
        behind = graph.nodes[graph.nodes.index(self.node) + 1 :]

        @lru_cache(maxsize=self.executor.capacity)
        def rest(types: tuple[tuple[Value, TensorType], ...]) -> Graph:
            return _with_inputs(graph, behind, dict(types), variables)

        return rest

    def _stage(
        self, graph: Graph, feeds: Sequence[Any], updates: Sequence[Variable]
    ) -> tuple[Any, ...]:
        inputs = graph.inputs[len(graph.inputs) - len(self.variables) :]
        bound = dict(zip(inputs, self.variables, strict=True))
        run = self.executor
        return run(graph, *feeds, variables=bound, updates=updates, **self.limits)


def run_node(executor: Executor, node: Node, arrays: Sequence[Any]) -> Sequence[Any]:
    """The outputs of one node, whose shapes depend on data.

    A loop runs with a program of the executor for each shape of its states; any other op is
    evaluated on the host.
    """
    op = node.op
    loop = op.control(*[v.type for v in node.inputs])
    if not (isinstance(loop, Loop) and loop.cond is not None):
        return op.evaluate(*arrays)
    states, invariants = list(arrays[: loop.states]), arrays[loop.states :]
    k, name = 0, "cond"
    try:
        while k != loop.rounds:
            k, name = k + 1, "cond"
            if not np.asarray(executor(loop.cond, *states, *invariants)[0]).item():
                break
            name = "body"
            states = list(executor(loop.body, *states, *invariants))
    except BaseException as error:
        add_note(error, f"in {name} of {op.name}, round {k}")
        raise
    return states


def _with_inputs(
    graph: Graph, nodes: Sequence[Node], types: Mapping[Value, TensorType], variables: int
) -> Graph:
    """The last nodes of a graph, with further feeds for the values that they are given."""
    further = {v: Input(t, None, "", "") for v, t in types.items()}
    env: dict[Value, Value] = {v: v for v in graph.inputs}
    env.update(further)
    for old in nodes:
        node = Node(old.op, tuple([env[v] for v in old.inputs]), old.where)
        env.update(zip(old.outputs, node.outputs, strict=True))
    feeds, last = len(graph.inputs) - variables, graph.inputs
    inputs = (*last[:feeds], *further.values(), *last[feeds:])
    return Graph.of(inputs, [env[v] for v in graph.outputs], order=env.values())


def _type_of(v: Value, array: Any) -> TensorType:
    return TensorType(v.type.dtype, tuple(np.shape(array)))
