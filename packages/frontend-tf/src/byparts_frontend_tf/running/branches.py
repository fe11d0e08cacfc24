"""`If`: a branch is lowered as a body of graph-ir, or alone where the condition is known."""

from __future__ import annotations

from typing import Any

import byparts_opset as ops
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.running.lowering import Lowering
from byparts_frontend_tf.running.needed import needed_inside
from byparts_frontend_tf.running.signals import Expand, OnHost
from byparts_graph_ir import Graph, Input, ShapeError, Value
from byparts_opset import If


def lower_cond(lowering: Lowering, op: Operation) -> Any:
    """The outputs of a `cond`.

    The condition is known where it is a constant, or computed from feeds: then only its branch
    is lowered, and the program is for that.  Else both are bodies; and what cannot be in one (the
    host, two shapes) has the condition computed first.
    """
    test = lowering.value(op.inputs[0], op)
    if lowering.decided(test):
        return _taken(lowering, op, lowering.test(test))
    try:
        return _both(lowering, op, test)
    except OnHost:
        if lowering.outer is not None:
            raise
        return _taken(lowering, op, lowering.test(test))


def _taken(lowering: Lowering, op: Operation, holds: bool) -> Any:
    branch = op.attributes["then" if holds else "otherwise"]
    targets = [v for v in branch.results if v is not None]

    def ready() -> None:
        for inside, outside in zip(branch.tensors, op.outputs, strict=True):
            lowering.alias(inside, outside, op)
        lowering.finished(op, targets)

    if lowering.outer is None:
        raise Expand(targets, branch.body, ready)
    for inner in needed_inside(targets, lowering.known, branch.body):
        lowering.lower(inner)
    ready()
    return None


def _both(lowering: Lowering, op: Operation, test: Value) -> Any:
    bodies = [_lowered(lowering, op, op.attributes[k]) for k in ("then", "otherwise")]
    written = list(dict.fromkeys([v for body, _ in bodies for v in body.variables.writes]))
    drawn = list(dict.fromkeys([o for body, _ in bodies for o in body.counters]))
    outputs = [
        [*results, *[body.variables.latest(v) for v in written], *[body.counter(o) for o in drawn]]
        for body, results in bodies
    ]
    outside = list(dict.fromkeys([v for body, _ in bodies for v in body.captured.values()]))
    graphs = []
    for (body, _), results in zip(bodies, outputs, strict=True):
        inside = {known: v for v, known in body.captured.items()}
        inputs = [inside[v] if v in inside else Input(v.type, None, "", "") for v in outside]
        graphs.append(Graph.of(inputs, results))
    try:
        made = If(*graphs).outputs_of(test, *outside)
    except ShapeError as error:
        raise OnHost(op, str(error)) from error
    if any(not v.type.static for v in made):
        raise OnHost(op, "the branches give different shapes")
    count = len(op.outputs)
    rest = iter(made[count:])
    for variable in written:
        lowering.variables.write(op, variable, next(rest))
    lowering.counters.update(zip(drawn, rest, strict=True))
    return made[:count]


def _lowered(lowering: Lowering, op: Operation, branch: Any) -> tuple[Lowering, list[Value]]:
    body = Lowering(lowering.run, lowering, op)
    targets = [v for v in branch.results if v is not None]
    for inner in needed_inside(targets, body.known, branch.body):
        body.lower(inner)
    results = [_result(body, t) for t in branch.tensors]
    return body, results


def _result(body: Lowering, tensor: Tensor) -> Value:
    value = body.value(tensor)
    return ops.identity(value) if value.node is None else value
