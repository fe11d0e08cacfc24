"""The smallest peak for a limit of cost, of all but small graphs: fewer starts, less patience.

The budget is halved from the best that is known, then lowered by a part of it, and by half of that
part where it is too much, and so on; what becomes too dear on the way is given up early.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from byparts_memplan.recompute.found import Found
from byparts_memplan.recompute.repair import Manner, release, repair

if TYPE_CHECKING:
    from byparts_memplan.recompute.search import Search

_LEAST_WORK = 3_000
_STEP = 40_000  # changes for lowering it once
_SLACKS = 1.1, 1.5  # how far beyond its limit the cost may go, for what comes back
_DEEPEST = 0.002  # of the peak: where lowering it ends


def descend(search: Search, limit: float, enough: int) -> Found:
    """The best that was found; stops where the peak is `enough`."""
    pool, work = search.pool, max(search.brisk, _LEAST_WORK)
    dearest, end = 3 * limit + 1e-4 * pool.total, pool.work + 40 * work
    lower = max(search.floor, enough) - 1
    best = pool.lowest(limit)
    while best.peak_bytes - lower > best.peak_bytes // 16 and pool.work < end:
        middle = (best.peak_bytes + lower) // 2
        search.settle(pool.starts(middle)[0], middle, Manner(limit=dearest, work=4 * work))
        best = pool.lowest(limit)
        lower = lower if best.peak_bytes <= middle else middle
    for found in pool.starts_within(limit)[:2]:
        sink(search, found, 0.08, limit, enough, end)
    best = pool.lowest(limit)
    if best.keys and pool.work < end:
        search.improve(best, best.peak_bytes, search.brisk)
        start = pool.cheapest(best.peak_bytes) or best
        sink(search, start, 0.02, limit, enough, end)
    return pool.lowest(limit)


def sink(search: Search, start: Found, part: float, limit: float, enough: int, end: float) -> None:
    """Lower the budget by a part of it, and by half of that where it is too much, and so on."""
    lowest, slack = max(search.floor, enough), _SLACKS[0]
    while part > _DEEPEST and search.pool.work < end and start.peak_bytes > lowest:
        budget = max(lowest, int(start.peak_bytes * (1 - part)))
        dearest = slack * limit + 1e-4 * search.pool.total
        work = min(4 * search.effort, _STEP)
        after = _lower(search, start, budget, limit, Manner(limit=dearest, work=work))
        if after is not None:
            start = after
        elif slack != _SLACKS[-1]:
            slack = _SLACKS[-1]
        else:
            part, slack = part / 2, _SLACKS[0]


def _lower(
    search: Search, start: Found, budget: int, limit: float, manner: Manner
) -> Optional[Found]:
    """What a schedule becomes within a smaller budget; `None` where the cost is too much.

    Gone too far down, it may come out cheaper on the way back up.
    """
    pool = search.pool
    moves = pool.loaded(start)
    if not repair(moves, budget, search.random, manner):
        budget = max(budget, moves.schedule.peak_bytes())
    room = start.peak_bytes - budget
    for part in (0, 0.5, 0.9) if room > 0 else ():
        release(moves, int(budget + part * room), manner.work)
        pool.say(found := pool.note(start.base), f"within {budget:,} B")
        if found.cost <= limit:
            return found
    return None
