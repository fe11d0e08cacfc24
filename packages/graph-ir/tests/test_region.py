"""What a region tells a backend that is asked whether to let it grow."""

from __future__ import annotations

from toy_ops import add, given, neg

from byparts_graph_ir import Graph, Region, Value, reads_of


def of(graph: Graph) -> list[Region]:
    """Each node as a region."""
    reads = reads_of(graph)
    return [Region(node, reads) for node in graph.nodes]


def test_reads_count_each_input_of_each_node_and_each_result() -> None:
    x = given("x", 2)
    y = add(x, x)
    z = neg(y)

    assert reads_of(Graph.of((x,), (y, z, y))) == {x: 2, y: 3, z: 1}


def test_a_region_of_one_node() -> None:
    x = given("x", 2)
    y = add(x, x)
    (region,) = of(Graph.of((x,), (y,)))

    assert (region.size, region.parts, region.summary) == (1, (), None)
    assert (region.inputs, region.outputs) == ({x: 2}, {y: 1})
    assert [node.op.name for node in region.nodes] == ["add"]


def test_what_only_the_two_read_stays_inside() -> None:
    x = given("x", 2)
    y = neg(x)
    z = add(y, x)
    first, second = of(Graph.of((x,), (z,)))

    both = first.joined(second, summary="all")

    assert first.only_read_in(second, y) and not second.only_read_in(first, z)
    assert (both.inputs, both.outputs, both.summary) == ({x: 2}, {z: 1}, "all")
    assert (both.nodes, both.parts, both.size) == (first.nodes + second.nodes, (first, second), 2)


def test_what_somebody_else_reads_comes_out() -> None:
    x = given("x", 2)
    y = neg(x)
    z = add(y, y)
    first, second, third = of(Graph.of((x,), (z, neg(y))))

    both = first.joined(second)

    assert not first.only_read_in(second, y) and not first.only_read_in(third, y)
    assert both.outputs == {y: 1, z: 1}
    assert both.joined(third).outputs.keys() == {z, *third.outputs}


def test_a_result_is_read_elsewhere() -> None:
    x = given("x", 2)
    y = neg(x)
    first, second = of(Graph.of((x,), (neg(y), y)))

    assert not first.only_read_in(second, y) and y in first.joined(second).outputs


def test_values_of_others_are_not_read_in_here() -> None:
    x = given("x", 2)
    y = neg(x)
    first, second = of(Graph.of((x,), (y, neg(x))))

    assert not first.only_read_in(second, x) and first.joined(second).inputs == {x: 2}


def test_a_region_of_many_joins_is_no_trouble() -> None:
    """Neither recursion nor a copy of what is there for each join."""
    x = given("x", 2)
    y: Value = x
    for _ in range(5000):
        y = neg(y)
    region, *rest = of(Graph.of((x,), (y,)))
    for one in rest:
        region = region.joined(one)

    assert (region.inputs, region.outputs) == ({x: 1}, {y: 1})
    assert len(region.nodes) == region.size == 5000
    assert repr(region).endswith("neg, neg, 4992 more)")
