"""Composite ops become what the backend has, or an error says which line to write."""

from __future__ import annotations

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import (
    Graph,
    GraphError,
    Input,
    MissingRule,
    Node,
    Op,
    TensorType,
    Types,
    Value,
)
from byparts_opset.evaluate import evaluate
from byparts_optimize import legalize

X = Input(TensorType("f32", (2, 3)), None, "x")
AT = np.array([[0.5, -1, 2], [-0.25, 3, 0]], np.float32)


def lacking(*names: str) -> object:
    return lambda node: node.op.name not in names


class Chain(Op):
    """y = x, made of a shorter one, down to exp."""

    length: int

    def infer(self, x: TensorType) -> Types:
        return (x,)

    def decompose(self, x: Value) -> tuple[Value, ...]:
        return (Chain(self.length - 1)(x) if self.length else ops.exp(x),)


class Inside(Op):
    """y = body(x)."""

    body: Graph

    def infer(self, x: TensorType) -> Types:
        return (x,)


def test_decomposes_to_a_fixpoint() -> None:
    """Log-softmax without maximum, and so on down to what is there."""
    graph = Graph.of([X], [ops.sigmoid(X), ops.squared_difference(X, 2)])

    legal = legalize(graph, lacking("sigmoid", "squared_difference"))  # type: ignore[arg-type]

    assert {"sigmoid", "squared_difference"}.isdisjoint(n.op.name for n in legal.nodes)
    for want, got in zip(evaluate(graph, AT), evaluate(legal, AT), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_equal_constants_of_decompositions_are_one() -> None:
    graph = Graph.of([X], [ops.sigmoid(X), ops.sigmoid(ops.exp(X))])
    legal = legalize(graph, lacking("sigmoid"))  # type: ignore[arg-type]
    assert [n.op.name for n in legal.nodes].count("fill") == 2  # 0 and 1


def test_several_levels() -> None:
    """Each level of composition is taken apart in turn."""
    legal = legalize(Graph.of([X], [Chain(5)(X)]), lacking("chain"))  # type: ignore[arg-type]

    assert [n.op.name for n in legal.nodes] == ["exp"]


def test_what_is_there_is_left() -> None:
    """A backend that has everything gets the same nodes."""
    graph = Graph.of([X], [ops.sigmoid(X)])

    assert legalize(graph, lambda node: True).nodes == graph.nodes


def test_neither_kernel_nor_decomposition() -> None:
    """The error names op, types, and the line to write; its note, the user's line."""
    says = r"no kernel for Exp on \(f32\[2,3\]\), and it does not decompose; add one with @kernels.on\(Exp\)"

    with pytest.raises(MissingRule, match=says) as caught:
        legalize(Graph.of([X], [ops.exp(X)]), lacking("exp"))  # type: ignore[arg-type]
    notes = "\n".join(getattr(caught.value, "__notes__", [])) or str(caught.value)
    assert "test_legalize.py" in notes


class Circle(Op):
    """y = x, made of itself."""

    def infer(self, x: TensorType) -> Types:
        return (x,)

    def decompose(self, x: Value) -> tuple[Value, ...]:
        return (Circle()(x),)


def test_an_op_made_of_itself() -> None:
    """Ends, and names it."""
    with pytest.raises(GraphError, match="circle is still there after 20 decompositions"):
        legalize(Graph.of([X], [Circle()(X)]), lacking("circle"))  # type: ignore[arg-type]


def test_effects_and_lines_are_kept() -> None:
    """The parts carry the line of the whole."""
    y = ops.sigmoid(ops.print_value(X))
    assert y.node is not None

    legal = legalize(Graph.of([X], [y]), lacking("sigmoid"))  # type: ignore[arg-type]

    assert legal.nodes[0].op.effect
    assert {n.where for n in legal.nodes[1:]} == {y.node.where}


def test_graphs_inside_are_legal_too() -> None:
    """A backend that runs a body needs its ops."""
    inner = Input(TensorType("f32", (2, 3)))
    graph = Graph.of([X], [Inside(Graph.of([inner], [Chain(1)(inner)]))(X)])

    (node,) = legalize(graph, lacking("chain")).nodes  # type: ignore[arg-type]

    assert isinstance(node.op, Inside)
    assert [n.op.name for n in node.op.body.nodes] == ["exp"]
    assert isinstance(node, Node)
