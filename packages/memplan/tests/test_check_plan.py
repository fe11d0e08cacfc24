"""The oracle: it accepts what `plan` makes of any graph, and refuses what is broken by hand."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given as forall, settings, strategies as st
from planned_ops import (
    Cast,
    Copy,
    Full,
    Reshape,
    Rows,
    Shout,
    Split,
    add,
    add_to,
    copy,
    given,
    like,
    neg,
    twins,
)

from byparts_graph_ir import Graph, Node, Op, Value
from byparts_memplan import Location, Plan, PlanError, check_plan, plan
from byparts_memplan.lifetimes import Decision

VIEW, OVER = Decision("view", 0, 0, 1), Decision("in place", 1, 1, 2)
SHAPES = ((), (4,), (2, 2), (4, 2), (0, 3))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Up to 14 nodes of every kind, over shapes that fit each other now and then."""
    values: list[Value] = [
        given(*draw(st.sampled_from(SHAPES)), name=f"x{i}") for i in range(draw(st.integers(1, 4)))
    ]
    inputs, nodes = tuple(values), []
    for _ in range(draw(st.integers(0, 14))):
        x = draw(st.sampled_from(values))
        y = draw(st.sampled_from([v for v in values if v.type == x.type]))
        op, operands = draw(st.sampled_from(_choices(x, y)))
        nodes.append(Node(op, operands))
        values += nodes[-1].outputs
    outputs = draw(st.lists(st.sampled_from(values), min_size=1, max_size=4))
    return Graph(inputs, tuple(nodes), tuple(outputs))  # dead code stays: values nobody reads


def _choices(x: Value, y: Value) -> list[tuple[Op, tuple[Value, ...]]]:
    one: list[Op] = [
        neg,
        Copy(),
        Shout(),
        Split(),
        Cast("f32"),
        Cast("i32"),
        Reshape((x.type.size,)),
    ]
    two: list[Op] = [add, add_to, like, twins]
    if x.type.rank == 2:
        one += [Rows(0, 1), Rows(1, 2)] if x.type.dims[0] > 1 else []
    return [(Full((4,)), ()), *((op, (x,)) for op in one), *((op, (x, y)) for op in two)]


@settings(max_examples=250, deadline=None)
@forall(graphs(), st.sets(st.integers(0, 3)), st.sampled_from([1, 8, 64]), st.data())
def test_every_plan_is_valid(
    graph: Graph, outside: set[int], alignment: int, data: st.DataObject
) -> None:
    """Any graph, any inputs outside, any of them donated; and no arena below the bound."""
    external = {k for k in outside if k < len(graph.inputs)}
    outputs = st.integers(0, len(graph.outputs) - 1)
    donate = (
        data.draw(st.dictionaries(st.sampled_from(sorted(external)), outputs)) if external else {}
    )
    made = plan(graph, external=external, alignment=alignment, donate=donate)

    check_plan(graph, made)
    assert made.lower_bound_bytes <= made.arena_bytes <= made.naive_bytes


@settings(max_examples=100, deadline=None)
@forall(graphs())
def test_plans_are_stable(graph: Graph) -> None:
    """The same graph, the same plan."""
    assert plan(graph) == plan(graph)


def two_copies() -> tuple[Graph, Plan]:
    """x is copied, the copy is copied, and all are outputs: at 0, 16 and 32, of 8 bytes each."""
    x = given(2)
    y = copy(x)
    graph = Graph.of((x,), (x, y, copy(y)))
    return graph, plan(graph, alignment=16)


def moved(made: Plan, *offsets: int) -> Plan:
    return replace(made, locations=tuple(Location(None, at) for at in offsets))


@pytest.mark.parametrize(
    ("offsets", "match"),
    [
        ((0, 16, 16), r"^step 1 \(copy\) writes %2 over its input %1, which it may not$"),
        ((0, 0, 32), r"^step 0 \(copy\) writes %1 over its input %0, which it may not$"),
        ((0, 16, 48), r"^step 1 \(copy\): %2 at \[48, 56\) leaves the arena of 48 bytes$"),
        ((0, 16, 40), r"^step 1 \(copy\): %2 at 40 is not aligned to 16 bytes$"),
        ((0, 16), "^2 locations for 3 values$"),
        ((16, 0, 32), r"^%0 lies at \[16, 24\) of space '', and its buffer 0 at \[0, 16\) of"),
    ],
)
def test_broken_plans_are_refused(offsets: tuple[int, ...], match: str) -> None:
    """The step and the values are named."""
    graph, made = two_copies()

    check_plan(graph, moved(made, 0, 16, 32))
    with pytest.raises(PlanError, match=match):
        check_plan(graph, moved(made, *offsets))


