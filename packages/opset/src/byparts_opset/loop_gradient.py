"""The gradient of `While`: its rounds from the last to the first.

    forward     states 0 -> states 1 -> ... -> states n        n is known when `cond` says no
    backward    carried n -> ... -> carried 1 -> carried 0     reads the states before each round

Carried from round to round are the gradients of the states and the sums of the gradients of the
invariants.  There are three ways to have the states before each round, and `While` says which:

- a planned stack ("stack" with `max_rounds`): the loop runs again and writes each round's states in
  one of `max_rounds` places, all of which are planned.  (`share` of byparts-optimize then takes out
  the first run of the loop.)
- a growing stack ("stack" without `max_rounds`): `WhileGradient` runs the loop again and puts each
  round's states on a stack that doubles when it is full.
- recomputation ("recompute"): each round's states are computed from the first ones.  Nothing is
  kept, and n rounds take n * (n - 1) / 2 more.

States that the backward rounds do not read are not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, Node, TensorType, Value, body_for, inline
from byparts_opset.bodies import round_gradient

if TYPE_CHECKING:
    from byparts_opset.while_gradient import WhileGradient

Way = Literal["stack", "recompute"]
COUNTER = TensorType("i64", ())


def gradient_of_while(node: Node, dys: Sequence[Value]) -> tuple[Value | None, ...]:
    """The gradient of each input of a `While`, in the way that it asks for."""
    op, s = node.op, len(node.outputs)
    assert isinstance(op, ops.While), "the node is a while loop"
    types = [v.type for v in node.inputs]
    cond, body = (body_for(op, graph, types) for graph in (op.cond, op.body))
    gradient = round_gradient(body, s, s)
    if not gradient.carried:
        return (None,) * len(types)
    kept = [i for i in gradient.read if i < s]
    read = [body.inputs[i] for i in kept]
    given = *gradient.seeds.values(), *gradient.sums, *read, *body.inputs[s:]
    back = Graph.of(given, (*[gradient.dxs[i] for i in gradient.moving], *gradient.totals))
    inputs = (*node.inputs[:s], *gradient.start(node.inputs, dys), *node.inputs[s:])
    loops = ops.WhileGradient(cond, body, back, tuple(kept), op.max_rounds)
    if op.backward == "recompute":
        outputs = recomputed(loops, inputs, op.backward)
    elif op.max_rounds is not None:
        outputs = _on_planned_stack(loops, inputs, op.max_rounds)
    else:
        outputs = loops.outputs_of(*inputs)
    placed = dict(zip(gradient.carried, outputs, strict=True))
    return tuple([placed.get(i) for i in range(len(types))])


def _on_planned_stack(op: WhileGradient, inputs: Sequence[Value], rounds: int) -> tuple[Value, ...]:
    """The outputs of the op, from two loops and stacks of so many places."""
    states = op.body.inputs[: op.states]
    i = Input(COUNTER, None, "round", "")
    stacks = [Input(_stack_type(states[k].type, rounds), None, f"stack{k}", "") for k in op.kept]
    written = [
        ops.scatter(stack, ops.reshape(i, (1,)), ops.expand_dims(states[k], 0))
        for k, stack in zip(op.kept, stacks, strict=True)
    ]
    empty = [_empty_stack(inputs[k], rounds) for k in op.kept]
    count, *full = _forward_again(op, inputs, "stack", (i, *stacks), (i + 1, *written), empty)

    def popped(left: Value, stacks: Sequence[Value], _: Sequence[Value]) -> list[Value]:
        return [ops.gather(stack, left, 0) for stack in stacks]

    return _backward(op, inputs, "stack", count, full, popped)


def recomputed(op: WhileGradient, inputs: Sequence[Value], way: Way) -> tuple[Value, ...]:
    """The outputs of the op, from loops that compute the states of each round from the first."""
    i = Input(COUNTER, None, "round", "")
    (count,) = _forward_again(op, inputs, way, (i,), (i + 1,))

    def computed(left: Value, first: Sequence[Value], invariants: Sequence[Value]) -> list[Value]:
        if not op.kept:
            return []
        i, end = (Input(COUNTER, None, name, "") for name in ("round", "end"))
        given = _between(op.body, op.states, (i, end))
        body = Graph.of(given, (*op.body.outputs, i + 1))
        loop = ops.While(Graph.of(given, (i < end,)), body, op.max_rounds, way)
        states = loop.outputs_of(*first, ops.fill(0, COUNTER.dtype), left, *invariants)
        return [states[k] for k in op.kept]

    return _backward(op, inputs, way, count, inputs[: op.states], computed)


def _forward_again(
    op: WhileGradient,
    inputs: Sequence[Value],
    way: Way,
    more: Sequence[Value],
    results: Sequence[Value],
    empty: Sequence[Value] = (),
) -> tuple[Value, ...]:
    """The loop with further states behind its own: what these are in the end.

    Args:
        op: with the loop.
        inputs: of the op.
        way: how its own gradient is to be taken.
        more: inputs of the body for the further states, of which the first counts the rounds.
        results: their new values.
        empty: where the others begin.
    """
    cond = Graph(_between(op.cond, op.states, more), op.cond.nodes, op.cond.outputs)
    body = Graph.of(_between(op.body, op.states, more), (*op.body.outputs, *results))
    start = (*inputs[: op.states], ops.fill(0, COUNTER.dtype), *empty)
    loop = ops.While(cond, body, op.max_rounds, way)
    return loop.outputs_of(*start, *inputs[op.states + op.carried :])[op.states :]


def _backward(
    op: WhileGradient,
    inputs: Sequence[Value],
    way: Way,
    rounds: Value,
    given: Sequence[Value],
    kept: Callable[[Value, Sequence[Value], Sequence[Value]], list[Value]],
) -> tuple[Value, ...]:
    """Values that `op.back` carries, after so many rounds.

    Args:
        op: with `back`.
        inputs: of the op.
        way: how the gradient of this loop is to be taken.
        rounds: how many there were forwards.
        given: further invariants, for `kept`.
        kept: (number of the round, from 0; given; invariants) -> the kept states before that round.
    """
    carried, invariants = inputs[op.states :][: op.carried], inputs[op.states + op.carried :]
    j = Input(COUNTER, None, "rounds_left", "")
    moving = [Input(v.type, None, getattr(v, "name", ""), "") for v in op.back.inputs]
    inside = [Input(v.type, None, "", "") for v in (*given, *invariants)]
    left, moving, rest = j - 1, moving[: op.carried], inside[len(given) :]
    results = inline(op.back, [*moving, *kept(left, inside[: len(given)], rest), *rest])
    graph_inputs = (j, *moving, *inside)
    cond, body = Graph.of(graph_inputs, (j > 0,)), Graph.of(graph_inputs, (left, *results))
    loop = ops.While(cond, body, op.max_rounds, way)
    return loop.outputs_of(rounds, *carried, *given, *invariants)[1:]


def _between(graph: Graph, s: int, more: Sequence[Value]) -> tuple[Value, ...]:
    """The inputs of the graph with `more` behind the first s."""
    return (*graph.inputs[:s], *more, *graph.inputs[s:])


def _stack_type(t: TensorType, rounds: int) -> TensorType:
    return TensorType(t.dtype, None if t.shape is None else (rounds, *t.shape))


def _empty_stack(state: Value, rounds: int) -> Value:
    """Zeros in so many places of the state's type."""
    t = _stack_type(state.type, rounds)
    if t.static:
        return ops.fill(0, t.dtype, t.dims)
    row = ops.expand_dims(ops.zeros_like(state), 0)
    return ops.tile(row, (rounds, *(1 for _ in range((t.rank or 1) - 1))))
