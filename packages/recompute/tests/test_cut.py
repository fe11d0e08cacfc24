"""A minimum cut is the cheapest choice of what to save and what to compute again."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given as over
from hypothesis.strategies import sampled_from
from planned_ops import Add, Copy, Neg, given
from random_graphs import graphs

from byparts_graph_ir import Graph
from byparts_memplan.steps import Steps
from byparts_recompute.scheduling.cut import cuts, keys_of
from byparts_recompute.scheduling.editable_schedule import EditableSchedule


def price_of(schedule: EditableSchedule, moment: int, again: frozenset[int], price: float) -> float:
    """Bytes that have to be saved if these steps are computed again, and their price."""
    border = moment * (schedule.n + 1)
    needed = {
        v
        for v, readers in schedule.readers.items()
        if readers and readers[-1] > border and schedule.starts[v][0] <= border
    }
    needed |= {x for s in again for x in schedule.reads[s]}
    saved = [v for v in needed if schedule.writer.get(v) not in again]
    costs = [int(price * schedule.price[s]) + 1 for s in again]
    return sum(schedule.size[v] for v in saved) + sum(costs)


@over(graphs(), sampled_from([0.1, 1.0, 3.0, 20.0]))
def test_no_other_choice_is_cheaper(graph: Graph, price: float) -> None:
    """All subsets of the steps before the middle of the graph are tried."""
    from byparts_recompute.scheduling.cut import _CutProblem

    steps = Steps(graph)
    schedule = EditableSchedule(steps, range(len(steps.nodes)))
    moment = len(steps.nodes) // 2
    able = [s for s in range(moment + 1) if s < len(steps.nodes) and schedule.again[s]]
    subsets = [frozenset(c) for k in range(len(able) + 1) for c in combinations(able, k)]
    found = _CutProblem(schedule, moment).solve(price)

    least = min(price_of(schedule, moment, s, price) for s in subsets)
    assert price_of(schedule, moment, found, price) == least


def test_the_keys_of_a_cut_free_what_it_does_not_save() -> None:
    """y = x's copy twice negated, and both needed at the end: one of the two is computed again."""
    x = given(64)
    a = Copy()(x)
    b = Copy()(a)
    graph = Graph.of([x], [Add()(Add()(Copy()(Copy()(Neg()(b))), a), b)])
    steps = Steps(graph, external={0})
    schedule = EditableSchedule(steps, range(len(steps.nodes)))
    found = [keys_of(schedule, 3, again) for again in cuts(schedule, 3)]
    peaks = [EditableSchedule(steps, schedule.base, keys).peak_bytes() for keys in found]

    assert schedule.peak_bytes() == 4 * 256
    assert min(peaks) == 3 * 256
