"""A graph repeated as long as another says so: `lax.while_loop` of JAX, `Loop` of ONNX.

The number of rounds depends on data, so what the reverse keeps has no size that is known before;
JAX refuses the gradient of such a loop.  Here it is taken in one of two ways, as the loop says:

- "stack": the loop runs again and writes the state at the beginning of each round on a stack of
  `max_rounds` places, in place; the reverse reads them from the top.  `max_rounds` * (bytes of the
  states) are kept.  (That the loop runs twice forwards, `share` of byparts-optimize undoes.)
- "recompute": the reverse computes the state of each round from the first one.  Nothing is kept,
  and n rounds take n * (n - 1) / 2 more.

States that the reverse of the body does not read are not kept.
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
    inline,
    result_types,
    unify,
)
from byparts_graph_ir.lazy_dataclass import dataclass, replace
from byparts_opset.bodies import (
    Function,
    check_condition,
    is_float,
    is_true,
    kept_types,
    narrowed,
    needed_states,
    pull_back,
    read_inputs,
    retyped,
    run_round,
    taking,
    traced,
)
from byparts_opset.composite import is_zero
from byparts_opset.dtypes import Array

COUNTER = TensorType("i64", ())


@dataclass(frozen=True)
class While(Op):
    """`body` as long as `cond` holds, and at most `max_rounds` times.

        (states, invariants) -> (condition: bool[],)    cond, before each round
        (states, invariants) -> (new states)    body, once a round
        (states, invariants) -> (last states)    the op

    Attributes:
        cond: whether there is another round.
        body: what a round computes; it gives the states, which keep their types.  The inputs after
            so many are invariants, the same in each round.
        max_rounds: after so many rounds the loop ends, whatever `cond` says.
        backward: how its gradient is taken (see the module): "stack" needs `max_rounds`.

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
        """How many of the inputs are states."""
        return len(self.body.outputs)

    def infer(self, *types: TensorType) -> Types:
        if len(types) < self.states:
            raise ShapeError(f"while: {self.states} states, got {len(types)} inputs")
        check_condition(self, "what cond gives", result_types(self, self.cond, types))
        results = result_types(self, self.body, types)
        return kept_types(self, types[: self.states], results)

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
        cond, body = (body_for(self, body, types) for body in (self.cond, self.body))
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
        """It does if it is the same loop with further states, as a gradient makes it."""
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
        """Nothing where it never runs; else graphs on the types that the inputs have got."""
        test = self.cond.outputs[0].node
        if self.max_rounds == 0 or (test and isinstance(test.op, ops.Fill) and not test.op.value):
            return node.inputs[: self.states]
        types = [v.type for v in node.inputs]
        new = retyped(node, cond=(self.cond, types), body=(self.body, types))
        return Node(replace(self, **new), node.inputs, node.where).outputs if new else None

    def gradient(self, node: Node, *dys: Value) -> tuple[Value | None, ...]:
        """A loop that goes through the rounds from the last to the first."""
        if self.backward == "stack" and self.max_rounds is None:
            raise NotImplementedError(
                "while: its gradient keeps the states of each round on a stack, whose size must be "
                'known: give max_rounds=..., or backward="recompute" (no memory, n^2 / 2 rounds)'
            )
        return _Reverse(self, node).gradients(dys)

    def flops(self, *types: TensorType) -> int:
        """Those of `max_rounds` rounds, or of one where that is not said."""
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