@pytest.mark.parametrize(
    ("fault", "match"),
    [
        ({"alignment": 0}, "^the alignment is 0, and must be at least 1$"),
        ({"external": (7,)}, "^external: there is no input 7; the graph has 1$"),
        ({"donated": ((0, 0),)}, "^donated: input 0 is not among the external inputs$"),
        ({"external": (0,), "donated": ((0, 5),)}, "^donated: there is no output 5; the graph"),
        ({"labels": ("one",)}, "^3 buffers, residents of 3, labels of 1$"),
        (
            {"residents": ((0,), (1,), ())},
            "^buffer 2 holds no value, and step 1 needs no workspace",
        ),
        ({"residents": ((0,), (1,), (2, 1))}, "^%1 is said to be in buffers 1 and 2$"),
        ({"residents": ((0,), (1,), (2, 9))}, "^buffer 2: there is no %9$"),
        ({"residents": ((1,), (0,), (2,))}, r"^%0 lies at \[0, 8\) .* buffer 1 at \[16, 32\) of"),
        ({"labels": ("%0 x", "%2 y", "%1 z")}, "^buffer 1 is called '%2 y', and begins with %1$"),
        ({"external": (0, 0)}, r"^external: inputs \(0, 0\) are not in order, each once$"),
        ({"naive_bytes": 24}, "^naive is 24 bytes; each on its own, they take 48$"),
        (
            {"decisions": (Decision("in place", 1, 1, 2),)},
            "^in place at step 1: %2 does not lie in bytes of %1$",
        ),
        ({"decisions": (Decision("view", 1, 1, 3),)}, "^view at step 1: there is no %1 or no %3$"),
    ],
)
def test_what_a_plan_says_of_itself_is_checked(fault: dict[str, Any], match: str) -> None:
    """A field each, in a plan that would run."""
    graph, made = two_copies()

    with pytest.raises(PlanError, match=match):
        check_plan(graph, replace(made, **fault))


@pytest.mark.parametrize(
    ("fault", "match"),
    [
        ({"arena_bytes": 64}, "^the arena is 64 bytes, and its buffers end at 48$"),
        ({"lower_bound_bytes": 49}, "^the lower bound is 49 bytes; 48 are alive together, and"),
        ({"lower_bound_bytes": 47}, "^the lower bound is 47 bytes; 48 are alive together, and"),
        ({"offsets": (0, 32, 16)}, r"^%1 lies at \[16, 24\) of space '', and its buffer 1 at"),
        ({"offsets": (0, 0, 16)}, "^buffers 0 and 1 share bytes"),
    ],
)
def test_what_a_plan_says_of_its_arena_is_checked(fault: dict[str, Any], match: str) -> None:
    graph, made = two_copies()

    with pytest.raises(PlanError, match=match):
        check_plan(graph, replace(made, placement=replace(made.placement, **fault)))


@pytest.mark.parametrize(
    ("fault", "match"),
    [
        ({"born": 1}, r"^%1 is used during steps \[0, 3\), and its buffer 1 lives .* \[1, 3\)$"),
        ({"dies": 2}, r"^%1 is used during steps \[0, 3\), and its buffer 1 lives .* \[0, 2\)$"),
        ({"dies": 4}, r"^buffer 1 lives during steps \[0, 4\), and is used during \[0, 3\)$"),
        ({"alignment": 8}, "^buffer 1 is aligned to 8, and the plan to 16$"),
        ({"gaps": ((1, 2),)}, r"lives during \[0, 1\) and \[2, 3\)$"),
        ({"size_bytes": 4}, r"^%1 lies at \[16, 24\) of .* and its buffer 1 at \[16, 20\) of"),
        ({"space": "far"}, r"^%1 lies at .* of space '', and its buffer 1 at .* of space 'far'$"),
    ],
)
def test_what_a_plan_says_of_a_buffer_is_checked(fault: dict[str, Any], match: str) -> None:
    """Its life is that of all who live in it."""
    graph, made = two_copies()
    first, second, third = made.placement.buffers
    buffers = first, replace(second, **fault), third
    placement = replace(made.placement, buffers=buffers, lower_bound_bytes=32 + 16)

    with pytest.raises(PlanError, match=match):
        check_plan(graph, replace(made, placement=placement))


