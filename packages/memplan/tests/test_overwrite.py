"""One answer to whether an output may be written over an input, as far as bytes are concerned."""

from __future__ import annotations

from planned_ops import Cast, Reshape, Rows, add, add_to, copy, given, like, neg

from byparts_graph_ir import Graph, Value
from byparts_memplan.lifetimes import Values
from byparts_memplan.overwrite import overwrite_refusal


def refusal(y: Value, source: Value, far: tuple[Value, ...] = ()) -> str:
    """Why `y`, which its step computes, may not be written over `source`."""
    graph = Graph.of(INPUTS, [y])
    values = Values(graph, lambda v: "far" if v in far else "near")
    target = graph.ids[y]
    return overwrite_refusal(values, values.born[target], graph.ids[source], target)


x, z, wide = INPUTS = given(4), given(4), given(8)
READ = "reads the same bytes and may not be overwritten"


def test_what_the_op_allows_may_be_written_over() -> None:
    assert refusal(neg(x), x) == ""
    assert [refusal(add(x, z), v) for v in (x, z)] == ["", ""]


def test_every_input_that_reads_the_bytes_must_allow_it() -> None:
    assert refusal(copy(x), x) == f"input 0 {READ}"
    assert refusal(add_to(z, x), x) == f"input 1 {READ}"
    assert refusal(add_to(x, x), x) == f"input 1 {READ}"
    assert refusal(add(x, x), x) == ""


def test_bytes_that_the_step_does_not_read_may_be_taken() -> None:
    """Also where an input has them and is ignored."""
    assert refusal(copy(z), x) == ""
    assert refusal(like(z, x), x) == ""


def test_types_sizes_and_spaces_are_equal() -> None:
    """A view of the same bytes with another type is read in another way."""
    part = Rows(0, 4)(wide)

    assert refusal(Cast("i32")(x), x) == "types differ: f32[4] and i32[4]"
    assert refusal(neg(part), part) == "it is only 16 bytes of a buffer of 32"
    assert refusal(neg(x), x, far=(x,)) == "they are in 'far' and 'near'"
    assert refusal(add(x, Reshape((2, 2))(x)), x) == f"input 1 {READ}"


def test_a_view_is_written_over_nothing() -> None:
    assert refusal(Reshape((2, 2))(x), x) == "the output is a view of %0"
