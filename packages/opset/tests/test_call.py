"""A graph as one op."""

from __future__ import annotations

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType
from byparts_opset.evaluate import evaluate

F64 = TensorType("f64", (3,))


def test_a_call_is_what_it_calls() -> None:
    """And `decompose` puts the nodes back."""
    x, y = Input(F64), Input(F64)
    graph = Graph.of((x, y), ops.call(lambda x, y: (ops.tanh(x) * y, x), x, y))
    inlined = Graph.of((x, y), graph.nodes[0].op.decompose(x, y) or ())
    a, b = np.array([1.0, 2, 3]), np.array([0.5, 0, -1])

    np.testing.assert_array_equal(evaluate(graph, a, b)[0], np.tanh(a) * b)
    assert [n.op.name for n in inlined.nodes] == ["tanh", "mul"]


def test_flops_are_those_of_the_body() -> None:
    """Two for each element."""
    x = Input(F64)
    (y,) = ops.call(lambda x: ops.tanh(x) * x, x)

    assert y.node is not None and y.node.op.flops(F64) == 6
