"""The gradient of a while loop without a bound, which keeps the states of each round on a stack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Optional

import byparts_opset as ops
from byparts_graph_ir import (
    Graph,
    Input,
    Loop,
    Node,
    Op,
    ReversedLoop,
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
    check_condition,
    is_true,
    kept_types,
    narrowed,
    needed_states,
    read_inputs,
    retyped,
    run_round,
    taking,
)
from byparts_opset.dtypes import Array
from byparts_opset.loop_gradient import gradient_of_while, recomputed


class WhileGradient(Op):
    """A while loop, keeping states of each round; then `back` once for each round, last first.

        (states, invariants) -> (condition: bool[],)                  cond, before each round
        (states, invariants) -> (new states)                          body, once a round
        (carried, kept states, invariants) -> (new carried)           back, once a round, last first
        (states, carried, invariants) -> (last carried)               the op

    Attributes:
        cond: whether there is another round.
        body: what a round computes.
        back: what is computed for a round afterwards, from the kept states before that round.
        kept: positions of the states that `back` reads.
        max_rounds: after so many rounds the loop ends, whatever `cond` says.

    With 0 rounds the last carried values are the first.
    """

    cond: Graph
    body: Graph
    back: Graph
    kept: tuple[int, ...]
    max_rounds: Optional[int] = None

    def __post_init__(self) -> None:
        if not set(self.kept) <= set(range(self.states)):
            raise ShapeError(
                f"while_gradient: kept is {self.kept}; the body has {self.states} states"
            )

    @property
    def states(self) -> int:
        """Number of inputs that are states of the loop."""
        return len(self.body.outputs)

    @property
    def carried(self) -> int:
        """Number of inputs that are carried through the backward rounds."""
        return len(self.back.outputs)

    def infer(self, *types: TensorType) -> Types:
        first = self.states + self.carried
        if len(types) < first:
            raise ShapeError(f"while_gradient: takes at least {first} inputs, got {len(types)}")
        forward, backward = self._given(types), self._given_back(types)
        check_condition(self, "what cond gives", result_types(self, self.cond, forward))
        kept_types(self, types[: self.states], result_types(self, self.body, forward))
        return kept_types(self, types[self.states : first], result_types(self, self.back, backward))

    infer_unranked = infer

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        s, first = self.states, self.states + self.carried
        known = body_inputs(self, self.body, self._given(inputs))
        known = body_inputs(self, self.cond, known)
        carried = [unify(x, y) for x, y in zip(inputs[s:first], outputs, strict=True)]
        return (*known[:s], *carried, *known[s:])

    def evaluate(self, *inputs: Array) -> tuple[Array, ...]:
        s, first = self.states, self.states + self.carried
        states, carried, invariants = list(inputs[:s]), list(inputs[s:first]), inputs[first:]
        stack: list[list[Array]] = []
        for k in count(1) if self.max_rounds is None else range(1, self.max_rounds + 1):
            if not is_true(run_round(self, "cond", self.cond, k, [*states, *invariants])[0]):
                break
            stack.append([states[i] for i in self.kept])
            states = run_round(self, "body", self.body, k, [*states, *invariants])
        for k, kept in enumerate(reversed(stack), 1):
            carried = run_round(self, "back", self.back, k, [*carried, *kept, *invariants])
        return tuple(carried)

    def control(self, *types: TensorType) -> ReversedLoop:
        cond, body = (body_for(self, g, self._given(types)) for g in (self.cond, self.body))
        loop = Loop(body, self.states, cond=cond, rounds=self.max_rounds)
        return ReversedLoop(loop, body_for(self, self.back, self._given_back(types)), self.kept)

    def narrow(self, wanted: Sequence[int]) -> tuple[Op, tuple[int, ...], tuple[int, ...]]:
        s, c = self.states, self.carried
        outputs = needed_states(self.back, c, tuple(wanted) or (0,))
        back = narrowed(self.back, outputs)
        read = {*outputs, *read_inputs(back)}
        kept = [j for j in range(len(self.kept)) if c + j in read]
        asked = [i for i in read_inputs(self.cond) if i < s]
        needed = sorted({*asked, *[self.kept[j] for j in kept]}) or [0]
        states = needed_states(self.body, s, needed)
        body = narrowed(self.body, states)
        shift = c + len(self.kept) - s  # from an invariant of `body` to the same one of `back`
        rest = {i for g in (body, self.cond) for i in read_inputs(g) if i >= s}
        rest |= {i - shift for i in read if i >= c + len(self.kept)}
        invariants = sorted(rest)
        op = WhileGradient(
            taking(self.cond, (*states, *invariants)),
            taking(body, (*states, *invariants)),
            taking(back, (*outputs, *[c + j for j in kept], *[i + shift for i in invariants])),
            tuple([states.index(self.kept[j]) for j in kept]),
            self.max_rounds,
        )
        inputs = (*states, *[s + i for i in outputs], *[c + i for i in invariants])
        return op, inputs, tuple(outputs)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        """The op with its bodies on the types of the node's inputs."""
        types = tuple([v.type for v in node.inputs])
        forward, backward = self._given(types), self._given_back(types)
        return retyped(node, cond=forward, body=forward, back=backward)

    def gradient(self, node: Node, *dys: Value) -> tuple[Value | None, ...]:
        """The gradient of loops that compute the states of each round from the first states."""
        inputs = [Input(v.type, None, "", "") for v in node.inputs]
        again = Graph.of(inputs, recomputed(self, inputs, "stack"))
        call = Node(ops.Call(again), node.inputs, node.where)
        return call.op.gradient(call, *dys)

    def flops(self, *types: TensorType) -> int:
        """The operations of `max_rounds` rounds; of one round, where there is no bound."""
        rounds = 1 if self.max_rounds is None else self.max_rounds
        forward = [body_for(self, g, self._given(types)) for g in (self.cond, self.body)]
        back = body_for(self, self.back, self._given_back(types))
        return rounds * sum(map(graph_flops, (*forward, back)))

    def _given(self, types: Sequence[TensorType]) -> Types:
        """The types of the inputs of `cond` and `body`."""
        return (*types[: self.states], *types[self.states + self.carried :])

    def _given_back(self, types: Sequence[TensorType]) -> Types:
        """The types of the inputs of `back`."""
        first = self.states + self.carried
        return (*types[self.states : first], *[types[i] for i in self.kept], *types[first:])

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for sample in ops.While.samples():
            op = sample.op
            if isinstance(op, ops.While) and op.backward == "stack":
                inputs = [Input(t, None, "", "") for t in sample.types]
                loop = Node(ops.While(op.cond, op.body), tuple(inputs))
                dxs = gradient_of_while(loop, loop.outputs)
                (node,) = dict.fromkeys([dx.node for dx in dxs if dx is not None])
                assert node is not None
                assert isinstance(node.op, cls), "no bound, so the stack grows"
                bounded = replace(node.op, max_rounds=op.max_rounds)  # inputs may be any numbers
                yield Sample(bounded, tuple([v.type for v in node.inputs]), sample.ranges)