def test_a_value_in_the_arena_is_in_a_buffer() -> None:
    graph, made = two_copies()
    place = made.placement
    fewer = replace(place, buffers=place.buffers[:2], offsets=place.offsets[:2])
    broken = replace(made, placement=fewer, residents=((0,), (1,)), labels=made.labels[:2])

    with pytest.raises(PlanError, match=r"^%2 is in the arena, and in no buffer$"):
        check_plan(graph, broken)


def test_a_buffer_is_no_larger_than_what_is_in_it() -> None:
    """And there is none for nothing."""
    graph, made = two_copies()
    place, last = made.placement, made.placement.buffers[-1]
    larger = replace(place, buffers=(*place.buffers[:-1], replace(last, size_bytes=32)))
    idle = replace(place, buffers=(*place.buffers, last), offsets=(0, 16, 32, 48))
    more = replace(made, residents=(*made.residents, ()), labels=(*made.labels, ""))

    with pytest.raises(PlanError, match=r"^buffer 2 has 32 bytes, and 8 are used$"):
        check_plan(graph, replace(made, placement=replace(larger, arena_bytes=64)))
    with pytest.raises(
        PlanError, match=r"^buffer 3 holds no value, and step 1 needs no workspace; are"
    ):
        check_plan(graph, replace(more, placement=replace(idle, arena_bytes=64)))


def test_bytes_are_needed_until_a_view_of_them_is_read() -> None:
    """Not only while their owner and the view are touched."""
    x, y = given(4), given(4)
    view = Reshape((2, 2))(x)
    graph = Graph.of((x, y), (view, copy(y), copy(y), copy(view)))
    made = plan(graph, alignment=16)
    (first, *others), place = made.placement.buffers, made.placement
    gap = replace(place, buffers=(replace(first, gaps=((1, 3),)), *others))

    with pytest.raises(PlanError, match=r"^%0 is used during .* and its buffer 0 lives during"):
        check_plan(graph, replace(made, placement=gap))


@pytest.mark.parametrize(
    ("decisions", "match"),
    [
        ([VIEW], "^%2 lies in bytes of others, and no decision says so$"),
        ([VIEW, OVER, OVER], "^in place at step 1 is decided twice for %2 in bytes of %1$"),
        ([VIEW, replace(OVER, step=0)], "^in place at step 0: no op lets %2 lie in bytes of %1$"),
        ([VIEW, replace(OVER, source=0)], "^in place at step 1: no op lets %2 lie in bytes of %0$"),
        ([VIEW, replace(OVER, kind="view")], "^view at step 1: no op lets %2 lie in bytes of %1$"),
        (
            [VIEW, OVER, Decision("view", 0, 0, 2)],
            "^view at step 0: %2 lies in bytes of %0 already$",
        ),
        (
            [VIEW, OVER, Decision("view", 0, 0, 3)],
            "^view at step 0: %3 does not lie in bytes of %0$",
        ),
        ([VIEW, OVER], "^in place at step 2: nothing is decided on %3 in bytes of %2$"),
    ],
)
def test_decisions_say_what_was_shared(decisions: list[Decision], match: str) -> None:
    """Each chance once, where there was one; the last negation is not written over the first."""
    x = given(4)
    y = neg(Reshape((4,))(x))
    graph = Graph.of((x,), (y, neg(y)))

    check_plan(graph, plan(graph))
    with pytest.raises(PlanError, match=match):
        check_plan(graph, replace(plan(graph), decisions=tuple(decisions)))


