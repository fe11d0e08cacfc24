"""Plans of small graphs, one fact each; alignment 1, so that bytes are exact."""

import pytest
from planned_ops import (
    Beyond,
    Cast,
    Full,
    Reshape,
    Rows,
    Split,
    add,
    add_to,
    copy,
    given,
    like,
    neg,
    shout,
    twins,
)

from byparts_graph_ir import Graph, Value
from byparts_memplan import Decision, Location, Plan, PlanError, check_plan, plan


def planned(graph: Graph, **options: object) -> Plan:
    """A plan that the oracle accepts."""
    made = plan(graph, **{"alignment": 1, **options})  # type: ignore[arg-type]
    check_plan(graph, made)
    return made


def at(graph: Graph, made: Plan, value: Value) -> Location:
    return made.locations[graph.ids[value]]


def refusals(made: Plan) -> list[str]:
    return [d.reason for d in made.decisions if not d.taken]


def test_nn_gr_10_without_views() -> None:
    """`k` is needed for the last sum, so the copy is apart from it, and the sum is written over the copy."""
    x = given(4, 2)
    k = add(x, x)
    copied = copy(k)
    graph = Graph.of((x,), (add(copied, k),))
    made = planned(graph, external={0})

    assert at(graph, made, k) != at(graph, made, copied)
    assert at(graph, made, graph.outputs[0]) == at(graph, made, copied)
    assert made.arena_bytes == 2 * 32


def test_nn_gr_10_with_views() -> None:
    """A reshape is no copy: the whole program lives in the bytes of `k`."""
    x = given(4, 2)
    k = add(x, x)
    back = Reshape((4, 2))(Reshape((2, 4))(k))
    graph = Graph.of((x,), (add(back, k),))
    made = planned(graph, external={0})

    assert at(graph, made, graph.outputs[0]) == at(graph, made, back) == at(graph, made, k)
    assert made.arena_bytes == 32


def test_n6_bytes_depend_on_the_dtype() -> None:
    """NNVM counted 4 bytes for each element of any dtype."""
    x = given(10, dtype="f64")
    graph = Graph.of((x,), (Cast("bool")(Cast("f16")(x)),))
    made = planned(graph)

    assert [b.size_bytes for b in made.placement.buffers] == [80, 20, 10]
    assert (made.naive_bytes, made.arena_bytes) == (110, 100)


def test_n13_scalars_are_values() -> None:
    """NNVM could not tell 0-d from unknown."""
    x = given()
    made = planned(Graph.of((x,), (copy(x),)))

    assert (made.arena_bytes, made.naive_bytes) == (8, 8)


def test_values_without_bytes_take_no_place() -> None:
    """A 0-size value has a location, and nothing is spent on it."""
    x = given(0, 3)
    made = planned(Graph.of((x,), (neg(copy(x)), x)))

    assert made.arena_bytes == made.lower_bound_bytes == 0


def test_types_must_be_static() -> None:
    """The value is named, and what to do."""
    x = given("n", name="images")  # type: ignore[arg-type]

    with pytest.raises(PlanError, match=r"%0, images f32\[n\] \(.*\), has no size yet; specialize"):
        plan(Graph.of((x,), (neg(x),)))


def test_chain_in_place_is_one_buffer() -> None:
    """Each result over the one before, the feed included."""
    x = given(4)
    made = planned(Graph.of((x,), (neg(neg(neg(x))),)))

    assert made.residents == ((0, 1, 2, 3),)
    assert made.arena_bytes == 16


def test_external_inputs_are_not_written() -> None:
    """They are outside the arena, and so is a view of one; the reason is kept."""
    x = given(4)
    flat = Reshape((2, 2))(x)
    graph = Graph.of((x,), (neg(x), flat))
    made = planned(graph, external={0})

    assert at(graph, made, x) == at(graph, made, flat) == Location(0, 0)
    assert made.arena_bytes == 16
    assert "the bytes are those of input 0, outside the arena" in refusals(made)