class _Reverse:
    """The reverse of one loop: what its parts have in common."""

    def __init__(self, op: While, node: Node) -> None:
        self.op, self.node, self.s = op, node, op.states
        types = [v.type for v in node.inputs]
        self.cond, self.body = (body_for(op, body, types) for body in (op.cond, op.body))
        floats = [i for i, v in enumerate(self.body.inputs) if is_float(v)]
        self.moving = [i for i in floats if i < self.s]
        self.back = pull_back(self.body, self.moving, floats)
        self.dxs = dict(zip(floats, self.back.outputs, strict=True))
        self.shared = [i for i in floats if i >= self.s and not is_zero(self.dxs[i])]
        read = [i for i in read_inputs(self.back) if i < len(self.body.inputs)]
        self.visited = [i for i in read if i < self.s]

    def gradients(self, dys: Sequence[Value]) -> tuple[Value | None, ...]:
        """Of each input of the loop."""
        rounds, kept = self._forward_again()
        j = Input(COUNTER, None, "rounds_left", "")
        moving = [Input(self.body.inputs[i].type, None, f"dy{i}", "") for i in self.moving]
        sums = [Input(self.body.inputs[i].type, None, f"sum{i}", "") for i in self.shared]
        invariants = [*kept, *self.node.inputs[self.s :]]
        inside = [Input(v.type, None, "", "") for v in invariants]
        inputs = (j, *moving, *sums, *inside)
        left = j - 1
        states = self._states(left, inside)
        given = [*states, *inside[len(kept) :], *moving]
        found = dict(zip(self.dxs, inline(self.back, given), strict=True))
        totals = [total + found[i] for total, i in zip(sums, self.shared, strict=True)]
        body = Graph.of(inputs, (left, *[found[i] for i in self.moving], *totals))
        op = replace(self.op, cond=Graph.of(inputs, (j > 0,)), body=body)
        zeros = [ops.zeros_like(self.node.inputs[i]) for i in self.shared]
        start = (rounds, *[dys[i] for i in self.moving], *zeros)
        outputs = op.outputs_of(*start, *invariants)
        placed = dict(zip((*self.moving, *self.shared), outputs[1:], strict=True))
        return tuple([placed.get(i) for i in range(len(self.node.inputs))])

    def _forward_again(self) -> tuple[Value, list[Value]]:
        """The number of rounds, and what the reverse reads of the states: stacks, or the start."""
        stacked = self.visited if self.op.backward == "stack" else []
        i = Input(COUNTER, None, "round", "")
        places = [_stack_type(self.body.inputs[k].type, self.op.max_rounds) for k in stacked]
        stacks = [Input(t, None, f"stack{k}", "") for k, t in zip(stacked, places, strict=True)]
        written = [
            ops.scatter(stack, ops.reshape(i, (1,)), ops.expand_dims(self.body.inputs[k], 0))
            for k, stack in zip(stacked, stacks, strict=True)
        ]
        more = (i, *stacks)
        cond = Graph(_between(self.cond, self.s, more), self.cond.nodes, self.cond.outputs)
        results = (*self.body.outputs, i + 1, *written)
        body = Graph.of(_between(self.body, self.s, more), results)
        states, invariants = self.node.inputs[: self.s], self.node.inputs[self.s :]
        empty = [_empty_stack(states[k], self.op.max_rounds) for k in stacked]
        zero = ops.fill(0, COUNTER.dtype)
        op = replace(self.op, cond=cond, body=body)
        outputs = op.outputs_of(*states, zero, *empty, *invariants)[self.s :]
        return outputs[0], list(outputs[1:] if self.op.backward == "stack" else states)

    def _states(self, left: Value, inside: Sequence[Value]) -> list[Value]:
        """The states after `left` rounds; of those that nobody reads, anything of their type."""
        if self.op.backward == "stack":
            read = dict(zip(self.visited, inside, strict=False))
            types = [v.type for v in self.body.inputs[: self.s]]
            unread = [Input(t) for t in types]
            return [ops.gather(read[k], left, 0) if k in read else unread[k] for k in range(self.s)]
        if not self.visited:
            return list(inside[: self.s])
        i, end = (Input(COUNTER, None, name, "") for name in ("round", "end"))
        states, rest = self.body.inputs[: self.s], self.body.inputs[self.s :]
        inputs = (*states, i, end, *rest)
        body = Graph.of(inputs, (*self.body.outputs, i + 1))
        op = replace(self.op, cond=Graph.of(inputs, (i < end,)), body=body)
        zero = ops.fill(0, COUNTER.dtype)
        return list(op.outputs_of(*inside[: self.s], zero, left, *inside[self.s :])[: self.s])


def while_loop(
    cond: Function,
    body: Function,
    states: Sequence[Value],
    invariants: Sequence[Value] = (),
    *,
    max_rounds: int | None = None,
    backward: Literal["stack", "recompute"] = "stack",
) -> tuple[Value, ...]:
    """The states after `body` has been applied to them as long as `cond` holds.

        i, x = while_loop(lambda i, x, w: i < 5, lambda i, x, w: (i + 1, x @ w), (i, x), (w,))

    Args:
        cond: takes the states and the invariants, gives a bool[].
        body: takes the same, gives the new states.
        states: what changes from round to round, and keeps its type.
        invariants: what the two read and no round changes; never copied.
        max_rounds: after so many rounds the loop ends, whatever `cond` says.
        backward: how gradients are taken: from a stack of `max_rounds` places, or by computing the
            states of each round again from the start, in O(n^2) and without memory.

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


def _between(graph: Graph, s: int, more: Sequence[Value]) -> tuple[Value, ...]:
    """The inputs of the graph with `more` behind the first s."""
    return (*graph.inputs[:s], *more, *graph.inputs[s:])


def _stack_type(t: TensorType, rounds: int | None) -> TensorType:
    return TensorType(t.dtype, None if t.shape is None else (rounds, *t.shape))


def _empty_stack(state: Value, rounds: int | None) -> Value:
    """Zeros in so many places of the state's type."""
    t = _stack_type(state.type, rounds)
    if t.static:
        return ops.fill(0, t.dtype, t.dims)
    row = ops.expand_dims(ops.zeros_like(state), 0)
    return ops.tile(row, (rounds or 0, *(1 for _ in range((t.rank or 1) - 1))))
