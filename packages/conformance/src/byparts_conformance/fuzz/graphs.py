"""The graphs that are changed: a sample of every op, and programs of several."""

from __future__ import annotations

from functools import cache

import byparts_opset as ops
from byparts_graph_ir import (
    Fused,
    Graph,
    Input,
    Node,
    Op,
    TensorType,
    from_json,
    parse,
    to_json,
    verify,
)
from byparts_graph_ir.parts.hub import parts


@cache
def all_ops() -> dict[str, type[Op]]:
    """Op classes of all installed op sets, by name; the hub is asked once."""
    return dict(parts.ops())


@cache
def seeds() -> tuple[Graph, ...]:
    """Small graphs; each op is in one of them."""
    made = [_program(), _nested(), _named()]
    for _, kind in sorted(all_ops().items()):
        for sample in list(kind.samples())[:2]:
            inputs = tuple([Input(t, None, f"x{i}", "") for i, t in enumerate(sample.types)])
            node = Node(sample.op, inputs, "train.py:3")
            made.append(Graph(inputs, (node,), node.outputs))
    return tuple([graph for graph in made if len(to_json(graph)) < 4000])


def check(graph: Graph) -> None:
    """A graph that was accepted is well formed, and comes back from text and from JSON."""
    verify(graph)
    assert from_json(to_json(graph), all_ops()) == graph, "JSON does not come back"
    assert parse(str(graph), all_ops()) == graph, "the text does not come back"


def _program() -> Graph:
    x, w = (
        Input(TensorType("f32", ("n", 4)), None, "x"),
        Input(TensorType("f32", (4, 3)), None, "w"),
    )
    y = ops.relu(x @ w + ops.constant([1.0, 2.0, 4.0]))
    loss = ops.mean(ops.sum(y, axis=(1,), keepdims=True))
    return Graph.of([x, w], [loss, ops.cast(y, "f64"), ops.reshape(y, (-1,))])


def _nested() -> Graph:
    x = Input(TensorType("f32", (4,)), None, "x")
    inner = Graph.of([x], [ops.tanh(x) * 2.0])
    outer = Graph.of([x], Node(Fused(inner), (x,), "a.py:1").outputs)
    nodes = [Node(Fused(outer), (x,), "a.py:2"), Node(Fused(inner), (x,), "")]
    return Graph((x,), tuple(nodes), tuple(node.outputs[0] for node in nodes))


def _named() -> Graph:
    x, y = (
        Input(TensorType("f16", ("n", None)), None, "x"),
        Input(TensorType("f16", None), None, "y"),
    )
    return Graph.of([x, y], [-x, ops.abs(y), ops.concat([x, x], 0)])