def test_an_output_that_is_read_again_is_not_overwritten() -> None:
    """The caller wants both."""
    x = given(4)
    y = copy(x)
    made = planned(Graph.of((x,), (y, neg(y))))

    assert refusals(made) == ["the bytes are an output of the graph"]


def test_a_value_needed_later_is_not_overwritten() -> None:
    """The reader is named."""
    x = given(4)
    y = neg(x)
    made = planned(Graph.of((x,), (add(x, copy(y)), y), order=(y,)))

    assert "the bytes are needed until step 2 (add)" in refusals(made)


def test_another_view_keeps_the_bytes() -> None:
    """The input itself dies, but its upper rows are read later."""
    x = given(4, 2)
    rows = Rows(2, 4)(x)
    y = neg(x)
    made = planned(Graph.of((x,), (y, copy(rows)), order=(rows, y)))

    assert "the bytes are needed until step 2 (copy)" in refusals(made)


def test_types_must_be_equal_for_in_place() -> None:
    """Even at equal sizes."""
    x = given(4)
    made = planned(Graph.of((x,), (Cast("i32")(x),)))

    assert refusals(made) == ["types differ: f32[4] and i32[4]"]


def test_a_part_of_a_buffer_is_not_kept_alive_for_its_successor() -> None:
    """The large buffer dies, rather than living on for a quarter of itself."""
    x = given(4, 2)
    made = planned(Graph.of((x,), (neg(Rows(1, 2)(x)),)))

    assert refusals(made) == ["it is only 8 bytes of a buffer of 32"]


def test_the_same_bytes_read_twice_may_forbid_in_place() -> None:
    """`add_to(x, x)` may be written over its first input but not over its second, which is the same."""
    x = given(4)
    made = planned(Graph.of((x,), (add_to(x, x),)))

    assert refusals(made) == ["input 1 reads the same bytes and may not be overwritten"]


def test_the_same_bytes_read_twice_are_overwritten_where_both_may() -> None:
    """`add(x, x)`, and through a view."""
    x = given(4)
    made = planned(Graph.of((x,), (add(x, Reshape((4,))(add(x, x))),)))

    assert made.arena_bytes == 32  # x is read by the last step, so the inner sum is apart from it
    assert planned(Graph.of((x,), (add(x, Reshape((4,))(x)),))).arena_bytes == 16


def test_two_outputs_match_two_inputs() -> None:
    """The first output leaves input 0 to the second, which can take no other."""
    x, y = given(4), given(4, name="y")
    graph = Graph.of((x, y), twins.outputs_of(x, y))
    made = planned(graph)

    assert made.arena_bytes == 32
    assert [at(graph, made, v) for v in graph.outputs] == [at(graph, made, y), at(graph, made, x)]


def test_a_buffer_is_taken_once() -> None:
    """Both outputs want the same bytes."""
    x, y = given(4), given(4, name="y")
    made = planned(Graph.of((x, y), (*twins.outputs_of(x, y), y)))

    assert "another output has taken the bytes" in refusals(made)
    assert made.arena_bytes == 48


def test_ignored_inputs_die_early() -> None:
    """Only the type of `like` is read, so its bytes are free for others by then."""
    x = given(4)
    ref = copy(x)
    y = copy(copy(neg(copy(x))))
    graph = Graph.of((x,), (like(y, ref),), order=(ref, y))
    made = planned(graph, external={0})

    assert "the bytes are free, and perhaps taken, after step 0" in refusals(made)
    assert made.arena_bytes == 32


def test_a_value_nobody_reads_lives_for_its_step() -> None:
    """It must not fall on what is alive there."""
    x = given(4)
    graph = Graph.of((x,), (Split().outputs_of(x)[0],))
    made = planned(graph)

    assert made.arena_bytes == 32


def test_effects_keep_what_they_read() -> None:
    """A value read by an effect alone."""
    x = given(4)
    heard = shout(x)
    graph = Graph.of((x,), (copy(x),), order=(heard,))

    assert planned(graph).arena_bytes == 32


