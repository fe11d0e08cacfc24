"""Goes on where greedy orders end: exact search, and for large problems the hard part of it.

What is small enough is searched as a whole (`smallest.py`).  Of what is not, only the fullest
steps are hard: the buffers that live there are searched alone, and the others put around them in
greedy order.
"""

from __future__ import annotations

from byparts_memplan.buffer import Buffer
from byparts_memplan.effort import Effort
from byparts_memplan.placement.feasibility import Feasibility
from byparts_memplan.placement.smallest import smaller, within
from byparts_memplan.portfolio import Portfolio
from byparts_memplan.tuning import (
    CORE_SHARE,
    CORES,
    DECIDE_EFFORT,
    SEARCH_EACH,
    SEARCHED_BUFFERS,
    SEARCHED_PAIRS,
)


def improve(best: Portfolio, effort: Effort, seed: int) -> None:
    """Find a smaller placement, or prove more."""
    count, pairs = len(best.problem.members), best.problem.pairs
    if count <= SEARCHED_BUFFERS and pairs <= SEARCHED_PAIRS:
        effort = effort.part(1, most=max(20 * SEARCH_EACH * count, SEARCH_EACH * pairs))
        if best.capacity is None:
            best.placement = smaller(best.placement, effort, seed)
        else:
            best.placement = within(best.placement, best.capacity, effort, seed)
        return
    for core in CORES:
        if not best.done and not effort.over and core < count:
            _around(best, core, effort.part(CORE_SHARE), seed)


def decide(some: tuple[Buffer, ...], capacity: int) -> bool | None:
    """Whether the buffers `some` fit, with little effort; `None`: not decided."""
    return Feasibility(some).decide(capacity, Effort(DECIDE_EFFORT))


def _around(best: Portfolio, core: int, effort: Effort, seed: int) -> None:
    """Search for the members of the fullest steps alone, and put the others around them."""
    problem = best.problem
    fullest = sorted(range(len(problem.load)), key=lambda i: (-problem.load[i], i))
    inside = sorted({*fullest[:core], *best.fixed})
    question = Feasibility(tuple([problem.members[i] for i in inside]), seed)
    if question.decide(best.enough, effort.part(0.5)):
        fixed = dict(zip(inside, question.offsets(), strict=True))
        best.run(effort, f"by search of {core},", fixed)
