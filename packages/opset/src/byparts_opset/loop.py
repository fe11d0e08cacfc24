"""A graph repeated as long as another says so: `lax.while_loop` of JAX, `Loop` of ONNX.

The number of rounds depends on data.  JAX refuses the gradient of such a loop; here it is taken
(`loop_gradient.py`) with a stack of the states of each round, or by computing them again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Literal, Optional

import byparts_opset as ops
from byparts_graph_ir import (
    Graph,
    Input,
    Loop,
    Node,
    Op,
    Sample,
    ShapeError,
    TensorType,
    Types,
    Value,
    body_for,
    body_inputs,
    graph_flops,
    result_types,
    unify,
)
from byparts_graph_ir.model.frozen import replace
from byparts_opset.bodies import (
    Function,
    check_condition,
    is_true,
    kept_types,
    narrowed,
    needed_states,
    read_inputs,
    retyped,
    run_round,
    taking,
    traced,
)
from byparts_opset.dtypes import Array
from byparts_opset.loop_gradient import Way, gradient_of_while


class While(Op):
    """`body` as long as `cond` holds, and at most `max_rounds` times.

        (states, invariants) -> (condition: bool[],)    cond, before each round
        (states, invariants) -> (new states)    body, once a round
        (states, invariants) -> (last states)    the op

    Attributes:
        cond: whether there is another round.
        body: what a round computes; it gives the states, which keep their types, but for
            dimensions that are unknown in the type of its own input: these may change each round.
            The inputs behind the states are invariants, the same in each round.
        max_rounds: after so many rounds the loop ends, whatever `cond` says.
        backward: how its gradient is taken: "stack" keeps the states of each round, in
            `max_rounds` planned places, or without a bound on a stack that doubles when it is full;
            "recompute" computes the states of each round from the first, in O(n^2), and keeps none.

    With 0 rounds the last states are the first.
    """

    cond: Graph
    body: Graph
    max_rounds: Optional[int] = None
    backward: Literal["stack", "recompute"] = "stack"

    def __post_init__(self) -> None:
        if self.max_rounds is not None and self.max_rounds < 0:
            raise ShapeError(f"while: max_rounds is {self.max_rounds}; at least 0, or None")
        if self.backward not in ("stack", "recompute"):
            raise ShapeError(f'while: backward is {self.backward!r}; "stack" or "recompute"')

    @property
    def states(self) -> int:
        """Number of inputs that are states."""
        return len(self.body.outputs)

    def infer(self, *types: TensorType) -> Types:
        if len(types) < self.states:
            raise ShapeError(f"while: {self.states} states, got {len(types)} inputs")
        check_condition(self, "what cond gives", result_types(self, self.cond, types))
        results = result_types(self, self.body, types)
        declared = [v.type for v in self.body.inputs]
        return kept_types(self, types[: self.states], results, declared)

    infer_unranked = infer

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        kept = [unify(x, y) for x, y in zip(inputs[: self.states], outputs, strict=True)]
        known = body_inputs(self, self.body, (*kept, *inputs[self.states :]))
        return body_inputs(self, self.cond, known)

    def evaluate(self, *inputs: Array) -> tuple[Array, ...]:
        states, invariants = list(inputs[: self.states]), inputs[self.states :]
        for k in count(1) if self.max_rounds is None else range(1, self.max_rounds + 1):
            if not is_true(run_round(self, "cond", self.cond, k, [*states, *invariants])[0]):
                break
            states = run_round(self, "body", self.body, k, [*states, *invariants])
        return tuple(states)

    def control(self, *types: TensorType) -> Loop:
        given = (*self.infer(*types), *types[self.states :])  # a state that grows has no shape yet
        cond, body = (body_for(self, body, given) for body in (self.cond, self.body))
        return Loop(body, self.states, cond=cond, rounds=self.max_rounds)

    def narrow(self, wanted: Sequence[int]) -> tuple[Op, tuple[int, ...], tuple[int, ...]]:
        asked = [i for i in read_inputs(self.cond) if i < self.states]
        needed = sorted({*wanted, *asked}) or [0]
        states = tuple(needed_states(self.body, self.states, needed))
        body = narrowed(self.body, states)
        inputs = tuple(sorted({*states, *read_inputs(body), *read_inputs(self.cond)}))
        op = replace(self, cond=taking(self.cond, inputs), body=taking(body, inputs))
        return op, inputs, states

    def covers(
        self, inputs: tuple[Value, ...], other: Op, given: tuple[Value, ...]
    ) -> tuple[int, ...] | None:
        """The outputs of `other`, if this is the same loop with further states (of a gradient)."""
        if not isinstance(other, While) or self.states < other.states:
            return None
        first, rest = range(other.states), range(self.states, len(inputs))
        taken = (*first, *rest)
        if tuple([inputs[i] for i in taken]) != given or self.max_rounds != other.max_rounds:
            return None
        cond, body = self.cond, narrowed(self.body, first)
        if not set(taken).issuperset((*read_inputs(cond), *read_inputs(body))):
            return None
        same = taking(body, taken) == narrowed(other.body, first)
        return tuple(first) if same and taking(cond, taken) == other.cond else None

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        """The first states, if the loop never runs; else the bodies on the types of the inputs."""
        test = self.cond.outputs[0].node
        if self.max_rounds == 0 or (test and isinstance(test.op, ops.Fill) and not test.op.value):
            return node.inputs[: self.states]
        types = [v.type for v in (*node.outputs, *node.inputs[self.states :])]
        return retyped(node, cond=types, body=types)

    def gradient(self, node: Node, *dys: Value) -> tuple[Value | None, ...]:
        """A loop through the rounds from the last to the first."""
        return gradient_of_while(node, dys)

    def flops(self, *types: TensorType) -> int:
        """The operations of `max_rounds` rounds; of one round, where there is no bound."""
        rounds = 1 if self.max_rounds is None else self.max_rounds
        bodies = [body_for(self, body, types) for body in (self.cond, self.body)]
        return rounds * sum(map(graph_flops, bodies))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for dtype, shape, low in (
            *(("f32", (3, 4), 0), ("f64", (2, 2), 1), ("f32", (), 0)),
            *(("f32", (0, 2), 0), ("f64", (3,), 5)),
        ):
            t = TensorType(dtype, shape)
            i = Input(TensorType("i32", ()), None, "i", "")
            x, w = (Input(t, None, "", "") for _ in range(2))
            test = Graph.of((i, x, w), (i < 4,))
            body = Graph.of((i, x, w), (i + 1, ops.tanh(x * w) + x))
            for backward in ("stack", "recompute"):
                types, ranges = (i.type, t, t), ((float(low), low + 1.0),)
                yield Sample(cls(test, body, 5, backward), types, ranges)


def while_loop(
    cond: Function,
    body: Function,
    states: Sequence[Value],
    invariants: Sequence[Value] = (),
    *,
    max_rounds: int | None = None,
    backward: Way = "stack",
) -> tuple[Value, ...]:
    """The states after `body` has been applied to them as long as `cond` holds.

        i, x = while_loop(lambda i, x, w: i < 5, lambda i, x, w: (i + 1, x @ w), (i, x), (w,))

    Args:
        cond: takes the states and the invariants, gives a bool[].
        body: takes the same, gives the new states.
        states: what changes from round to round, and keeps its type.
        invariants: what the two read and no round changes; never copied.
        max_rounds: after so many rounds the loop ends, whatever `cond` says.
        backward: how gradients are taken: from a stack of the states of each round, or by computing
            them again from the first, in O(n^2) and without memory.

    Raises:
        ArgumentError: a function reads a value that is none of these.
        ShapeError: a state changes its type, or `cond` gives no bool[]; says both types.
    """
    inputs = (*states, *invariants)
    types = [v.type for v in inputs]
    how = "pass it in, as in while_loop(cond, body, states, (w,))"
    test = traced("while_loop: cond", cond, types, how)
    graph = traced("while_loop: body", body, types, how)
    if len(graph.outputs) != len(states):
        raise ShapeError(
            f"while_loop: body returned {len(graph.outputs)} values for {len(states)} states"
        )
    return While(test, graph, max_rounds, backward).outputs_of(*inputs)