def test_an_output_may_be_an_input_and_come_twice() -> None:
    """The caller finds all three."""
    x = given(4)
    y = copy(x)
    graph = Graph.of((x,), (x, y, y))
    made = planned(graph)

    assert made.arena_bytes == 32
    assert made.locations == (made.locations[0], made.locations[1])


def test_a_graph_of_no_nodes() -> None:
    """Inputs are there for the caller."""
    x, y = given(4), given(2, name="y")

    assert planned(Graph.of((x, y), (y,))).arena_bytes == 24


def test_an_unread_feed_does_not_fall_on_another() -> None:
    """All feeds are written before step 0."""
    x, y = given(4), given(4, name="y")
    made = planned(Graph.of((x, y), (neg(y),)))

    assert made.arena_bytes == 32


def test_sources_have_bytes_of_their_own() -> None:
    """A node without inputs."""
    graph = Graph.of((), (add(Full((4,))(), Full((4,))()),))

    assert planned(graph).arena_bytes == 32


def test_everything_is_aligned_and_padded() -> None:
    """4-byte values, 64 bytes apart."""
    x = given()
    made = planned(Graph.of((x,), (x, copy(x), copy(x))), alignment=64)

    assert (made.arena_bytes, made.naive_bytes, made.lower_bound_bytes) == (192, 192, 192)
    assert {loc.offset for loc in made.locations} == {0, 64, 128}


def test_views_lie_within() -> None:
    """Rows 1 to 3 of 8 bytes each begin at byte 8; a view of a view adds up."""
    x = given(4, 2)
    rows = Rows(1, 4)(x)
    last = Rows(2, 3)(rows)
    graph = Graph.of((x,), (copy(last),), order=(last,))
    made = planned(graph)

    assert at(graph, made, last).offset - at(graph, made, x).offset == 24


def test_a_view_that_does_not_exist_is_refused() -> None:
    """What a foreign op says is checked."""
    x = given(4)

    with pytest.raises(PlanError, match=r"step 0 \(beyond\).* at bytes \[4, 20\), but that has 16"):
        plan(Graph.of((x,), (Beyond()(x),)))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"external": {3}}, "external: there is no input 3; the graph has 1"),
        ({"alignment": 0}, "alignment must be at least 1, a whole number, not 0"),
        ({"donate": {0: 0}}, "donate: input 0 is not among the external inputs"),
        ({"external": {0}, "donate": {0: 7}}, "donate: there is no output 7; the graph has 1"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], match: str) -> None:
    """Each with its numbers."""
    x = given(4)

    with pytest.raises(PlanError, match=match):
        plan(Graph.of((x,), (neg(x),)), **options)  # type: ignore[arg-type]


@pytest.mark.long
def test_a_long_chain() -> None:
    """30 000 nodes, two buffers in turn."""
    y: Value = given(4)
    x = y
    for _ in range(30_000):
        y = copy(y)
    graph = Graph.of((x,), (y,))

    assert plan(graph).arena_bytes == 128


def test_a_value_given_twice_is_one_chance() -> None:
    """`add(y, y)` asks once."""
    x = given(4)
    y = copy(x)

    assert len(refusals(planned(Graph.of((x,), (add(y, y), y))))) == 1


def test_decisions_are_kept() -> None:
    """What was shared and why not, by value id."""
    x = given(4)
    made = planned(Graph.of((x,), (neg(neg(x)),)), external={0})

    assert made.decisions == (
        Decision("in place", 0, 0, 1, "the bytes are those of input 0, outside the arena"),
        Decision("in place", 1, 1, 2),
    )


def test_a_plan_with_no_effort_is_valid() -> None:
    """One greedy placement is made in any case."""
    x = given(4)
    made = planned(Graph.of((x,), (add(neg(x), copy(x)),)), effort=0)

    assert made.arena_bytes >= made.lower_bound_bytes
