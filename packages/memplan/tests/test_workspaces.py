"""Workspaces and in-place facts of kernels: planned, and nobody's bytes but the step's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given as forall, settings, strategies as st
from planned_ops import AddTo, Copy, Full, Neg, Reshape, add, copy, given, neg, shout
from random_kernels import as_ops_say, random_kernels, said
from test_check_plan import graphs

from byparts_graph_ir import Fused, Graph, Kernel, Node
from byparts_memplan import PlanError, check_plan, live_bytes, order, peak_bytes, plan, relocate
from byparts_recompute import rematerialize


def chain() -> Graph:
    """x is copied twice; 16 bytes each."""
    x = given(4)
    return Graph.of((x,), (copy(copy(x)),))


def second_needs(size: int) -> Any:
    """Kernels of which the second of `chain` has a workspace."""
    return lambda node: said(size if node.inputs[0].node else 0)


def test_a_workspace_is_alive_in_its_step_alone() -> None:
    """Disjoint from what the step reads and writes; its bytes are those of others before."""
    made = plan(chain(), alignment=16, kernels=second_needs(30))

    check_plan(chain(), made, second_needs(30))  # an equal graph
    assert [(b.size_bytes, b.born, b.dies) for b in made.placement.buffers[3:]] == [(32, 1, 2)]
    assert made.workspaces == (0, made.placement.offsets[3])
    assert made.workspace_bytes == {1: 32}
    assert made.residents[3] == ()
    assert made.arena_bytes == made.lower_bound_bytes == 16 + 16 + 32
    assert made.naive_bytes == 3 * 16 + 32


def test_a_workspace_is_called_by_its_node_and_line() -> None:
    """By the number of its first output."""
    x = given(4)
    node = Node(Copy(), (x,), "models/net.py:7")
    graph = Graph((x,), (node,), node.outputs)

    made = plan(graph, kernels=lambda node: said(8))

    assert made.labels[-1] == "workspace of %1 copy (net.py:7)"


def test_kernels_may_say_what_ops_do_not() -> None:
    """In place where the op says nothing; and not where the op would."""
    x = given(4)
    graph = Graph.of((x,), (neg(copy(x)),))
    both = plan(graph, kernels=lambda node: said(0, (0, 0)))
    neither = plan(graph, kernels=lambda node: said())

    assert (both.arena_bytes, neither.arena_bytes) == (64, 128)
    check_plan(graph, both, lambda node: said(0, (0, 0)))
    check_plan(graph, neither, lambda node: said())
    with pytest.raises(PlanError, match=r"^step 0 \(copy\) writes %1 over its input %0, which it"):
        check_plan(graph, both)


def test_a_variable_is_donated_to_a_kernel_that_may() -> None:
    """A copy may not be written over its input; a kernel of it that says so may."""
    w = given(4)
    graph = Graph.of((w,), (copy(w),))
    made = plan(graph, external={0}, donate={0: 0}, kernels=lambda node: said(0, (0, 0)))

    assert made.donated == ((0, 0),)
    assert plan(graph, external={0}, donate={0: 0}).donated == ()
    check_plan(graph, made, lambda node: said(0, (0, 0)))


def test_a_region_may_be_in_place_and_donated() -> None:
    """Its op says nothing of that; the kernel that was made for it does."""
    w, g = given(4, name="w"), given(4, name="g")
    a, b = given(4), given(4)
    inside = Graph.of((a, b), (add(copy(a), b),))
    graph = Graph.of((w, g), (Fused(inside)(w, copy(g)), Fused(inside)(g, w)))

    def kernels(node: Node) -> Kernel:
        return said(40, *(((0, 0), (1, 0)) if isinstance(node.op, Fused) else ()))

    made = plan(graph, external={0}, donate={0: 0}, alignment=8, kernels=kernels)
    shared = plan(graph, external={0}, donate={0: 1}, alignment=8, kernels=kernels)

    check_plan(graph, made, kernels)
    check_plan(graph, shared, kernels)
    assert Fused.inplace == ()
    assert [d.reason for d in made.decisions if d.kind == "donation"] == [
        "the bytes are needed until step 2 (fused)"
    ]
    assert shared.donated == ((0, 1),)
    assert any(d.taken and d.kind == "in place" for d in shared.decisions)


def test_a_chain_before_a_donation_follows_the_kernels() -> None:
    """What the new value is written over lies in the variable's bytes as well."""
    w, g = given(4, name="w"), given(4, name="g")
    graph = Graph.of((w, g), (copy(copy(g)),))

    def kernels(node: Node) -> Kernel:
        return said(0, (0, 0))

    made = plan(graph, external={0, 1}, donate={0: 0}, kernels=kernels)

    assert made.arena_bytes == 0
    check_plan(graph, made, kernels)


