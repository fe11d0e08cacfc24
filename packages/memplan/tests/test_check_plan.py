"""The oracle: it accepts what `plan` makes of any graph, and refuses what is broken by hand."""

from dataclasses import replace

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
    """x is copied, the copy is copied, and both copies are outputs; x is at 0, they are at 16 and 32."""
    x = given(4)
    y = copy(x)
    graph = Graph.of((x,), (y, copy(y)))
    made = plan(graph, alignment=16)
    return graph, replace(
        made, placement=replace(made.placement, buffers=(), offsets=(), arena_bytes=64)
    )


def moved(made: Plan, *offsets: int, root: int | None = None) -> Plan:
    return replace(
        made, locations=tuple(Location(root if i else None, at) for i, at in enumerate(offsets))
    )


@pytest.mark.parametrize(
    ("offsets", "match"),
    [
        ((0, 16, 16), r"^step 1 \(copy\) writes %2 over its input %1, which it may not$"),
        ((0, 0, 32), r"^step 0 \(copy\) writes %1 over its input %0, which it may not$"),
        ((0, 16, 64), r"^step 1 \(copy\): %2 at \[64, 80\) leaves the arena of 64 bytes$"),
        ((0, 16, 40), r"^step 1 \(copy\): %2 at 40 is not aligned to 16 bytes$"),
        ((0, 16), "^2 locations for 3 values$"),
    ],
)
def test_broken_plans_are_refused(offsets: tuple[int, ...], match: str) -> None:
    """The step and the values are named."""
    graph, made = two_copies()

    check_plan(graph, moved(made, 0, 16, 32))
    with pytest.raises(PlanError, match=match):
        check_plan(graph, moved(made, *offsets))


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


def test_overlapping_buffers_are_refused() -> None:
    """The placement is checked on its own."""
    graph, made = two_copies()
    whole = plan(graph, alignment=16)
    broken = replace(made, placement=replace(whole.placement, offsets=(0, 0, 0)))

    with pytest.raises(PlanError, match=r"^buffers 0 and 1 share bytes"):
        check_plan(graph, broken)
