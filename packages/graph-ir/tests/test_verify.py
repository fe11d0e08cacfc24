"""Each numbered invariant is broken once."""

from __future__ import annotations

from typing import ClassVar

import pytest
from toy_ops import Call, add, f32, given, neg, nest, small

from byparts_graph_ir import Graph, Node, Op, TensorType, Types, VerifyError, verify


def test_good_graphs_pass() -> None:
    """The graph itself comes back, so that the call can stand anywhere."""
    graph = nest(4)

    assert verify(graph) is graph


class Boast(Op):
    inplace = ((3, 0),)

    def infer(self, x: TensorType) -> Types:
        return (x,)


class Fickle(Op):
    """A shape rule that changes its mind, as a broken plug-in's might."""

    answers: ClassVar[list[TensorType]] = [f32(1), f32(2)]

    def infer(self, x: TensorType) -> Types:
        return (self.answers.pop(0),)


x, y = given("x", 2), given("y", 2)
a, b = neg(x), neg(y)
na, nb, s = a.node, b.node, add(a, b).node
assert na and nb and s


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (Graph((x, x), (), ()), r"G1: input 1 of type f32\[2\] is listed twice"),
        (Graph((a,), (), ()), r"G1: input 0 of type f32\[2\] is made by a node"),
        (
            Graph((x, y), (s, na, nb), s.outputs),
            r"G2: node 0 \(add\) made at .* reads f32\[2\] as input 0",
        ),
        (Graph((x,), (na, nb), (a,)), r"G2: node 1 \(neg\)"),
        (Graph((x,), (), (a,)), r"G3: output 0 of type f32\[2\] is made by no node"),
        (Graph((x,), (na, na), (a,)), r"G4: node 1 \(neg\) .* is listed twice"),
        (
            Graph((x,), (Node(Fickle(), (x,)),), ()),
            r"G5: node 0 \(fickle\) .* has outputs \(f32\[1\]\) .* \(f32\[2\]\)",
        ),
        (
            Graph.of((x, y), (Call(Graph((x, x), (), (x,)))(x, y),)),
            r"G6: in body of call: G1",
        ),
        (
            Graph.of((x,), (Boast()(x),)),
            r"G7: node 0 \(boast\) .* speaks of input 3 and output 0, and has 1 and 1",
        ),
    ],
    ids=["G1 twice", "G1 made", "G2 order", "G2 foreign", "G3", "G4", "G5", "G6", "G7"],
)
def test_broken_invariants_are_named(graph: Graph, message: str) -> None:
    """The number, the node, and what is wrong with it."""
    with pytest.raises(VerifyError, match=message):
        verify(graph)


def test_n1_no_node_depends_on_itself() -> None:
    """NNVM's OrderMutation made a node wait for itself; here inputs exist before their node does."""
    assert all(v.node is not n for n in small().nodes for v in n.inputs)
