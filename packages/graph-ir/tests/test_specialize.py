"""More definite inputs, and all that follows."""

from __future__ import annotations

import pytest
from toy_ops import Cast, Dense, Full, Halves, add, f32, given, neg, small

from byparts_graph_ir import Graph, ShapeError, TensorType, infer_inputs, specialize, verify


def layers() -> Graph:
    """Two dense layers whose weights have shapes that only the data tells."""
    x, w1, w2 = given("x", "n", None), given("w1", None, 5), given("w2", None, None)
    return Graph.of((x, w1, w2), (Dense(3)(Dense(5)(x, w1), w2),))


def test_nn_gr_6_shapes_flow_from_input_types() -> None:
    """NNVM row: known inputs make every value known."""
    graph = specialize(layers(), [f32(8, 7), None, None])

    assert graph.outputs[0].type == f32(8, 3) and verify(graph)


def test_nn_gr_7_what_was_known_stays() -> None:
    """NNVM row: a shape that was filled in already is kept and checked."""
    half = specialize(layers(), [f32(None, 7), None, None])

    assert specialize(half, [f32(8, None), None, None]) == specialize(
        layers(), [f32(8, 7), None, None]
    )


def test_nn_gr_8_dtypes_flow() -> None:
    """NNVM row: add keeps the dtype, cast changes it, known rank or not."""
    x = given("x", None)
    graph = Graph.of((x,), (Cast("i8")(add(x, x)),))

    assert graph.outputs[0].type.dtype == "i8"
    assert Cast("i8")(neg(neg(x))).type == TensorType("i8", (None,))


def test_shape_rules_run_backwards() -> None:
    """The weights' missing dimensions come from the data, through both layers."""
    assert infer_inputs(layers(), [f32(8, 7), None, None]) == (f32(8, 7), f32(7, 5), f32(5, 3))


def test_unranked_inputs_become_ranked() -> None:
    """A feed of unknown rank is a type too."""
    x = given("x", 1)
    unranked = Graph.of((u := type(x)(TensorType("f32", None)),), (neg(u),))

    assert unranked.outputs[0].type == TensorType("f32", None)
    assert specialize(unranked, [f32(2, 2)]).outputs[0].type == f32(2, 2)


def test_a_symbol_is_one_number_everywhere() -> None:
    """Binding n at one input binds it at the others, and in attributes that are shapes."""
    x, y = given("x", "n"), given("y", "n", "k")
    graph = Graph.of((x, y), (x, y, Full(("n", 2))()))
    bound = specialize(graph, [f32(4), None])

    assert [v.type for v in bound.outputs] == [f32(4), f32(4, "k"), f32(4, 2)]
    with pytest.raises(ShapeError, match=r"dimension 'n' is 4 at input .* and 5 at input"):
        specialize(graph, [f32(4), f32(5, 1)])


def test_contradictions_name_the_input() -> None:
    """A type that cannot be is refused with both."""
    with pytest.raises(
        ShapeError, match=r"input 'x' is f32\[2\] in the graph and cannot be f32\[3\]"
    ):
        specialize(small(), [f32(3), None])
    with pytest.raises(ShapeError, match="1 types for a graph of 2 inputs"):
        specialize(small(), [f32(2)])


def test_n10_the_original_is_untouched_and_shared() -> None:
    """N10: a pass gives a new graph; what needs no change is the same node."""
    graph = layers()
    before = str(graph)
    specialize(graph, [f32(8, 7), None, None])

    assert str(graph) == before
    assert specialize(small()).nodes[0] is not None and specialize(s := small()).nodes == s.nodes


def test_rules_that_contradict_name_the_node() -> None:
    """The error says which op refused, and where it was made."""
    x, w = given("x", 8, 7), given("w", 6, 5)
    with pytest.raises(ShapeError, match=r"f32\[6,5\] and f32\[7,5\] cannot be one type") as caught:
        infer_inputs(Graph.of((x, w), (Dense(5)(x, w),)))
    assert "in dense, created at" in str(getattr(caught.value, "__notes__", caught.value.args))


def test_multi_output_nodes_specialize() -> None:
    """Every output is re-typed."""
    graph = Graph.of((x := given("x", 4),), Halves().outputs_of(x))

    assert specialize(graph) == graph
