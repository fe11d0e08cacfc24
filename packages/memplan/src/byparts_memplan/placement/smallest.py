"""The smallest arena by questions: do they fit at the bound, half way to the best, a quarter?

Where they fit, the best is that much smaller; where it is proved that they do not, the bound is
larger; where neither was found out, the next question is an easier one.  When the answers are
close, all is asked again, each question with twice the effort, until they are closer still.
"""

from __future__ import annotations

from byparts_memplan.effort import Effort
from byparts_memplan.placed import Placement
from byparts_memplan.placement.feasibility import Feasibility


def smaller(placement: Placement, effort: Effort, seed: int) -> Placement:
    """The placement, or a smaller one; its bound raised by what was proved on the way."""
    question = Feasibility(placement.buffers, seed)
    unit = question.problem.unit
    best, proved = placement, placement.lower_bound_bytes
    share, close = 0.05, 0.02  # of the effort left for each question; of the bound, the first round
    low = at = proved  # the least that could fit as far as this round knows; asked next
    while best.arena_bytes > proved and not effort.over:
        answer = question.decide(at, effort.part(share))
        if answer:
            best = _placed(question, placement, proved)
        else:
            low = _beyond(question, at)
        if answer is False:
            proved = low
        if best.arena_bytes - low <= close * proved:
            low, share, close = proved, min(2 * share, 1), close / 2
        at = (low + best.arena_bytes) // 2
        at -= (at - proved) % unit
    return Placement(best.buffers, best.offsets, best.arena_bytes, proved, best.how)


def within(placement: Placement, capacity: int, effort: Effort, seed: int) -> Placement:
    """A placement within the capacity; or `placement`, its bound beyond it where there is none."""
    question = Feasibility(placement.buffers, seed)
    fits = question.decide(capacity, effort)
    if fits:
        return _placed(question, placement, placement.lower_bound_bytes)
    bound = _beyond(question, capacity) if fits is False else placement.lower_bound_bytes
    return Placement(
        placement.buffers, placement.offsets, placement.arena_bytes, bound, placement.how
    )


def _placed(question: Feasibility, placement: Placement, bound: int) -> Placement:
    """The placement that `question` found last."""
    offsets = question.offsets()
    ends = [offset + b.size_bytes for offset, b in zip(offsets, placement.buffers, strict=True)]
    return Placement(
        placement.buffers, offsets, max(ends), bound, f"by search, {question.runs} starts"
    )


def _beyond(question: Feasibility, capacity: int) -> int:
    """The least arena that is left once `capacity` is proved to be too little.

    Without padding all ends are multiples of the unit.
    """
    least, problem = capacity + 1, question.problem
    return least if any(problem.pad) else least + -least % problem.unit
