"""Runs ops with bodies (calls, branches, loops) node by node with a backend's kernels.

This is the reference for the runtime: branches are chosen and rounds are counted on the host, and
nothing is planned.  Slow and simple on purpose.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from byparts_conformance.trial_memory import TrialMemory, arrays_of
from byparts_graph_ir import (
    Branches,
    Graph,
    Input,
    Loop,
    MissingRule,
    Node,
    ReversedLoop,
    TensorType,
    Value,
)
from byparts_opset.dtypes import numpy_dtype


class Interpreter:
    """Runs graphs with the kernels of a backend.

    Args:
        memory: allocates the arrays of all values.
    """

    def __init__(self, memory: TrialMemory) -> None:
        self.memory, self.backend = memory, memory.backend

    def run(self, graph: Graph, inputs: Sequence[Any]) -> list[Any]:
        """The outputs of a graph of static types.

        Raises:
            MissingRule: the backend has no kernel for a node that neither decomposes nor has
                bodies.
        """
        known: dict[Value, Any] = dict(zip(graph.inputs, inputs, strict=True))
        for node in graph.nodes:
            results = self._node(node, [known[v] for v in node.inputs])
            known.update(zip(node.outputs, results, strict=True))
        return [known[v] for v in graph.outputs]

    def _node(self, node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
        types = [v.type for v in node.inputs]
        if self.backend.supports(node.op):
            kernel = self.backend.compile(node.op, types)
            outputs = arrays_of(self.memory, [v.type for v in node.outputs])
            sizes = kernel.workspace_bytes, kernel.persistent_bytes
            kernel.bind(inputs, outputs, *map(self.memory.block, sizes))()
            return outputs
        fresh = [Input(v.type, None, "", "") for v in node.inputs]
        simpler = node.op.decompose(*fresh)
        if simpler is not None:
            return self.run(Graph.of(fresh, simpler), inputs)
        control = node.op.control(*types)
        if control is None:
            raise MissingRule(f"no kernel for {type(node.op).__name__}")
        if isinstance(control, Branches):
            return self._branches(control, inputs)
        if isinstance(control, ReversedLoop):
            return self._reversed(control, inputs)
        return self._loop(control, node, inputs)

    def _branches(self, control: Branches, inputs: Sequence[Any]) -> Sequence[Any]:
        which = 0
        if len(control.bodies) > 1:
            which, inputs = int(self._is_true(inputs[0])), inputs[1:]
        return self.run(control.bodies[which], inputs)

    def _loop(self, loop: Loop, node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
        s, q = loop.states, loop.states + loop.sequences
        states, invariants, k = list(inputs[:s]), inputs[q:], 0
        given = zip(inputs[s:q], node.inputs[s:q], strict=True)
        whole = [self.memory.fetch(x, v.type) for x, v in given]
        rows: dict[int, list[Any]] = {}
        types = [v.type for v in loop.body.outputs[s:]]
        while k != loop.rounds and (loop.cond is None or self._goes_on(loop.cond, states, inputs)):
            i = loop.rounds - 1 - k if loop.reverse and loop.rounds else k
            slots = [v.type for v in loop.body.inputs[s:q]]
            slices = [self.memory.place(x[i], t) for x, t in zip(whole, slots, strict=True)]
            made = self.run(loop.body, [*states, *slices, *invariants])
            states = made[:s]
            rows[i] = [self.memory.fetch(y, t) for y, t in zip(made[s:], types, strict=True)]
            k += 1
        stacks = []
        for j, v in enumerate(node.outputs[s:]):
            none = np.zeros(v.type.dims, numpy_dtype(v.type.dtype))
            stack = np.stack([rows[i][j] for i in range(k)]) if k else none
            stacks.append(self.memory.place(stack, v.type))
        return [*states, *stacks]

    def _reversed(self, control: ReversedLoop, inputs: Sequence[Any]) -> Sequence[Any]:
        loop, s, first = control.loop, control.loop.states, control.loop.states
        first += len(control.back.outputs)
        states, carried, invariants = list(inputs[:s]), list(inputs[s:first]), inputs[first:]
        kept: list[list[Any]] = []
        assert loop.cond is not None, "its number of rounds depends on data"
        while len(kept) != loop.rounds and self._goes_on(loop.cond, states, (*states, *invariants)):
            kept.append([states[i] for i in control.kept])
            states = self.run(loop.body, [*states, *invariants])
        for given in reversed(kept):
            carried = self.run(control.back, [*carried, *given, *invariants])
        return carried

    def _goes_on(self, cond: Graph, states: Sequence[Any], inputs: Sequence[Any]) -> bool:
        return self._is_true(self.run(cond, [*states, *inputs[len(states) :]])[0])

    def _is_true(self, answer: Any) -> bool:
        return bool(self.memory.fetch(answer, _BOOL).item())


_BOOL = TensorType("bool", ())
