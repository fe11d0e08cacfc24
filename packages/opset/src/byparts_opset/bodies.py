"""What ops with bodies share: a body from a Python function, its types, its rounds, its reverse.

A body is a closed graph.  Written in Python it is a function of values, called once with the inputs
of the body; what it reads must be among its arguments, because a graph that captured values of the
program around it could be neither printed, compared nor moved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Union

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
from byparts_opset.composite import is_zero
from byparts_opset.dtypes import Array
from byparts_opset.evaluate import evaluate

Function = Union[Graph, Callable[..., object]]


def traced(what: str, function: Function, types: Sequence[TensorType], outside: str) -> Graph:
    """The body that `function` computes, on inputs of these types; a graph is taken as it is.

    Args:
        what: which body this is, for errors, such as "while_loop: body".
        function: takes a value for each type, gives a value or several.
        types: of the inputs of the body.
        outside: how a value of the program around is passed in, for errors.

    Raises:
        ArgumentError: the function gives something else, or reads what it was not given.
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


def kept_types(op: Op, states: Sequence[TensorType], results: Sequence[TensorType]) -> Types:
    """The types of states after any number of rounds, which are those before.

    Raises:
        ShapeError: the body gives a state of another type, or not one for each.
    """
    if len(states) != len(results):
        raise ShapeError(f"{op.name}: the body gives {len(results)} states, takes {len(states)}")
    for i, (x, y) in enumerate(zip(states, results, strict=True)):
        if not compatible(x, y):
            raise ShapeError(
                f"{op.name}: state {i} is {x}, and the body makes {y} of it; a state keeps its "
                f"type, {_advice(x, y)}"
            )
    return tuple([unify(x, y) for x, y in zip(states, results, strict=True)])


def _advice(x: TensorType, y: TensorType) -> str:
    if x.dtype != y.dtype:
        return f"cast what the body gives to {x.dtype!r}, or begin with {y.dtype!r}"
    return "begin with the shape that the body gives, or reshape in the body"


def run_round(op: Op, name: str, body: Graph, round_: int, arrays: Sequence[Array]) -> list[Array]:
    """What a body gives in a round, counted from 1; an error says which."""
    try:
        return list(evaluate(body, *arrays))
    except Exception as error:
        add_note(error, f"in {name} of {op.name}, round {round_}")
        raise


def is_true(answer: Array) -> bool:
    """What a bool of no dimensions says."""
    return bool(np.asarray(answer).item())


def check_condition(op: Op, what: str, results: Sequence[TensorType]) -> None:
    """Refuse what is not one bool of no dimensions."""
    if len(results) != 1 or not compatible(results[0], TensorType("bool", ())):
        given = ", ".join(map(str, results))
        raise ShapeError(f"{op.name}: {what} is ({given}); expected one bool[], as in x > 0")


def retyped(node: Node, **bodies: tuple[Graph, Sequence[TensorType]]) -> dict[str, Any]:
    """Those of the bodies that change when they get these types, by the names of their fields."""
    new = {n: body_for(node.op, body, types) for n, (body, types) in bodies.items()}
    return {n: body for n, body in new.items() if body is not bodies[n][0]}


def is_float(v: Value) -> bool:
    """Whether it carries a gradient."""
    return v.type.dtype in FLOATS


def pull_back(body: Graph, seeds: Sequence[int], wanted: Sequence[int]) -> Graph:
    """The reverse of a body: (its inputs, dy of each output in `seeds`) -> dx of those in `wanted`.

    A dx that nothing reaches is zeros (`is_zero`).  The values of the body are computed again, as
    far as a gradient reads them.

    Raises:
        NotImplementedError: an op in between has no gradient.
    """
    xs = [body.inputs[i] for i in wanted]
    dys = [Input(body.outputs[i].type, None, f"dy{i}", "") for i in seeds]
    found: dict[Value, Value] = {}
    for i, dy in zip(seeds, dys, strict=True):
        _add(found, body.outputs[i], dy)
    for node in reversed(_between(body, xs)):
        if any(v in found for v in node.outputs):
            given = [found[v] if v in found else ops.zeros_like(v) for v in node.outputs]
            for x, dx in zip(node.inputs, node.op.gradient(node, *given), strict=True):
                if dx is not None and is_float(x):
                    _add(found, x, dx)
    results = [found[x] if x in found else ops.zeros_like(x) for x in xs]
    return Graph.of((*body.inputs, *dys), results)


def _between(body: Graph, xs: Iterable[Value]) -> list[Node]:
    """The nodes through which a gradient may flow to `xs`, in order."""
    carries = set(xs)
    path = []
    for node in body.nodes:
        if not (carries.isdisjoint(node.inputs) or isinstance(node.op, ops.StopGradient)):
            outputs = [v for v in node.outputs if is_float(v)]
            if outputs:
                carries.update(outputs)
                path.append(node)
    return path


def _add(found: dict[Value, Value], v: Value, dv: Value) -> None:
    found[v] = found[v] + dv if v in found else dv


def read_inputs(graph: Graph) -> list[int]:
    """The positions of the inputs that a node reads or that are outputs."""
    read = {v for n in graph.nodes for v in n.inputs} | set(graph.outputs)
    return [i for i, v in enumerate(graph.inputs) if v in read]


def seeded(dys: Sequence[Value]) -> list[int]:
    """The positions of the gradients that are not zeros by construction."""
    return [i for i, dy in enumerate(dys) if is_float(dy) and not is_zero(dy)]


def narrowed(body: Graph, outputs: Sequence[int]) -> Graph:
    """The body that gives only these outputs, with its effects; it takes the same inputs."""
    return Graph.of(body.inputs, [body.outputs[i] for i in outputs], order=body.values)


def needed_states(body: Graph, states: int, wanted: Sequence[int]) -> list[int]:
    """The states that the wanted outputs of a loop depend on, round after round; with effects."""
    needed = {i for i in wanted if i < states}
    while True:
        outputs = [*sorted(needed), *[i for i in wanted if i >= states]]
        read = {i for i in read_inputs(narrowed(body, outputs)) if i < states}
        if read <= needed:
            return sorted(needed)
        needed |= read


def taking(body: Graph, inputs: Sequence[int]) -> Graph:
    """The body with these of its inputs; it reads no others."""
    return Graph(tuple([body.inputs[i] for i in inputs]), body.nodes, body.outputs)