@settings(max_examples=250, deadline=None)
@forall(
    graphs(),
    st.sets(st.integers(0, 3)),
    st.sampled_from([1, 8, 64]),
    st.integers(0, 999),
    st.data(),
)
def test_every_plan_is_valid(
    graph: Graph, outside: set[int], alignment: int, seed: int, data: st.DataObject
) -> None:
    """Any graph, any facts, any inputs outside, any of them donated."""
    kernels = random_kernels(seed)
    external = {k for k in outside if k < len(graph.inputs)}
    outputs = st.integers(0, len(graph.outputs) - 1)
    donate = (
        data.draw(st.dictionaries(st.sampled_from(sorted(external)), outputs)) if external else {}
    )
    made = plan(graph, external=external, alignment=alignment, donate=donate, kernels=kernels)

    check_plan(graph, made, kernels)
    assert made.lower_bound_bytes <= made.arena_bytes <= made.naive_bytes
    assert made == plan(
        graph, external=external, alignment=alignment, donate=donate, kernels=kernels
    )


@settings(max_examples=100, deadline=None)
@forall(graphs(), st.integers(0, 999))
def test_spaces_have_their_own_workspaces(graph: Graph, seed: int) -> None:
    """Each where the first output of its step is."""
    kernels = random_kernels(seed)
    made = plan(graph, kernels=kernels, space=lambda v: "far" if v.type.rank == 1 else "near")

    check_plan(graph, made, kernels)


@settings(max_examples=100, deadline=None)
@forall(graphs())
def test_kernels_that_say_what_ops_say_change_nothing(graph: Graph) -> None:
    assert plan(graph, kernels=as_ops_say) == plan(graph)
    assert peak_bytes(graph, kernels=as_ops_say) == peak_bytes(graph)
    assert live_bytes(graph, kernels=as_ops_say) == live_bytes(graph)
    assert order(graph, kernels=as_ops_say) == order(graph)


@settings(max_examples=100, deadline=None)
@forall(graphs(), st.integers(0, 999))
def test_the_peak_is_the_bound_of_the_plan(graph: Graph, seed: int) -> None:
    """Of the plan that shares all it can, before anything is taken back."""
    kernels = random_kernels(seed)
    peak = peak_bytes(graph, kernels=kernels)

    assert peak <= plan(graph, alignment=1, kernels=kernels).lower_bound_bytes
    assert max(live_bytes(graph, kernels=kernels), default=0) <= peak


def test_an_input_that_nobody_reads_is_dead_after_a_first_view() -> None:
    """As in the plan."""
    inputs = tuple([given(name=f"x{i}") for i in range(4)])
    view, full = Node(Reshape((1,)), (inputs[0],)), Node(Full((4,)), ())
    graph = Graph(inputs, (view, full), (inputs[0],))

    assert live_bytes(graph) == [4 + 16]
    assert peak_bytes(graph) == plan(graph, alignment=1).lower_bound_bytes == 4 + 16


def test_a_plan_with_workspaces_can_be_moved() -> None:
    """The workspaces with it."""
    graph, kernels = chain(), second_needs(16)
    made = plan(graph, alignment=16, kernels=kernels)
    moved = relocate(made, [16 * i for i in range(len(made.placement.buffers))])

    check_plan(graph, moved, kernels)
    assert moved.workspaces == (0, 48)


def test_an_effect_without_a_value_to_give_has_a_workspace() -> None:
    """And keeps it, where the result is not read."""
    x = given(4)
    node = Node(shout, (x,))
    graph = Graph((x,), (node,), (x,))
    made = plan(graph, alignment=16, kernels=lambda node: said(48))

    check_plan(graph, made, lambda node: said(48))
    assert peak_bytes(graph, kernels=lambda node: said(48)) == 16 + 16 + 48


