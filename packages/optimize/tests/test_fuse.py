"""Regions: what is joined, what must not be, and that nothing else changes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import byparts_opset as ops
from byparts_conformance.graphs import graphs
from byparts_graph_ir import Fused, Graph, Input, Node, Op, TensorType, Value, verify
from byparts_optimize import fuse


def given_value(name: str) -> Input:
    return Input(TensorType("f32", (2, 2)), None, name)


def elementwise(node: Node) -> bool:
    return node.op.pattern == "elementwise"


def regions(graph: Graph) -> list[list[str]]:
    """The ops of each region."""
    found = (n.op for n in graph.nodes if isinstance(n.op, Fused))
    return [[n.op.name for n in op.graph.nodes] for op in found]


def back(graph: Graph) -> Graph:
    """With every region put back."""
    return graph.rewrite(lambda n: n.op.decompose(*n.inputs) if isinstance(n.op, Fused) else None)


def test_a_chain_becomes_one_node() -> None:
    x, y = given_value("x"), given_value("y")
    graph = Graph.of((x, y), (ops.tanh(x * y + x),))

    fused = verify(fuse(graph, elementwise))

    assert regions(fused) == [["mul", "add", "tanh"]] and len(fused.nodes) == 1
    assert back(fused) == graph
    assert [v.name for v in fused.nodes[0].op.graph.inputs] == ["x", "y"]  # type: ignore[attr-defined]


def test_a_path_that_leaves_and_comes_back_is_not_enclosed() -> None:
    """tanh -> matmul -> add and tanh -> add: with tanh and add in one, matmul would have no place."""
    x = given_value("x")
    y = ops.tanh(x)
    graph = Graph.of((x,), (y + y @ x,))

    assert fuse(graph, elementwise) is graph


def test_what_joins_later_opens_the_way() -> None:
    """The edge from tanh to the last add is refused until all that is between them has joined."""
    x = given_value("x")
    y = ops.tanh(x)
    graph = Graph.of((x,), (ops.sin(ops.cos(y)) + y,))

    assert len(verify(fuse(graph, elementwise)).nodes) == 1


def test_nodes_that_are_not_connected_are_not_joined() -> None:
    x = given_value("x")
    graph = Graph.of((x,), (ops.tanh(ops.tanh(x)), ops.sin(ops.sin(x))))

    assert regions(fuse(graph, elementwise)) == [["tanh", "tanh"], ["sin", "sin"]]


def test_a_region_moves_behind_what_it_needs() -> None:
    """tanh runs before matmul; in a region with the last add, it runs after."""
    x = given_value("x")
    y, z = ops.tanh(x), x @ x
    graph = Graph.of((x,), (ops.sin(y) + z,), order=(y, z))

    assert [n.op.name for n in graph.nodes] == ["tanh", "matmul", "sin", "add"]
    assert [n.op.name for n in verify(fuse(graph, elementwise)).nodes] == ["matmul", "fused"]


def test_effects_keep_their_order_though_nothing_connects_them() -> None:
    """With add in the region too, it would wait for the second print, and the first for it."""
    x = given_value("x")
    y = ops.tanh(x)
    first = ops.print_value(y, "first")
    second = ops.print_value(x, "second")
    z = ops.sin(y) + second
    graph = Graph.of((x,), (z, first), order=(y, first, second, z))

    after = verify(fuse(graph, elementwise))

    printed = [n.op.message for n in after.nodes if n.op.name == "print"]  # type: ignore[attr-defined]
    assert printed == ["first", "second"] and regions(after) == [["tanh", "sin"]]


def test_effects_are_never_enclosed() -> None:
    x = given_value("x")
    graph = Graph.of((x,), (ops.tanh(ops.print_value(ops.tanh(x), "first")),))

    assert fuse(graph, lambda node: True) is graph


def test_unknown_shapes_are_left_alone() -> None:
    x = Input(TensorType("f32", (None,)), None, "x")
    graph = Graph.of((x,), (ops.tanh(ops.tanh(x)),))

    assert fuse(graph, elementwise) is graph


def test_named_dimensions_are_joined_where_the_backend_takes_them() -> None:
    """A backend that asks for a number is not asked again: such nodes stay as they are."""
    x = Input(TensorType("f32", ("n",)), None, "x")
    graph = Graph.of((x,), (ops.tanh(ops.sin(x)),))

    assert regions(fuse(graph, elementwise)) == [["sin", "tanh"]]
    assert fuse(graph, lambda node: node.outputs[0].type.size > 1) is graph


def test_a_node_alone_is_a_region_where_that_is_asked() -> None:
    """As for a backend that compiles, and has no kernel of its own for it."""
    x = given_value("x")
    graph = Graph.of((x,), (ops.tanh(x),))

    assert regions(fuse(graph, elementwise, alone=elementwise)) == [["tanh"]]


def test_only_what_is_read_outside_comes_out() -> None:
    x = given_value("x")
    y = ops.tanh(x)
    z = ops.sin(y)
    graph = Graph.of((x,), (ops.cos(z), y))

    (node,) = fuse(graph, elementwise).nodes
    assert len(node.outputs) == 2


def test_what_a_region_computes_twice_is_computed_once_unless_both_come_out() -> None:
    x, y = given_value("x"), given_value("y")
    inside = Graph.of((x, y), (ops.tanh(x + y) * ops.sin(x + y),))
    one, other = ops.tanh(x + y), ops.tanh(x + y)
    outside = Graph.of((x, y), (one, other, one * other))

    assert regions(verify(fuse(inside, elementwise))) == [["add", "tanh", "sin", "mul"]]
    assert sorted(*regions(verify(fuse(outside, elementwise)))) == sorted(
        [*["add", "tanh"] * 2, "mul"]
    )


def test_deep_programs_are_no_trouble() -> None:
    """No recursion, and no walk through all that came before at each node."""
    x = given_value("x")
    y: Value = x
    for _ in range(5000):
        y = ops.tanh(y)

    (node,) = fuse(Graph.of((x,), (y,)), elementwise).nodes
    assert len(node.op.graph.nodes) == 5000  # type: ignore[attr-defined]


WANTED = st.sets(
    st.sampled_from(["add", "sub", "mul", "tanh", "sin", "cos", "neg", "sum", "matmul", "select"])
)


@given(graph=graphs(most_nodes=20), names=WANTED)
@settings(deadline=None, max_examples=150)
def test_doing_it_twice_does_no_more(graph: Graph, names: set[str]) -> None:
    once = fuse(graph, lambda n: n.op.name in names)

    assert fuse(once, lambda n: n.op.name in names) == once
    assert fuse(graph, lambda n: n.op.name in names) == once


@given(graph=graphs(most_nodes=20), names=WANTED)
@settings(deadline=None, max_examples=150)
def test_regions_hold_all_they_may_and_nothing_else(graph: Graph, names: set[str]) -> None:
    """Brute force: joining any two neighbours more would make a cycle."""
    after = fuse(graph, lambda n: n.op.name in names)

    inside = [n for r in regions(after) for n in r]
    assert set(inside) <= names and all(len(r) > 1 for r in regions(after))
    for i, node in enumerate(after.nodes):
        for v in node.inputs:
            if v.node is not None and _wanted(v.node, names) and _wanted(node, names):
                assert _other_path(after, after.nodes.index(v.node), i)


def _wanted(node: Node, names: set[str]) -> bool:
    return isinstance(node.op, Fused) or node.op.name in names


def _other_path(graph: Graph, a: int, b: int) -> bool:
    """Whether `b` needs `a` also by way of a third node; effects need the one before."""
    needs: list[set[int]] = []
    last: Any = None
    for i, node in enumerate(graph.nodes):
        direct = {graph.nodes.index(v.node) for v in node.inputs if v.node is not None}
        if node.op.effect:
            direct |= {last} - {None}
            last = i
        between = {k for k in direct if (k, i) != (a, b)}
        needs.append(between | {j for k in between for j in needs[k]})
    return a in needs[b]


@pytest.mark.parametrize("op", [Fused])
def test_the_kit_has_samples_of_regions(op: type[Op]) -> None:
    """Arithmetic on a few shapes."""
    assert len(list(op.samples())) > 5
