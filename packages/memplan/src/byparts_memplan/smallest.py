"""The smallest arena by questions: do they fit at the bound, half way to the best, a quarter?

Where they fit, the best is that much smaller; where it is proved that they do not, the bound is
larger; where neither was found out, the next question is an easier one.  What effort is left when
the questions meet goes into asking again from below.
"""

from __future__ import annotations

from byparts_memplan.buffer import Placement
from byparts_memplan.effort import Effort
from byparts_memplan.fit import Fit

_FIRST, _NEXT = 0.4, 0.2  # of what is left: for the question at the bound, and for each after it


def smaller(made: Placement, effort: Effort, seed: int) -> Placement:
    """The placement, or a smaller one; its bound raised by what was proved on the way."""
    fit = Fit(made.buffers, seed)
    best, proved = made, made.lower_bound_bytes
    low = proved
    while best.arena_bytes > proved and not effort.over:
        share = _FIRST if low == proved else _NEXT
        part = effort.part(share)
        at = low if low == proved else low + (best.arena_bytes - low) // 2
        answer = fit.decide(at, part)
        effort.settle(part, share)
        if answer:
            best = placed(fit, made, proved)
        elif answer is False:
            low = proved = beyond(fit, at)
        else:
            low = at + 1 if at + 1 < best.arena_bytes else proved
    return Placement(best.buffers, best.offsets, best.arena_bytes, proved, best.how)


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
