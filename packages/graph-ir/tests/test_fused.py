"""A region as one node: its types, its text, and the way back."""

from __future__ import annotations

import pytest
from toy_ops import OPS, Add, add, chain, f32, given, names, neg, shout, small

from byparts_graph_ir import (
    Fused,
    Graph,
    Node,
    ShapeError,
    TensorType,
    from_json,
    parse,
    specialize,
    to_json,
    verify,
)


def outside() -> Graph:
    """The running example as one node."""
    x, y = given("x", 2), given("y", 2)
    return Graph.of((x, y), Node(Fused(small()), (x, y)).outputs)


def test_a_region_has_the_types_of_its_graph() -> None:
    assert [v.type for v in verify(outside()).outputs] == [f32(2)]


@pytest.mark.parametrize("types", [(f32(3), f32(2)), (f32(2),)])
def test_other_inputs_are_refused(types: tuple[TensorType, ...]) -> None:
    with pytest.raises(ShapeError, match=r"f32\[2\]"):
        Fused(small()).infer(*types)


def test_a_region_prints_and_parses_without_being_in_the_op_set() -> None:
    graph = outside()

    assert "fused" not in OPS
    assert parse(str(graph), OPS) == graph and from_json(to_json(graph), OPS) == graph


def test_inside_out_it_is_the_same_program() -> None:
    """`decompose` puts the nodes back, with the lines they were made at."""
    graph = outside()

    back = graph.rewrite(lambda node: node.op.decompose(*node.inputs))

    assert back == small()
    assert [n.where for n in back.nodes] == [n.where for n in small().nodes]


def test_the_graph_inside_follows_the_types_outside() -> None:
    x, y = given("x", "n"), given("y", "n")
    region = Fused(Graph.of((x, y), (neg(add(x, y)),)))
    graph = Graph.of((x, y), Node(region, (x, y)).outputs)

    static = verify(specialize(graph, (f32(5), None)))

    assert static.outputs[0].type == f32(5)
    assert static.nodes[0].op.infer(f32(5), f32(5)) == (f32(5),)
    assert [v.type for v in static.nodes[0].op.graph.inputs] == [f32(5)] * 2  # type: ignore[attr-defined]


def test_regions_with_one_content_are_equal() -> None:
    assert Fused(small()) == Fused(small()) != Fused(chain(2))
    assert hash(Fused(small())) == hash(Fused(small()))


def test_flops_are_those_of_the_nodes() -> None:
    assert Fused(small()).flops(f32(2), f32(2)) == 4


def test_the_rules_of_the_graph_run_backwards_through_it() -> None:
    x, y = given("x", None), given("y", 2)
    inner = Fused(Graph.of((x, y), (Add()(y, y), shout(x))))

    assert inner.infer_inputs((f32(None), f32(2)), (f32(2), f32(2)))[1] == f32(2)
    assert names(inner.graph) == ["add", "shout"]
