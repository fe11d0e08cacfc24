"""The smallest arena by questions: do they fit at the bound, half way to the best, a quarter?

Where they fit, the best is that much smaller; where it is proved that they do not, the bound is
larger; where neither was found out, the next question is an easier one.  When the answers are
close, all is asked again, each question with twice the effort, until they are closer still.
"""

from __future__ import annotations

from byparts_memplan.buffer import Placement
from byparts_memplan.effort import Effort
from byparts_memplan.placement.fit import Fit

_FIRST = 0.05  # of the effort that is left, for each question of the first round
_CLOSE = 0.02  # of the bound: so close the answers of the first round are


def smaller(made: Placement, effort: Effort, seed: int) -> Placement:
    """The placement, or a smaller one; its bound raised by what was proved on the way."""
    fit = Fit(made.buffers, seed)
    best, proved, share, close = made, made.lower_bound_bytes, _FIRST, _CLOSE
    low, at = proved, proved  # the least that could fit as far as this round knows; asked next
    while best.arena_bytes > proved and not effort.over:
        answer = fit.decide(at, effort.part(share))
        if answer:
            best = placed(fit, made, proved)
        else:
            low = beyond(fit, at)
        if answer is False:
            proved = low
        if best.arena_bytes - low <= close * proved:
            low, share, close = proved, min(2 * share, 1), close / 2
        at = (low + best.arena_bytes) // 2
        at -= (at - proved) % fit.problem.unit
    return Placement(best.buffers, best.offsets, best.arena_bytes, proved, best.how)


def within(made: Placement, capacity: int, effort: Effort, seed: int) -> Placement:
    """A placement within the capacity; or `made`, its bound beyond it where there is none."""
    fit = Fit(made.buffers, seed)
    fits = fit.decide(capacity, effort)
    if fits:
        return placed(fit, made, made.lower_bound_bytes)
    bound = beyond(fit, capacity) if fits is False else made.lower_bound_bytes
    return Placement(made.buffers, made.offsets, made.arena_bytes, bound, made.how)


def placed(fit: Fit, made: Placement, bound: int) -> Placement:
    """What `fit` has just found."""
    offsets = fit.offsets()
    ends = [offset + b.size_bytes for offset, b in zip(offsets, made.buffers, strict=True)]
    return Placement(made.buffers, offsets, max(ends), bound, f"by search, {fit.runs} starts")


def beyond(fit: Fit, capacity: int) -> int:
    """The least arena that is left once `capacity` is proved to be too little.

    Without padding all ends are multiples of the unit.
    """
    least = capacity + 1
    return least if any(fit.problem.pad) else least + -least % fit.problem.unit
