"""The smallest peak for a limit of cost: lower the budget by a part of it, again and again.

Where a budget costs too much, the part is halved.  Graphs of many steps are treated with fewer
starts and less patience than `Search.smallest_peak` takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from byparts_recompute import tuning
from byparts_recompute.scheduling.pool import Candidate
from byparts_recompute.scheduling.repair import RepairOptions, release, repair

if TYPE_CHECKING:
    from byparts_recompute.scheduling.search import Search


def smallest_peak_coarsely(search: Search, max_cost: float, enough: int) -> Candidate:
    """The smallest peak found with at most `max_cost`; stops where a peak is `enough`.

    Bisects the budget from the best known peak, then lowers it step by step.
    """
    pool, work = search.pool, max(search.small_work, tuning.LEAST_WORK)
    give_up, end = 3 * max_cost + 1e-4 * pool.total, pool.work + 40 * work
    lower = max(search.floor, enough) - 1
    best = pool.smallest_peak(max_cost)
    while best.peak_bytes - lower > best.peak_bytes // 16 and pool.work < end:
        middle = (best.peak_bytes + lower) // 2
        search.fit(pool.starts(middle)[0], middle, RepairOptions(limit=give_up, work=4 * work))
        best = pool.smallest_peak(max_cost)
        lower = lower if best.peak_bytes <= middle else middle
    for start in pool.starts_within(max_cost)[:2]:
        lower_peak(search, start, tuning.FIRST_STEP, max_cost, enough, end)
    best = pool.smallest_peak(max_cost)
    if best.keys and pool.work < end:
        search.improve(best, best.peak_bytes, search.small_work)
        start = pool.cheapest(best.peak_bytes) or best
        lower_peak(search, start, tuning.SECOND_STEP, max_cost, enough, end)
    return pool.smallest_peak(max_cost)


def lower_peak(
    search: Search, start: Candidate, part: float, max_cost: float, enough: int, end: float
) -> None:
    """Lower the budget of a candidate by `part` of it while that costs at most `max_cost`.

    Where it costs more, first more slack is tried, then half of the part.  Ends at `enough` bytes,
    or once the pool has done `end` changes.  Results are recorded in the pool.
    """
    lowest, slack = max(search.floor, enough), tuning.SLACKS[0]
    while part > tuning.LAST_STEP and search.pool.work < end and start.peak_bytes > lowest:
        budget = max(lowest, int(start.peak_bytes * (1 - part)))
        give_up = slack * max_cost + 1e-4 * search.pool.total
        work = min(4 * search.work, tuning.LOWER_WORK)
        options = RepairOptions(limit=give_up, work=work)
        lower = _lowered(search, start, budget, max_cost, options)
        if lower is not None:
            start = lower
        elif slack != tuning.SLACKS[-1]:
            slack = tuning.SLACKS[-1]
        else:
            part, slack = part / 2, tuning.SLACKS[0]


def _lowered(
    search: Search, start: Candidate, budget: int, max_cost: float, options: RepairOptions
) -> Optional[Candidate]:
    """Repair a candidate for a smaller budget; `None` where that costs more than `max_cost`.

    What costs too much within the budget may cost little enough on the way back up, still below
    the peak of the start; so some budgets between the two are tried too.
    """
    pool = search.pool
    moves = pool.loaded(start)
    if not repair(moves, budget, search.random, options):
        budget = max(budget, moves.schedule.peak_bytes())
    room = start.peak_bytes - budget
    for part in (0, 0.5, 0.9) if room > 0 else ():
        release(moves, int(budget + part * room), options.work)
        candidate = pool.record(start.base)
        pool.report(candidate, f"within {budget:,} B")
        if candidate.cost <= max_cost:
            return candidate
    return None
