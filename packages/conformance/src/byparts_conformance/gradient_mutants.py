"""Wrong gradients made by rule from a right one: sign, factor, a missing term, a missing sum.

A gradient rule gives nodes, so its mutants are graphs with one node replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from byparts_conformance.cases import Case, f64_cases
from byparts_conformance.meaning import differentiable, gradient, graph_of
from byparts_graph_ir import FLOATS, Graph, Input, Node, Op, Value
from byparts_opset.dtypes import numpy_dtype
from byparts_opset.evaluate import evaluate

Gradients = tuple[Value | None, ...]
Change = Callable[[Node, tuple[Value, ...]], Gradients]

MOST_NODES = 12  # of a gradient's graph, each of which is left out once


def gradient_outcomes(op: type[Op]) -> dict[str, str]:
    """Mutant -> "killed", "equal" or "SURVIVED"; nothing for an op without gradients."""
    if not differentiable(op):
        return {}
    cases = [c for c in f64_cases(op) if _has_gradient(c)]
    outcomes: dict[str, str] = {}
    for name, change in _mutants(cases):
        killed = any(_finds(case, change) for case in cases)
        said = "killed" if killed else "SURVIVED" if _differs(cases, change) else "equal"
        kind = f"gradient: {name}"
        outcomes[kind] = max(
            said, outcomes.get(kind, ""), key=("", "equal", "killed", "SURVIVED").index
        )
    return outcomes


def _has_gradient(case: Case) -> bool:
    return any(t.dtype in FLOATS and t.size for t in case.types) and bool(_nodes(case))


def _nodes(case: Case) -> tuple[Node, ...]:
    """The nodes of the gradient's graph."""
    return _graph(case, _own).nodes


def _own(node: Node, dys: tuple[Value, ...]) -> Gradients:
    return node.op.gradient(node, *dys)


def _graph(case: Case, change: Change) -> Graph:
    node = graph_of(case).nodes[0]
    dys = tuple(Input(v.type) for v in node.outputs)
    wanted = [dx for dx in change(node, dys) if dx is not None]
    return Graph.of((*node.inputs, *dys), wanted)


def _finds(case: Case, change: Change) -> bool:
    try:
        return bool(gradient(case, change))
    except Exception:  # whatever a wrong gradient raises is found
        return True


def _differs(cases: list[Case], change: Change) -> bool:
    """Whether the mutant gives other numbers than the op, on inputs that the kit does not draw."""
    rng = np.random.default_rng(0)
    for case in cases:
        arrays = [a + 1e-3 if a.dtype == np.float64 else a for a in case.arrays()]
        graphs = [_graph(case, each) for each in (_own, change)]
        dys = [rng.normal(0, 1, t.dims).astype(numpy_dtype(t.dtype)) for t in case.outputs]
        given = [*arrays, *dys]
        right, wrong = (evaluate(g, *given) for g in graphs)
        if any(not np.allclose(x, y, 1e-3, 1e-3, True) for x, y in zip(right, wrong, strict=True)):
            return True
    return False


def _mutants(cases: list[Case]) -> Iterator[tuple[str, Change]]:
    yield "negated", _each(lambda dx: -dx)
    yield "doubled", _each(lambda dx: dx * 2)
    yield "zero", _each(lambda dx: dx * 0)
    yield "dy ignored", lambda node, dys: node.op.gradient(node, *(dy * 0 + 1 for dy in dys))
    for i in range(min(max((len(c.types) for c in cases), default=0), 6)):
        yield f"of input {i} missing", _only(i)
    for i in range(min(max((len(_nodes(c)) for c in cases), default=0), MOST_NODES)):
        for operand in (0, 1):
            yield "one term alone", _one_term(i, operand)


def _each(change: Callable[[Value], Value]) -> Change:
    def changed(node: Node, dys: tuple[Value, ...]) -> Gradients:
        gradients = node.op.gradient(node, *dys)
        return tuple(None if dx is None else change(dx) for dx in gradients)

    return changed


def _only(i: int) -> Change:
    """The gradient of one input is 0."""

    def changed(node: Node, dys: tuple[Value, ...]) -> Gradients:
        gradients = node.op.gradient(node, *dys)
        return tuple(dx * 0 if i == j and dx is not None else dx for j, dx in enumerate(gradients))

    return changed


def _one_term(place: int, operand: int) -> Change:
    """A change after which one node of the gradient's graph gives one of its inputs unchanged.

    So a sum lacks a term, a product a factor, and `sum_like` does not sum: where the types differ
    it gives what it was given, and the kit must see the shape.
    """

    def changed(node: Node, dys: tuple[Value, ...]) -> Gradients:
        gradients = node.op.gradient(node, *dys)
        wanted = [dx for dx in gradients if dx is not None]
        graph = Graph.of((*node.inputs, *dys), wanted)
        if place >= len(graph.nodes) or operand >= len(graph.nodes[place].inputs):
            return gradients
        new = _without(graph, graph.nodes[place], operand)
        results = iter(new)
        return tuple(None if dx is None else next(results) for dx in gradients)

    return changed


def _without(graph: Graph, node: Node, operand: int) -> tuple[Value, ...]:
    """The outputs of a graph in which `node` gives its input `operand`."""
    known: dict[Value, Value] = {}
    for old in graph.nodes:
        inputs = tuple(known.get(v, v) for v in old.inputs)
        if old is node:
            known[old.outputs[0]] = inputs[operand]
        elif inputs != old.inputs:
            known.update(zip(old.outputs, Node(old.op, inputs).outputs, strict=True))
    return tuple(known.get(v, v) for v in graph.outputs)
