"""A barrier is its first input's bytes, and stays where equal things are merged."""

from __future__ import annotations

from toy_ops import OPS, f32, given, neg

from byparts_graph_ir import Graph, OptimizationBarrier, from_json, parse, to_json, verify

barrier = OptimizationBarrier()


def recomputed() -> Graph:
    """-x twice, the second time after the first."""
    x = given("x", 2)
    first = neg(x)
    return Graph.of([x], [first, neg(barrier(x, first))])


def test_a_barrier_has_the_type_and_the_bytes_of_its_first_input() -> None:
    op = OptimizationBarrier()

    assert op.infer(f32(2, 3), f32()) == (f32(2, 3),)
    assert op.views(f32(2, 3), f32()) == ((0, 0, 0),)
    assert op.evaluate([1.0], [2.0]) == ([1.0],)


def test_a_barrier_prints_and_parses_without_being_in_the_op_set() -> None:
    graph = verify(recomputed())

    assert "optimization_barrier(%x, %1)" in str(graph)
    assert parse(str(graph), OPS) == graph == from_json(to_json(graph), OPS)


def test_the_gradient_passes_through_the_first_input_alone() -> None:
    graph = recomputed()
    node = next(n for n in graph.nodes if n.op == OptimizationBarrier())
    dy = given("dy", 2)

    assert node.op.gradient(node, dy) == (dy, None)


def test_nothing_is_left_of_it_when_it_is_decomposed() -> None:
    x, after = given("x", 2), given("after", 3)

    assert OptimizationBarrier().decompose(x, after) == (x,)
