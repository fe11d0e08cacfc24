"""Wrong graphs: what a pass would give that replaces a node by one that computes something else."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Graph, GraphError, Node, Op, Pass, Value
from byparts_graph_ir.model.frozen import replace
from mutation.place import Change, Rule, Stage, change_parts

_COMMUTE = (
    *(ops.Add, ops.Mul, ops.Maximum, ops.Minimum, ops.LogicalAnd, ops.LogicalOr, ops.LogicalXor),
    *(ops.Equal, ops.NotEqual, ops.BitwiseAnd, ops.BitwiseOr, ops.BitwiseXor),
    ops.SquaredDifference,
)
_OTHER: dict[type[Op], type[Op]] = {
    **{ops.Add: ops.Sub, ops.Sub: ops.Add, ops.Mul: ops.Add, ops.Div: ops.Mul},
    **{ops.Maximum: ops.Minimum, ops.Minimum: ops.Maximum, ops.Floordiv: ops.Mod},
    **{ops.Mod: ops.Floordiv, ops.Less: ops.LessEqual, ops.LessEqual: ops.Less},
    **{ops.Greater: ops.GreaterEqual, ops.GreaterEqual: ops.Greater},
    **{ops.Equal: ops.NotEqual, ops.NotEqual: ops.Equal, ops.LogicalAnd: ops.LogicalOr},
    **{ops.LogicalOr: ops.LogicalAnd, ops.BitwiseAnd: ops.BitwiseOr, ops.Floor: ops.Ceil},
    **{ops.BitwiseOr: ops.BitwiseAnd, ops.Ceil: ops.Floor, ops.Round: ops.Trunc},
    **{ops.Trunc: ops.Round, ops.Sum: ops.Max, ops.Max: ops.Min, ops.Min: ops.Max},
    **{ops.Mean: ops.Sum, ops.ArgMax: ops.ArgMin, ops.ArgMin: ops.ArgMax, ops.Exp: ops.Expm1},
    **{ops.Tanh: ops.Sigmoid, ops.Sigmoid: ops.Tanh, ops.Sin: ops.Cos, ops.Cos: ops.Sin},
    **{ops.Neg: ops.Abs, ops.Abs: ops.Neg, ops.Relu: ops.Abs, ops.All: ops.Any, ops.Any: ops.All},
}


def _changed(graph: Graph, old: Node, op: Op, inputs: tuple[Value, ...]) -> Graph | None:
    """The graph with another node in the place of one; `None` where the types differ."""
    try:
        new = Node(op, inputs, old.where)
    except (GraphError, ValueError, TypeError, AssertionError):
        return None
    if [v.type for v in new.outputs] != [v.type for v in old.outputs]:
        return None
    return _with_outputs(graph, old, new.outputs)


def _with_outputs(graph: Graph, old: Node, outputs: tuple[Value, ...]) -> Graph:
    """The graph in which other values of the same types stand for the outputs of a node."""
    env: dict[Value, Value] = {}
    for node in graph.nodes:
        inputs = tuple([env.get(v, v) for v in node.inputs])
        if node is old:
            env.update(zip(old.outputs, outputs, strict=True))
        elif inputs != node.inputs:
            env.update(zip(node.outputs, Node(node.op, inputs, node.where).outputs, strict=True))
    order = [env.get(v, v) for v in graph.values]
    return Graph.of(graph.inputs, [env.get(v, v) for v in graph.outputs], order=order)


def _kept(words: str, graph: Graph | None) -> Iterator[tuple[str, Change]]:
    if graph is not None:
        yield words, lambda: graph


def _exchanged(graph: Graph) -> Iterator[tuple[str, Change]]:
    for node in graph.nodes:
        if isinstance(node.op, _COMMUTE):
            continue
        v = node.inputs
        pairs = [(i, j) for i in range(len(v)) for j in range(i) if v[i].type == v[j].type]
        for i, j in [(i, j) for i, j in pairs if v[i] is not v[j]][:1]:
            inputs = list(v)
            inputs[i], inputs[j] = v[j], v[i]
            words = f"inputs {j} and {i} of {node.op.name} exchanged"
            yield from _kept(words, _changed(graph, node, node.op, tuple(inputs)))


def _other_op(graph: Graph) -> Iterator[tuple[str, Change]]:
    for node in graph.nodes:
        kind = _OTHER.get(type(node.op))
        if kind is not None:
            op = kind(*[getattr(node.op, f.name) for f in dataclasses.fields(node.op)])
            words = f"{op.name} for {node.op.name} of {node.outputs[0].type.dtype}"
            yield from _kept(words, _changed(graph, node, op, node.inputs))


def _attribute(graph: Graph) -> Iterator[tuple[str, Change]]:
    for node in graph.nodes:
        for name, value in _near(node.op):
            words = f"{node.op.name}: {name}={value!r:.40}"
            op = replace(node.op, **{name: value})
            yield from _kept(words, _changed(graph, node, op, node.inputs))


def _near(op: Op) -> Iterator[tuple[str, Any]]:
    """Fields of the op with another value: a number one too large, two of a tuple exchanged."""
    if isinstance(op, ops.Constant):
        return
    for f in dataclasses.fields(op):
        x = getattr(op, f.name)
        if isinstance(x, bool):
            yield f.name, not x
        elif isinstance(x, (int, float)):
            yield f.name, x + 1
        elif isinstance(x, tuple) and x and all(type(i) is int for i in x):
            yield f.name, (*x[:-1], x[-1] + 1)
            yield f.name, (max(0, x[0] - 1), *x[1:])
            if len(x) > 1 and x[0] != x[-1]:
                yield f.name, (x[-1], *x[1:-1], x[0])


def _constant(graph: Graph) -> Iterator[tuple[str, Change]]:
    for node in graph.nodes:
        if isinstance(node.op, ops.Constant) and node.outputs[0].type.size:
            array = np.array(node.op.evaluate()[0])
            array.reshape(-1)[-1] += 1
            words = f"last element of {node.outputs[0].type} + 1"
            yield from _kept(words, _with_outputs(graph, node, (ops.constant(array),)))


def _other_input(graph: Graph) -> Iterator[tuple[str, Change]]:
    for at, node in enumerate(graph.nodes):
        known = [*graph.inputs, *[v for n in graph.nodes[:at] for v in n.outputs]]
        for i, v in enumerate(node.inputs):
            for other in [w for w in known if w.type == v.type and w is not v][-1:]:
                inputs = (*node.inputs[:i], other, *node.inputs[i + 1 :])
                words = f"input {i} of {node.op.name} is another {v.type}"
                yield from _kept(words, _changed(graph, node, node.op, inputs))


def _skipped(graph: Graph) -> Iterator[tuple[str, Change]]:
    for node in graph.nodes:
        given = [v for v in node.inputs if [v.type] == [y.type for y in node.outputs]]
        if given and node.op.name not in ("identity", "stop_gradient"):
            words = f"{node.op.name} gives its input"
            yield words, partial(_with_outputs, graph, node, (given[0],))


def _outputs(graph: Graph) -> Iterator[tuple[str, Change]]:
    y = graph.outputs
    for i in range(len(y)):
        for j in [j for j in range(i) if y[j].type == y[i].type and y[j] is not y[i]][-1:]:
            outputs = list(y)
            outputs[i], outputs[j] = y[j], y[i]
            made = partial(Graph, graph.inputs, graph.nodes, tuple(outputs))
            yield f"outputs {j} and {i}", made


RULES: dict[str, Rule] = {
    "operands exchanged": _exchanged,
    "another op": _other_op,
    "an attribute": _attribute,
    "a constant": _constant,
    "another value as input": _other_input,
    "a node left out": _skipped,
    "outputs exchanged": _outputs,
}


def hook(change: Callable[[Any], Any]) -> None:
    """Add a pass behind those of each build."""
    change_parts(lambda p: replace(p, passes=(*p.passes, Pass("wrong", change))))


STAGE = Stage("passes", RULES, hook)
