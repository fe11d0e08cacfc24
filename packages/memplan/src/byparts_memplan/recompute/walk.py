"""The whole trade-off of a small graph, found without asking what it is for.

From the plain graph down, each budget a little below what was reached for the one before, until
nothing is found any more.  An answer is then read off, so that more bytes never cost more work, and
more work never needs more bytes.  What is found is put into a better order where there is one:
elsewhere a first run stands where the base order has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Optional

from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_memplan.kernel_facts import KnownKernels
from byparts_memplan.order import order
from byparts_memplan.recompute.unread import without_unread
from byparts_memplan.replay import runs
from byparts_memplan.steps import Steps

if TYPE_CHECKING:
    from byparts_memplan.recompute.search import Search

_PARTS = 64  # a budget is this part of the last one lower
_WORK = 1 / 32  # of the effort, for each budget


@dataclass(frozen=True)
class Answer:
    """A sequence, its peak, and the cost of all its steps."""

    peak_bytes: int
    cost: float
    sequence: list[int]


def walk(search: Search) -> list[Answer]:
    """All that was found on the way down, without runs that nobody reads; what is plain first."""
    steps, pool, part = search.steps, search.pool, _PARTS
    budget = pool.lowest(0.0).peak_bytes
    while budget > search.floor:
        target = max(search.floor, budget - max(1, budget // part))
        found = search.within(target, search.effort * _WORK)
        if found is not None:
            better = reordered(steps, search.sequence(found))
            if steps.peak_bytes(better) < found.peak_bytes:
                pool.propose(better)
            budget = min(target, found.peak_bytes)
        elif budget - target > 1:
            part *= 4
        else:
            break
    sequences = [without_unread(steps, search.sequence(found)) for found in search.front()]
    sequences.insert(0, list(range(len(steps.nodes))))
    return [Answer(steps.peak_bytes(s), steps.total_cost(s), s) for s in sequences]


def read_off(answers: Sequence[Answer], budget: Optional[int], limit: Optional[float]) -> list[int]:
    """The cheapest within the budget, or the smallest peak for a share of the first one's cost.

    The smallest peak of all where none is within the budget.
    """
    if budget is not None:
        able = [a for a in answers if a.peak_bytes <= budget]
        if able:
            return min(able, key=lambda a: (a.cost, a.peak_bytes)).sequence
        limit = inf
    assert limit is not None, "one of the two is asked for"
    most = (1 + limit) * answers[0].cost * (1 + 1e-12) if limit < inf else inf
    able = [a for a in answers if a.cost <= most]
    return min(able, key=lambda a: (a.peak_bytes, a.cost)).sequence


def reordered(steps: Steps, sequence: Sequence[int]) -> list[int]:
    """The same runs in an order with a lower peak; as they are where none is found."""
    graph, nodes = runs(steps, sequence)
    known = steps.kernels
    if known is not None:  # a run again has the kernel of the first run
        first = zip(nodes, sequence, strict=True)
        known = KnownKernels(known, {node: known(steps.nodes[s]) for node, s in first})
    ordered = order(graph, external=steps.outside, kernels=known)
    place = {node: s for node, s in zip(nodes, sequence, strict=True)}
    return [place[node] for node in ordered.nodes if node in place]
