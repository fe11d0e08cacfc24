"""Bodies of ops: made from Python functions; their types, rounds and gradients.

A body is a closed graph.  Written in Python it is a function of values, called once with the inputs
of the body; what it reads must be among its arguments, because a graph that captured values of the
program around it could be neither printed, compared nor moved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Union

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import (
    FLOATS,
    ArgumentError,
    Graph,
    Input,
    Node,
    Op,
    ShapeError,
    TensorType,
    Types,
    Value,
    add_note,
    body_for,
    compatible,
    producers,
    unify,
)
from byparts_graph_ir.model.frozen import Frozen, replace
from byparts_opset.composite import is_zero
from byparts_opset.dtypes import Array
from byparts_opset.evaluate import evaluate

Function = Union[Graph, Callable[..., object]]


def traced(what: str, function: Function, types: Sequence[TensorType], outside: str) -> Graph:
    """The graph that `function` computes on inputs of these types; a graph is returned as it is.

    Args:
        what: the name of the body in errors, such as "while_loop: body".
        function: takes a value for each type, gives a value or several.
        types: the types of the inputs of the body.
        outside: how to pass in a value of the program around the body, for errors.

    Raises:
        ArgumentError: the function returns no values, or reads values that are not its arguments.
    """
    if isinstance(function, Graph):
        return function
    inputs = [Input(t) for t in types]
    made = function(*inputs)
    results = (made,) if isinstance(made, Value) else made
    if not isinstance(results, (tuple, list)) or not all(isinstance(v, Value) for v in results):
        raise ArgumentError(f"{what} returned {made!r:.80}; return a value, or a tuple of values")
    _check_closed(what, inputs, results, outside)
    return Graph.of(inputs, results)


def _check_closed(
    what: str, inputs: Sequence[Value], results: Sequence[Value], outside: str
) -> None:
    given = set(inputs)
    reads = [(v, f", read at {n.where}") for n in producers(results) for v in n.inputs]
    for v, reader in (*reads, *((v, "") for v in results)):
        if v.node is None and v not in given:
            name = f" {v.name!r} (made at {v.where})" if isinstance(v, Input) else ""
            raise ArgumentError(
                f"{what} depends on the value{name} of type {v.type}{reader}, which is none of its "
                f"arguments; a body is closed: {outside}"
            )


def kept_types(
    op: Op,
    states: Sequence[TensorType],
    results: Sequence[TensorType],
    declared: Sequence[TensorType] = (),
) -> Types:
    """The types of the states, which no round may change.

    Where the body's own type of a state (`declared`) has an unknown dimension, a round may change
    that dimension; it is then unknown after the loop.

    Raises:
        ShapeError: the body gives a state another type, or gives more or fewer states.
    """
    if len(states) != len(results):
        raise ShapeError(f"{op.name}: the body gives {len(results)} states, takes {len(states)}")
    types = []
    for i, (x, y) in enumerate(zip(states, results, strict=True)):
        if declared and _may_become(x, y, declared[i]):
            types.append(_common(x, y))
        elif compatible(x, y):
            types.append(unify(x, y))
        else:
            raise ShapeError(
                f"{op.name}: state {i} is {x}, and the body makes {y} of it; a state keeps its "
                f"type, {_advice(x, y)}"
            )
    return tuple(types)


def _may_become(x: TensorType, y: TensorType, declared: TensorType) -> bool:
    """Whether `y` differs from `x` in dimensions that are unknown in `declared`, and only there."""
    if x.dtype != y.dtype or x.shape is None or y.shape is None or x.rank != y.rank:
        return False
    changed = [i for i, (m, n) in enumerate(zip(x.shape, y.shape, strict=True)) if m != n]
    known = [n for m, n in zip(x.shape, y.shape, strict=True) if m != n and None not in (m, n)]
    dims = declared.shape
    return bool(known) and dims is not None and all(dims[i] is None for i in changed)


def _common(x: TensorType, y: TensorType) -> TensorType:
    """The type with the dimensions in which both agree; the others are unknown."""
    assert x.shape is not None and y.shape is not None, "types that may become each other"
    dims = [m if m == n else None for m, n in zip(x.shape, y.shape, strict=True)]
    return TensorType(x.dtype, tuple(dims))


def _advice(x: TensorType, y: TensorType) -> str:
    if x.dtype != y.dtype:
        return f"cast what the body gives to {x.dtype!r}, or begin with {y.dtype!r}"
    return "begin with the shape that the body gives, or reshape in the body"


def run_round(op: Op, name: str, body: Graph, round_: int, arrays: Sequence[Array]) -> list[Array]:
    """Evaluate a body in a round; an error names the body and the round, counted from 1."""
    try:
        return list(evaluate(body, *arrays))
    except Exception as error:
        add_note(error, f"in {name} of {op.name}, round {round_}")
        raise


def is_true(answer: Array) -> bool:
    """Whether a bool array of no dimensions is true."""
    return bool(np.asarray(answer).item())


def check_condition(op: Op, what: str, results: Sequence[TensorType]) -> None:
    """Raise `ShapeError` unless `results` is one bool[]; `what` names it in the message."""
    if len(results) != 1 or not compatible(results[0], TensorType("bool", ())):
        given = ", ".join(map(str, results))
        raise ShapeError(f"{op.name}: {what} is ({given}); expected one bool[], as in x > 0")


def retyped(node: Node, **types: Sequence[TensorType]) -> tuple[Value, ...] | None:
    """The outputs of the node with its bodies on inputs of these types; `None` if none changes.

    Args:
        node: of an op with bodies.
        types: of the inputs of each body, by the name of its field.
    """
    old: dict[str, Graph] = {name: getattr(node.op, name) for name in types}
    new = {name: body_for(node.op, old[name], types[name]) for name in types}
    if all(new[name] is old[name] for name in types):
        return None
    return Node(replace(node.op, **new), node.inputs, node.where).outputs


def is_float(v: Value) -> bool:
    """Whether the value is of a dtype that has gradients."""
    return v.type.dtype in FLOATS


def pull_back(body: Graph, seeds: Sequence[int], wanted: Sequence[int]) -> Graph:
    """The gradient of a body: (its inputs, dy of the outputs `seeds`) -> dx of the inputs `wanted`.

    A dx to which no gradient flows is zeros (`is_zero`).  Values of the body that a gradient reads
    are computed again.

    Raises:
        NotImplementedError: an op in between has no gradient.
    """
    xs = [body.inputs[i] for i in wanted]
    dys = [Input(body.outputs[i].type, None, f"dy{i}", "") for i in seeds]
    gradients: dict[Value, Value] = {}
    for i, dy in zip(seeds, dys, strict=True):
        _add(gradients, body.outputs[i], dy)
    for node in reversed(_between(body, xs)):
        if any(v in gradients for v in node.outputs):
            given = [gradients[v] if v in gradients else ops.zeros_like(v) for v in node.outputs]
            for x, dx in zip(node.inputs, node.op.gradient(node, *given), strict=True):
                if dx is not None and is_float(x):
                    _add(gradients, x, dx)
    results = [gradients[x] if x in gradients else ops.zeros_like(x) for x in xs]
    return Graph.of((*body.inputs, *dys), results)


class RoundGradient(Frozen):
    """The gradient of one round of a loop.

    Attributes:
        dxs: position of an input of the body -> its gradient, for inputs that are floats.
        seeds: position of an output of the body -> the input that stands for its gradient.
        moving: positions of the states that are floats: their gradients go from round to round.
        shared: positions of the invariants that have a gradient, which is the sum over all rounds.
        sums: inputs for these sums before the round.
        totals: the sums after the round.
        read: positions of the inputs of the body that the gradients read.
    """

    dxs: dict[int, Value]
    seeds: dict[int, Value]
    moving: list[int]
    shared: list[int]
    sums: list[Value]
    totals: list[Value]
    read: list[int]

    @property
    def carried(self) -> list[int]:
        """Positions of the inputs whose gradients go from round to round."""
        return self.moving + self.shared

    def start(self, inputs: Sequence[Value], dys: Sequence[Value]) -> list[Value]:
        """The carried gradients before the first round backwards: those of the states, and zeros.

        Args:
            inputs: what the body's inputs are taken from, in the program.
            dys: the gradients of the last states.
        """
        zeros = [ops.zeros_like(inputs[i]) for i in self.shared]
        return [*[dys[i] for i in self.moving], *zeros]


def round_gradient(body: Graph, states: int, first: int, rows: Sequence[int] = ()) -> RoundGradient:
    """The gradient of a body.

    Args:
        body: of a loop.
        states: how many of its inputs and outputs are states.
        first: position of its first invariant.
        rows: positions of further outputs that have gradients.
    """
    floats = [i for i, v in enumerate(body.inputs) if is_float(v)]
    moving = [i for i in floats if i < states]
    back = pull_back(body, [*moving, *rows], floats)
    dxs = dict(zip(floats, back.outputs, strict=True))
    seeds = dict(zip((*moving, *rows), back.inputs[len(body.inputs) :], strict=True))
    shared = [i for i in floats if i >= first and not is_zero(dxs[i])]
    sums: list[Value] = [Input(body.inputs[i].type, None, f"sum{i}", "") for i in shared]
    totals = [total + dxs[i] for total, i in zip(sums, shared, strict=True)]
    read = [i for i in read_inputs(back) if i < len(body.inputs)]
    return RoundGradient(dxs, seeds, moving, shared, sums, totals, read)


def _between(body: Graph, xs: Iterable[Value]) -> list[Node]:
    """The nodes through which gradients may flow to `xs`, in order."""
    carries = set(xs)
    path = []
    for node in body.nodes:
        if not (carries.isdisjoint(node.inputs) or isinstance(node.op, ops.StopGradient)):
            outputs = [v for v in node.outputs if is_float(v)]
            if outputs:
                carries.update(outputs)
                path.append(node)
    return path


def _add(gradients: dict[Value, Value], v: Value, dv: Value) -> None:
    gradients[v] = gradients[v] + dv if v in gradients else dv


def read_inputs(graph: Graph) -> list[int]:
    """The positions of the inputs that a node reads, or that are outputs."""
    read = {v for n in graph.nodes for v in n.inputs} | set(graph.outputs)
    return [i for i, v in enumerate(graph.inputs) if v in read]


def seeded(dys: Sequence[Value]) -> list[int]:
    """The positions of the gradients that are not zeros by construction."""
    return [i for i, dy in enumerate(dys) if is_float(dy) and not is_zero(dy)]


def narrowed(body: Graph, outputs: Sequence[int]) -> Graph:
    """The body with only these outputs, and with all its effects; its inputs stay."""
    return Graph.of(body.inputs, [body.outputs[i] for i in outputs], order=body.values)


def needed_states(body: Graph, states: int, wanted: Sequence[int]) -> list[int]:
    """The states that the wanted outputs of a loop, or effects, depend on after any rounds."""
    needed = {i for i in wanted if i < states}
    while True:
        outputs = [*sorted(needed), *[i for i in wanted if i >= states]]
        read = {i for i in read_inputs(narrowed(body, outputs)) if i < states}
        if read <= needed:
            return sorted(needed)
        needed |= read


def taking(body: Graph, inputs: Sequence[int]) -> Graph:
    """The body with only these of its inputs; no node may read another one."""
    return Graph(tuple([body.inputs[i] for i in inputs]), body.nodes, body.outputs)
