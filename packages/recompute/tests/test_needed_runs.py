"""A run whose results are not read before the step runs again is left out, and no other."""

from __future__ import annotations

from planned_ops import Add, Copy, Like, given

from byparts_graph_ir import Graph, OptimizationBarrier
from byparts_memplan.steps import Steps
from byparts_recompute.needed_runs import without_unneeded_runs
from byparts_recompute.replay import replay


def test_a_first_run_for_the_order_alone_is_left_out() -> None:
    """Step 1 is read by step 3 alone, which reads its second run."""
    x = given(64)
    a, b = Copy()(x), Copy()(x)
    steps = Steps(Graph.of([x], [Add()(Copy()(a), b)], order=[a, b]))

    assert without_unneeded_runs(steps, [0, 1, 2, 1, 3]) == [0, 2, 1, 3]
    assert without_unneeded_runs(steps, [0, 1, 2, 3]) == [0, 1, 2, 3]
    assert without_unneeded_runs(steps, [0, 0, 0, 2, 1, 3]) == [0, 2, 1, 3]


def test_what_is_read_or_ends_up_with_the_caller_stays() -> None:
    x = given(64)
    a = Copy()(x)
    steps = Steps(Graph.of([x], [Copy()(a), a], order=[a]))

    assert without_unneeded_runs(steps, [0, 1, 0]) == [0, 1, 0]


def test_what_is_taken_without_being_read_has_to_be_there() -> None:
    """The bytes are ignored, but the value must have been computed."""
    x = given(64)
    a = Copy()(x)
    steps = Steps(Graph.of([x], [Add()(Like()(x, a), Copy()(a))], order=[a]))
    sequence = without_unneeded_runs(steps, [0, 1, 0, 2, 3])

    assert sequence == [0, 1, 0, 2, 3]
    assert len(replay(steps, sequence, barriers=False).nodes) == 5


def test_what_a_view_is_given_besides_has_to_be_there() -> None:
    """A barrier is a view of one value, and waits for another."""
    x = given(64)
    a, b = Copy()(x), Copy()(x)
    c = Copy()(OptimizationBarrier()(a, b))
    steps = Steps(Graph.of([x], [Add()(Copy()(b), c)], order=[a, b, c]))
    sequence = without_unneeded_runs(steps, [0, 1, 2, 1, 3, 4])

    assert sequence == [0, 1, 2, 1, 3, 4]
    assert len(replay(steps, sequence, barriers=False).nodes) == 7