def test_a_view_with_a_workspace_is_a_step() -> None:
    """Somebody's kernel runs there, so its bytes count wherever steps are counted."""
    x = given(4)
    graph = Graph.of((x,), (neg(Reshape((2, 2))(x)),))

    def kernels(node: Node) -> Kernel:
        return said(0 if isinstance(node.op, Neg) else 100, (0, 0))

    made = plan(graph, alignment=1, kernels=kernels)

    check_plan(graph, made, kernels)
    assert made.arena_bytes == peak_bytes(graph, kernels=kernels) == 116
    assert live_bytes(graph, kernels=kernels) == [116, 16]


@pytest.mark.parametrize(
    ("kernels", "match"),
    [
        (3, r"^kernels is 3; expected a function from a Node to its kernel, such as lambda node"),
        (
            lambda node: None,
            r"^kernels gives None for copy \(net.py:7\): .*'workspace_bytes'; expe",
        ),
        (lambda node: said(-4), r"for copy \(net.py:7\): workspace_bytes is -4; expected an obj"),
        (lambda node: said("8"), r"for copy \(net.py:7\): 'str' object cannot be interpreted as"),  # type: ignore[arg-type]
        (lambda node: said(0, (0, -1)), "for copy .*: inplace has position -1; expected an object"),
        (lambda node: said(0, 7), "for copy .*: .*int.*; expected an object with workspace_bytes"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_fact_is_refused(kernels: Any, match: str) -> None:
    """Wherever kernels are asked, with the node and what was given."""
    x = given(4)
    node = Node(Copy(), (x,), "net.py:7")
    graph = Graph((x,), (node,), node.outputs)

    for ask in (plan, peak_bytes, live_bytes, order):
        with pytest.raises(PlanError, match=match):
            ask(graph, kernels=kernels)
    with pytest.raises(PlanError, match=match):
        check_plan(graph, plan(graph), kernels)
    with pytest.raises(PlanError, match=match):
        rematerialize(graph, 0, kernels=kernels)


def test_errors_of_kernels_are_theirs() -> None:
    """A missing rule is not made a plan's error."""

    def kernels(node: Node) -> Kernel:
        raise LookupError("no rule for copy")

    with pytest.raises(LookupError, match=r"^no rule for copy$"):
        plan(chain(), kernels=kernels)


def workspaces() -> tuple[Any, Any, Any]:
    """Step 1 adds x to a copy of it, with 16 bytes of workspace; then it is copied.

    x at 0, its copy at 16, the sum at 32, the workspace at 48, all of 16 bytes.
    """
    x = given(4)
    y = copy(x)
    z = AddTo()(y, x)
    graph = Graph.of((x,), (copy(z), x))
    kernels = lambda node: said(16 if isinstance(node.op, AddTo) else 0)  # noqa: E731  # short
    made = plan(graph, alignment=16, kernels=kernels)
    return graph, relocate(made, [0, 16, 32, 16, 48]), kernels


@pytest.mark.parametrize(
    ("workspaces_", "match"),
    [
        ((0, 0, 0), r"^step 1 \(add_to\): the workspace at \[0, 16\) and its input %0 at \[0, 16"),
        ((0, 16, 0), r"^step 1 .*: the workspace at \[16, 32\) and its input %1 at \[16, 32\) sha"),
        ((0, 32, 0), r"^step 1 .*: the workspace at \[32, 48\) and its output %2 at \[32, 48\) sh"),
        ((0, 64, 0), r"^step 1 .*: the workspace at \[64, 80\) leaves the arena of 64 bytes$"),
        ((0, -16, 0), r"^step 1 .*: the workspace at \[-16, 0\) leaves the arena of 64 bytes$"),
        ((0, 40, 0), r"^step 1 .*: the workspace at 40 is not aligned to 16 bytes$"),
        ((0, 48), "^2 workspaces for 3 nodes$"),
        ((), "^0 workspaces for 3 nodes$"),
        ((0, 48, 16), r"^step 2 \(copy\) needs no workspace, and is given one at 16$"),
    ],
)
def test_broken_workspaces_are_refused(workspaces_: tuple[int, ...], match: str) -> None:
    """The step is named, and whose bytes they are."""
    graph, made, kernels = workspaces()

    check_plan(graph, made, kernels)
    with pytest.raises(PlanError, match=match):
        check_plan(graph, replace(made, workspaces=workspaces_), kernels)


def test_a_workspace_over_what_is_needed_later_is_refused() -> None:
    """Of a value that its step does not touch: who reads it next finds rubbish."""
    x, y = given(4), given(4)
    graph = Graph.of((x, y), (add(copy(x), y),))
    kernels = lambda node: said(16 if isinstance(node.op, Copy) else 0)  # noqa: E731  # short
    made = plan(graph, alignment=16, kernels=kernels)
    at = made.locations[1].offset

    with pytest.raises(
        PlanError,
        match=r"^step 1 \(add\) reads %1, but bytes .* of the arena hold the workspace of step 0$",
    ):
        check_plan(graph, replace(made, workspaces=(at, 0)), kernels)


@pytest.mark.parametrize(
    ("fault", "match"),
    [
        ({"born": 0, "dies": 1}, "^buffer 4 holds no value, and step 0 needs no workspace; are"),
        ({"dies": 3}, r"^buffer 4, the workspace of step 1 \(add_to\), lives from 1 to 3$"),
        ({"size_bytes": 0}, r"^step 1 \(add_to\) needs a workspace of 16 bytes; buffer 4: 0$"),
        ({"alignment": 8}, "^buffer 4 is aligned to 8, and the plan to 16$"),
    ],
)
def test_what_a_plan_says_of_a_workspace_is_checked(fault: dict[str, Any], match: str) -> None:
    graph, made, kernels = workspaces()
    *others, last = made.placement.buffers
    buffers = (*others, replace(last, **fault))
    placement = replace(made.placement, buffers=buffers, arena_bytes=64)

    with pytest.raises(PlanError, match=match):
        check_plan(graph, replace(made, placement=placement), kernels)


def test_a_workspace_is_where_its_buffer_is() -> None:
    """Elsewhere it may be free in this step, but the plan says two things."""
    graph, made, kernels = workspaces()
    place = made.placement
    moved = replace(place, offsets=(*place.offsets[:-1], 64), arena_bytes=80)

    with pytest.raises(
        PlanError, match=r"^the workspace of step 1 \(add_to\) is at 48, and its buffer 4 at 64$"
    ):
        check_plan(graph, replace(made, placement=moved), kernels)


def test_a_workspace_has_one_buffer_and_a_name() -> None:
    """Not none, and not two."""
    graph, made, kernels = workspaces()
    place = made.placement
    fewer = replace(
        made,
        residents=made.residents[:-1],
        labels=made.labels[:-1],
        placement=replace(place, buffers=place.buffers[:-1], offsets=place.offsets[:-1]),
    )
    twice = replace(
        made,
        residents=(*made.residents, ()),
        labels=(*made.labels, made.labels[-1]),
        placement=replace(
            place,
            buffers=(*place.buffers, place.buffers[-1]),
            offsets=(*place.offsets, 64),
            arena_bytes=80,
        ),
    )
    called = replace(made, labels=(*made.labels[:-1], "%3 add_to"))

    for broken, match in (
        (fewer, r"^step 1 \(add_to\) needs a workspace of 16 bytes, and no buffer is for it$"),
        (twice, "^buffers 4 and 5 are both the workspace of step 1$"),
        (called, "^buffer 4 is called '%3 add_to', and is the workspace of %2 add_to$"),
    ):
        with pytest.raises(PlanError, match=match):
            check_plan(graph, broken, kernels)


def test_a_plan_is_checked_with_the_kernels_that_it_was_made_with() -> None:
    """With others, or none, it has too much or too little."""
    graph, made, kernels = workspaces()

    with pytest.raises(PlanError, match="step 1 needs no workspace; are the kernels those that"):
        check_plan(graph, made)
    with pytest.raises(PlanError, match=r"^step 1 .* needs a workspace of 16 bytes, and no buffer"):
        check_plan(graph, plan(graph, alignment=16), kernels)
