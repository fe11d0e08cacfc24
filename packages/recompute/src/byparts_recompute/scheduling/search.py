"""The search for what to compute again: several starts, greedy repair, then improvement.

For a budget the most promising candidates of the pool (`pool.py`) are repaired greedily
(`repair.py`), and the best result is improved by ruin and recreate (`improve.py`).  For a limit of
cost the budget is bisected and then lowered in ever smaller steps (`lower_peak.py`).  Effort is
counted in changes of a schedule, so the same arguments give the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from random import Random
from typing import Optional

from byparts_memplan.steps import Steps
from byparts_recompute import tuning
from byparts_recompute.scheduling.improve import improvements
from byparts_recompute.scheduling.lower_peak import lower_peak, smallest_peak_coarsely
from byparts_recompute.scheduling.pool import Candidate, Pool, Progress
from byparts_recompute.scheduling.repair import RepairOptions, release, repair


class Search:
    """A search on one graph, which begins with a base order.

    Attributes:
        pool: the candidates, those found by this search among them.
        small: whether the graph has so few steps that its whole trade-off is searched.
        coarse: whether it has so many that a cost limit is met in few steps (`lower_peak.py`).
        large: whether it has so many that each question gets one start.
        work: changes for the improvement of an answer.
        small_work: changes for the improvement of a result that only leads to others.
        patience: changes after which one greedy descent is given up.
        floor: proved bound: no schedule has a smaller peak.
        least: proved bound: no schedule within the budget has less extra cost (a share).
        proved: what a solver has proved, in words.
        asked: effort and seed, as they were given.
    """

    def __init__(
        self,
        steps: Steps,
        base: Sequence[int],
        *,
        effort: float = 1.0,
        seed: int = 0,
        progress: Optional[Progress] = None,
    ) -> None:
        n = len(steps.nodes)
        self.steps, self.asked, self.random = steps, (effort, seed), Random(seed)
        self.pool = Pool(steps, base, progress)
        self.small, self.coarse = n <= tuning.SMALL_STEPS, n > tuning.BISECTED_STEPS
        self.large = self.pool.large
        whole_work = effort * min(tuning.WORK, tuning.WORK_OF_STEP * n)
        self.small_work = whole_work * tuning.SMALL_SHARE
        self.work = self.small_work if self.large else whole_work
        self.patience = min(tuning.PATIENCE, tuning.PATIENCE * effort + tuning.PATIENCE_OF_STEP * n)
        self.floor, self.least, self.proved = _touched_bytes(steps), 0.0, ""
        self._fitted: dict[Candidate, int] = {}  # the last budget that a start was repaired for

    def restarted(self) -> Search:
        """A new search with the same arguments and none of the results."""
        (effort, seed), pool = self.asked, self.pool
        return Search(self.steps, pool.bases[0], effort=effort, seed=seed, progress=pool.progress)

    def sequence(self, candidate: Candidate) -> list[int]:
        """The steps of a candidate as they run."""
        return self.pool.loaded(candidate).schedule.sequence()

    def within(self, budget: int, work: float = 0.0, enough: float = -inf) -> Optional[Candidate]:
        """The cheapest schedule found within the budget; `None` where none was found.

        Improving it may take `work` changes, and ends where it costs no more than `enough`.
        """
        pool = self.pool
        end = pool.work + (tuning.STARTS_PATIENCE * self.patience if self.coarse else inf)
        for start in pool.starts(budget):
            if pool.work > end:
                break
            best = pool.cheapest(budget)
            hopeless = self.large and best is not None and _much_worse(start, best, budget)
            if not hopeless and not self._fitted_before(start, budget):
                self.fit(start, budget, RepairOptions(work=self.patience))
        best = pool.cheapest(budget)
        if best is not None and work > 0 and best.keys and best.cost > enough:
            self.improve(best, budget, work, enough)
            best = pool.cheapest(budget)
        return best

    def cheapest(self, budget: int) -> Candidate:
        """The cheapest schedule within the budget, or where there is none, the smallest peak."""
        best = self.within(budget, self.work) if budget >= self.floor else None
        if best is not None:
            return best
        lowest = self.smallest_peak(inf, budget)
        return lowest if lowest.peak_bytes > budget else self.within(budget, self.work) or lowest

    def smallest_peak(self, max_cost: float, enough: int = 0) -> Candidate:
        """The smallest peak found with at most `max_cost` of recomputation.

        Stops where a peak of `enough` bytes is reached.
        """
        if self.coarse:
            return smallest_peak_coarsely(self, max_cost, enough)
        pool = self.pool
        best = pool.smallest_peak(max_cost)
        lower = max(self.floor, enough) - 1
        while best.peak_bytes - lower > max(1, best.peak_bytes // 64):
            middle = (best.peak_bytes + lower) // 2
            candidate = self.within(middle)
            if candidate is not None and candidate.cost <= max_cost:
                best = pool.smallest_peak(max_cost)
            else:
                lower = middle
        few = len(self.steps.nodes) <= tuning.DEEPEN_STEPS
        if few and max_cost >= tuning.DEEPEN_SHARE * pool.total:
            for start in pool.starts_within(max_cost):
                end = pool.work + min(self.work, tuning.DEEPEN_WORK)
                lower_peak(self, start, tuning.FIRST_STEP, max_cost, enough, end)
        return self._lower_finely(max_cost, enough)

    def fit(self, start: Candidate, budget: int, options: RepairOptions) -> None:
        """Repair a candidate greedily until it is within the budget, and record the result.

        The budget is approached in steps: for one far below, greedy repair prefers what lives
        long to what lives where the peak is.
        """
        self._fitted[start] = budget
        moves = self.pool.loaded(start)
        target = peak = moves.schedule.live.peak()
        if moves.schedule.keys:
            release(moves, max(budget, peak), options.work / 4)
        while target > budget:
            target = max(budget, int(target * tuning.BUDGET_STEP))
            if not repair(moves, target, self.random, options):
                break
        else:
            release(moves, budget, options.work)
        self.pool.report(self.pool.record(start.base), f"within {budget:,} B")

    def improve(self, best: Candidate, budget: int, work: float, enough: float = -inf) -> None:
        """Make a candidate within the budget cheaper, and record each improvement.

        Ends after `work` changes, or where it costs no more than `enough`.
        """
        moves, pool = self.pool.loaded(best), self.pool
        most = work / 2 if self.coarse else inf
        for cost in improvements(moves, budget, self.random, work, most):
            pool.report(pool.record(best.base), f"within {budget:,} B")
            if cost <= enough:
                return

    def _fitted_before(self, start: Candidate, budget: int) -> bool:
        """Whether a start was already repaired for nearly the same budget."""
        last = self._fitted.get(start)
        searched = start.origin == "search"
        near = tuning.SAME_BUDGET_OF_SEARCHED if searched else tuning.SAME_BUDGET
        return last is not None and near * last <= budget <= last / near

    def _lower_finely(self, max_cost: float, enough: int) -> Candidate:
        """Lower the budget by ever smaller parts, and search each time for `max_cost`.

        Afterwards make the result cheaper: the cost that this spares pays for the next pass.
        """
        pool = self.pool
        end = pool.work + 3 * self.work
        lowest = max(enough, self.floor)
        for part, least in tuning.FINE_STEPS:
            best = pool.smallest_peak(max_cost)
            while part > least and pool.work < end and best.peak_bytes > lowest:
                budget = max(lowest, int(best.peak_bytes * (1 - part)))
                self.within(budget, self.work / 6, max_cost)
                lower = pool.smallest_peak(max_cost)
                if lower.peak_bytes == best.peak_bytes:
                    part /= 2
                pool.report(lower, f"with at most {max_cost / pool.total:.2%} more work")
                best = lower
            self.within(best.peak_bytes, self.work / 6, 0.0)
        return pool.smallest_peak(max_cost)


def _much_worse(start: Candidate, best: Candidate, budget: int) -> bool:
    """Whether a start costs, or exceeds the budget, far too much to become better than `best`."""
    return start.weight > 1.5 * best.weight or start.peak_bytes > 2 * budget


def _touched_bytes(steps: Steps) -> int:
    """The most that one step reads and writes, or the caller: every schedule needs that much."""
    most = max(sum(steps.size[f] for f in steps.feeds), sum(steps.size[k] for k in steps.kept))
    for reads, writes, over in zip(steps.reads, steps.writes, steps.over, strict=True):
        touched = sum(steps.size[v] for v in {*reads, *writes})
        most = max(most, touched - sum(steps.size[w] for w, _ in over))
    return most