def test_a_view_lies_where_its_op_says() -> None:
    """Elsewhere in the same buffer, it would have to be computed."""
    x = given(4, 2)
    graph = Graph.of((x,), (Rows(0, 1)(Rows(0, 2)(x)),))
    made = plan(graph, alignment=8)
    moved_view = replace(made, locations=(*made.locations[:2], Location(None, 16)))

    with pytest.raises(PlanError, match=r"^view at step 1: %2 lies at 16, and %1 at 0$"):
        check_plan(graph, moved_view)


@pytest.mark.parametrize(
    ("fault", "match"),
    [
        ({"step": 3}, "^donation at step 3: %1 is made at step 0$"),
        ({"target": 0}, "^donation at step 0: %0 is no output, or %0 not external$"),
        ({"reason": "no"}, "^%1 lies in bytes of others, and no decision says so$"),
    ],
)
def test_what_a_plan_says_of_donation_is_checked(fault: dict[str, Any], match: str) -> None:
    x = given(4)
    graph = Graph.of((x,), (neg(x),))
    made = plan(graph, external={0}, donate={0: 0})
    (donation,) = made.decisions
    broken = (replace(donation, **fault),)
    extra = broken if "reason" in fault else (donation, replace(broken[0], reason="asked for too"))

    with pytest.raises(PlanError, match=match):
        check_plan(graph, replace(made, decisions=extra))


def test_who_lies_in_bytes_of_others_needs_a_decision() -> None:
    """In place, and over a donated variable."""
    x = given(4)
    graph = Graph.of((x,), (neg(x),))
    for made in (plan(graph), plan(graph, external={0}, donate={0: 0})):
        check_plan(graph, made)
        with pytest.raises(
            PlanError, match=r"^%1 lies in bytes of others, and no decision says so$"
        ):
            check_plan(graph, replace(made, decisions=()))


def test_a_space_that_is_not_there() -> None:
    """Of a value in the arena; one that holds nothing but external inputs needs none."""
    x, y = given(4), given(4)
    graph = Graph.of((x, y), (neg(x),))
    made = plan(graph, external={1}, space=lambda v: "far" if v is y else "near")
    lost = (replace(made.locations[0], space="nowhere"), *made.locations[1:])

    check_plan(graph, made)
    with pytest.raises(
        PlanError, match=r"^before step 0: %0 is in 'nowhere'; arenas are of \['near"
    ):
        check_plan(graph, replace(made, locations=lost))


def test_a_view_in_another_space_is_a_copy() -> None:
    """At the same offset, its bytes are not those of its input."""
    x = given(4)
    graph = Graph.of((x,), (Reshape((2, 2))(x),))
    check_plan(graph, plan(graph, space=lambda v: str(v.type.rank)))


def test_a_value_overwritten_before_it_is_read() -> None:
    """The stranger in its bytes is named."""
    x = given(4)
    early, late = copy(x), copy(x)
    graph = Graph.of((x,), (add(early, late),), order=(early, late))
    made = plan(graph, alignment=16)
    at = made.locations[1]

    with pytest.raises(
        PlanError, match=r"^step 2 \(add\) reads %1, but bytes \[\d+, \d+\) of the arena hold %2$"
    ):
        check_plan(graph, replace(made, locations=(made.locations[0], at, at, made.locations[3])))


def test_a_variable_may_be_written_only_where_it_is_donated() -> None:
    """In place over an input outside the arena."""
    x = given(4)
    graph = Graph.of((x,), (neg(x),))
    made = replace(plan(graph, external={0}), locations=(Location(0, 0), Location(0, 0)))

    with pytest.raises(
        PlanError, match=r"^step 0 \(neg\) writes %1 over input 0, which is not donated$"
    ):
        check_plan(graph, made)


def test_a_donated_variable_must_hold_its_new_value() -> None:
    """Said, but not done."""
    x = given(4)
    graph = Graph.of((x,), (neg(x),))
    made = replace(plan(graph, external={0}), donated=((0, 0),))

    with pytest.raises(PlanError, match=r"^output %1 is said to lie in input 0, but does not$"):
        check_plan(graph, made)


def test_an_input_must_be_where_it_was_given() -> None:
    """An external input in the arena."""
    x = given(4)
    graph = Graph.of((x,), (neg(x),))

    with pytest.raises(PlanError, match=r"^before step 0: input 0 is not where it was given$"):
        check_plan(graph, replace(plan(graph), external=(0,)))
