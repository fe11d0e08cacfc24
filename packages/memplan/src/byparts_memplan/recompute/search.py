"""The search for what to compute again: many starts, greedy repair, then improvement.

For a budget the most promising few of what is known (`pool.py`) are repaired and released, and the
best is improved (`improve.py`).  For a limit of cost the budget is bisected, then lowered step by
step, past the limit and back (`descend.py`) and by less and less; of more than some hundred steps
there is a quicker way down.  Effort is counted in changes of a schedule, so the same arguments give
the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from random import Random
from typing import Optional

from byparts_memplan.recompute.descend import descend, sink
from byparts_memplan.recompute.found import Found, floor_of, hopeless, undominated
from byparts_memplan.recompute.improve import improvements
from byparts_memplan.recompute.pool import Pool, Progress
from byparts_memplan.recompute.repair import Manner, release, repair
from byparts_memplan.steps import Steps

_WORK = 80_000  # changes for a budget, at effort 1: two seconds; less for small graphs
_PATIENCE = 200_000
_FEW, _GENEROUS = 200, 0.05  # steps, and share of all costs: there are many ways then
_MANY = 400  # steps: questions on the way down, of all starts, would take minutes
_STARTS = 3  # times the patience, for all starts of a budget
_DIVE = 30_000  # for going down past the limit of cost and back, from each start
_SMALL = 100  # steps: so few that the whole trade-off is searched, whatever is asked
_NEAR = 0.9  # budgets so near to each other make much the same of a start
_NEARER = 0.998  # and of what was itself found for a budget


class Search:
    """Of one graph, from a base order on.

    Attributes:
        pool: what was found.
        small: whether it is walked down whole.
        many, large: whether there are so many steps that it is better to be quick, or very quick.
        effort: changes for the improvement of an answer; `brisk`, for one on the way down.
        patience: changes after which greedy gives up what it began.
        floor: no schedule can have a smaller peak: what the hungriest step touches.
        least: no schedule within the budget can compute less again; a share of all costs.
        proved: what is proved, in words.
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
        self.steps, self.asked, self.random = steps, (effort, seed), Random(seed)
        self.pool = Pool(steps, base, progress)
        self.small, self.many = len(steps.nodes) <= _SMALL, len(steps.nodes) > _MANY
        self.large = self.pool.large
        self.brisk = effort * min(_WORK, 200 * len(steps.nodes)) / 8
        self.effort = self.brisk if self.large else 8 * self.brisk
        self.patience = min(_PATIENCE, _PATIENCE * effort + 60 * len(steps.nodes))
        self.floor, self.least, self.proved = floor_of(steps), 0.0, ""
        self._settled: dict[Found, int] = {}  # for which budget a start was repaired last

    def again(self) -> Search:
        """Another one as this was in the beginning."""
        (effort, seed), pool = self.asked, self.pool
        return Search(self.steps, pool.bases[0], effort=effort, seed=seed, progress=pool.progress)

    def sequence(self, found: Found) -> list[int]:
        """The steps as they run."""
        return self.pool.loaded(found).schedule.sequence()

    def front(self) -> list[Found]:
        """Of what was found, those that nothing is better than; by peak."""
        return undominated(self.pool.found)

    def within(self, budget: int, work: float = 0.0, enough: float = -inf) -> Optional[Found]:
        """The cheapest schedule found within the budget; work to improve it until it is `enough`.

        `None` where none was found.
        """
        end = self.pool.work + (_STARTS * self.patience if self.many else inf)
        for start in self.pool.starts(budget):
            if self.pool.work > end:
                break
            best = self.pool.cheapest(budget)
            known = self.large and best is not None and hopeless(start, best, budget)
            if not known and not self._was_settled(start, budget):
                self.settle(start, budget, Manner(work=self.patience))
        best = self.pool.cheapest(budget)
        if best is not None and work > 0 and best.keys and best.cost > enough:
            self.improve(best, budget, work, enough)
            best = self.pool.cheapest(budget)
        return best

    def cheapest(self, budget: int) -> Found:
        """Within the budget, with all the effort there is; the smallest peak where none is."""
        found = self.within(budget, self.effort) if budget >= self.floor else None
        if found is not None:
            return found
        lowest = self.smallest(inf, budget)
        return lowest if lowest.peak_bytes > budget else self.within(budget, self.effort) or lowest

    def smallest(self, limit: float, enough: int = 0) -> Found:
        """The smallest peak with at most this cost of recomputation; stops where it is enough."""
        if self.many:
            return descend(self, limit, enough)
        pool = self.pool
        best = pool.lowest(limit)
        lower = max(self.floor, enough) - 1
        while best.peak_bytes - lower > max(1, best.peak_bytes // 64):
            middle = (best.peak_bytes + lower) // 2
            found = self.within(middle)
            if found is not None and found.cost <= limit:
                best = pool.lowest(limit)
            else:
                lower = middle
        if len(self.steps.nodes) <= _FEW and limit >= _GENEROUS * pool.total:
            for start in pool.starts_within(limit):
                end = pool.work + min(self.effort, _DIVE)
                sink(self, start, 0.08, limit, enough, end)
        return self._squeeze(limit, enough)

    def settle(self, start: Found, budget: int, manner: Manner) -> None:
        """Bring a schedule within the budget, as cheaply as greedy can.

        In some stages: for a budget far below, greedy prefers what lives long to what lives where
        the peak is.
        """
        self._settled[start] = budget
        moves = self.pool.loaded(start)
        peak = moves.schedule.curve.peak()
        if moves.schedule.keys:
            release(moves, max(budget, peak), manner.work / 4)
        target = peak
        while target > budget:
            target = max(budget, int(target * 0.8))
            if not repair(moves, target, self.random, manner):
                break
        else:
            release(moves, budget, manner.work)
        self.pool.say(self.pool.note(start.base), f"within {budget:,} B")

    def improve(self, best: Found, budget: int, work: float, enough: float = -inf) -> None:
        """Ruin and recreate from a schedule within the budget, until it costs no more than that."""
        moves, pool = self.pool.loaded(best), self.pool
        most = work / 2 if self.many else inf
        for cost in improvements(moves, budget, self.random, work, most):
            pool.say(pool.note(best.base), f"within {budget:,} B")
            if cost <= enough:
                return

    def _was_settled(self, start: Found, budget: int) -> bool:
        """Whether something near has come of a start, which is then known."""
        last = self._settled.get(start)
        near = _NEARER if start.origin == "search" else _NEAR
        return last is not None and near * last <= budget <= last / near

    def _squeeze(self, limit: float, enough: int) -> Found:
        """Lower the budget by less and less, each time searching for the limit of cost.

        Then make what was found cheaper, which leaves some cost to lower it a little more.
        """
        pool = self.pool
        end = pool.work + 3 * self.effort
        for part, least in ((0.02, 5e-4), (1e-3, 1e-4)):
            best = pool.lowest(limit)
            while part > least and pool.work < end and best.peak_bytes > max(enough, self.floor):
                budget = max(self.floor, enough, int(best.peak_bytes * (1 - part)))
                self.within(budget, self.effort / 6, limit)
                found = pool.lowest(limit)
                if found.peak_bytes == best.peak_bytes:
                    part /= 2
                pool.say(found, f"with at most {limit / pool.total:.2%} more work")
                best = found
            self.within(best.peak_bytes, self.effort / 6, 0.0)
        return pool.lowest(limit)
