"""A copy is its input's value in another space."""

from __future__ import annotations

from toy_ops import OPS, f32, given

from byparts_graph_ir import Copy, Graph, from_json, parse, to_json, verify

THERE = Copy("npu:0", "host")


def test_a_copy_has_the_type_of_its_input_and_bytes_of_its_own() -> None:
    assert THERE.infer(f32(2, "n")) == (f32(2, "n"),)
    assert THERE.views(f32(2)) == () and THERE.inplace == ()
    assert THERE.infer_inputs((f32(None),), (f32(3),)) == (f32(3),)


def test_a_copy_prints_and_parses_without_being_in_the_op_set() -> None:
    x = given("x", 2)
    graph = verify(Graph.of([x], [THERE(x), Copy("far")(x)]))

    assert "copy(%x, space='npu:0', source='host')" in str(graph)
    assert parse(str(graph), OPS) == graph == from_json(to_json(graph), OPS)


def test_its_gradient_is_copied_back() -> None:
    """Where it is known whence it came."""
    x, dy = given("x", 2), given("dy", 2)
    (back,) = THERE.gradient(THERE(x).node, dy)  # type: ignore[arg-type]

    assert back is not None and back.node is not None
    assert (back.node.op, back.node.inputs) == (Copy("host", "npu:0"), (dy,))
    assert Copy("far").gradient(Copy("far")(x).node, dy) == (dy,)  # type: ignore[arg-type]


def test_nothing_is_left_of_it_when_it_is_decomposed() -> None:
    x = given("x", 2)

    assert THERE.decompose(x) == (x,)
