"""A plan with offsets of one's own."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given as forall, settings, strategies as st
from planned_ops import Add, Reshape, copy, given, neg
from random_graphs import graphs

from byparts_graph_ir import Graph
from byparts_memplan import PlanError, check_plan, plan, plan_from_json, plan_to_json, relocate


def small() -> Graph:
    x, w = given(16, name="x"), given(16, name="w")
    y = copy(x)
    return Graph.of((x, w), (Add()(y, w), Reshape((4, 4))(neg(copy(y)))))


def test_buffers_move_with_all_that_lives_in_them() -> None:
    """One above the other is valid, and takes more."""
    made = plan(small(), external={1})
    sizes = [b.size_bytes for b in made.placement.buffers]
    moved = relocate(made, accumulate([64, *sizes[:-1]]), "stacked")

    check_plan(small(), moved)
    assert plan_from_json(plan_to_json(moved)) == moved
    assert moved.arena_bytes == 64 + sum(sizes)
    assert (moved.placement.how, moved.lower_bound_bytes) == ("stacked", made.lower_bound_bytes)
    assert relocate(moved, made.placement.offsets, made.placement.how) == made


def test_offsets_that_overlap_are_refused() -> None:
    """With the names of both."""
    made = plan(small())
    with pytest.raises(PlanError, match=r"buffers %\d .* and %\d .* share bytes \[0, 64\)"):
        relocate(made, [0] * len(made.placement.buffers))
    with pytest.raises(PlanError, match="buffers but 1 offsets"):
        relocate(made, [0])


@settings(max_examples=60, deadline=None)
@forall(graphs(), st.integers(0, 3))
def test_any_plan_may_be_lifted(graph: Graph, lines: int) -> None:
    made = plan(graph)
    check_plan(graph, relocate(made, [at + 64 * lines for at in made.placement.offsets]))
