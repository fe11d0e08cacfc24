"""The whole trade-off of a small graph, searched without regard to what is asked.

From the graph without recomputation down, each budget is a little below the peak reached for the
one before.  Answers are then chosen among the points, so that more bytes never cost more work, and
more work never needs more bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Optional

from byparts_graph_ir.model.frozen import Frozen
from byparts_memplan.kernel_facts import KnownKernels
from byparts_memplan.order import order
from byparts_memplan.steps import Steps
from byparts_recompute import tuning
from byparts_recompute.needed_runs import without_unneeded_runs
from byparts_recompute.replay import runs

if TYPE_CHECKING:
    from byparts_recompute.scheduling.search import Search


class Point(Frozen):
    """A sequence, its peak, and the cost of all its steps."""

    peak_bytes: int
    cost: float
    sequence: list[int]


def whole_tradeoff(search: Search) -> list[Point]:
    """The undominated schedules of the search; the graph without recomputation comes first."""
    steps, pool, part = search.steps, search.pool, tuning.TRADEOFF_PART
    budget = pool.smallest_peak(0.0).peak_bytes
    while budget > search.floor:
        target = max(search.floor, budget - max(1, budget // part))
        candidate = search.within(target, search.work * tuning.TRADEOFF_WORK)
        if candidate is not None:
            better = reordered(steps, search.sequence(candidate))
            if steps.peak_bytes(better) < candidate.peak_bytes:
                pool.propose(better)
            budget = min(target, candidate.peak_bytes)
        elif budget - target > 1:
            part *= 4
        else:
            break
    sequences = [without_unneeded_runs(steps, search.sequence(c)) for c in pool.front()]
    sequences.insert(0, list(range(len(steps.nodes))))
    return [Point(steps.peak_bytes(s), steps.total_cost(s), s) for s in sequences]


def chosen_sequence(
    points: Sequence[Point], budget: Optional[int], max_extra_cost: Optional[float]
) -> list[int]:
    """The cheapest point within the budget, or the smallest peak that costs little enough.

    The extra cost is a share of the cost of the first point.  Where no point is within the budget,
    the smallest peak of all.
    """
    if budget is not None:
        able = [p for p in points if p.peak_bytes <= budget]
        if able:
            return min(able, key=lambda p: (p.cost, p.peak_bytes)).sequence
        max_extra_cost = inf
    assert max_extra_cost is not None, "a budget or a limit of cost is given"
    most = inf
    if max_extra_cost < inf:
        most = (1 + max_extra_cost) * points[0].cost * (1 + 1e-12)
    able = [p for p in points if p.cost <= most]
    return min(able, key=lambda p: (p.peak_bytes, p.cost)).sequence


def reordered(steps: Steps, sequence: Sequence[int]) -> list[int]:
    """The same runs in the order that memplan finds for them; as they are where none is better."""
    graph, nodes = runs(steps, sequence)
    known = steps.kernels
    if known is not None:  # a node of a second run has the kernel of the first run
        first = zip(nodes, sequence, strict=True)
        known = KnownKernels(known, {node: known(steps.nodes[s]) for node, s in first})
    ordered = order(graph, external=steps.outside, kernels=known)
    step_of = dict(zip(nodes, sequence, strict=True))
    return [step_of[node] for node in ordered.nodes if node in step_of]
