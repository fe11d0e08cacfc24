"""Greedy repair of a schedule that needs too many bytes, and release of what it repeats in vain.

`repair` looks at the position of the peak and frees what is alive and unused there: first the
storage whose recomputation takes away most excess for its cost.  Excess (bytes above the budget) is
summed over all positions, so freeing a storage for long counts for more.  Estimates rank the gaps;
the best few are tried on the schedule itself, which knows its true peak.  `release` cancels each
recomputation that the budget does not need.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import exp, inf
from random import Random

from byparts_graph_ir.model.frozen import Frozen
from byparts_recompute import tuning
from byparts_recompute.scheduling.moves import Gap, Moves


class RepairOptions(Frozen):
    """Options of a repair.

    Attributes:
        tries: gaps that are tried on the schedule for each batch that is taken.
        noise: standard deviation of what is added to the logarithm of scores.
        limit: cost at which to give up.
        work: changes after which to give up.
    """

    tries: int = tuning.TRIES
    noise: float = 0.0
    limit: float = inf
    work: float = inf


Choice = tuple[Gap, float, float]
"""A gap, the chance with which freed inputs are computed again, and excess removed per cost."""


def repair(moves: Moves, budget: int, random: Random, options: RepairOptions) -> bool:
    """Compute again until the peak is within the budget.

    Returns False where no gap helps any more, or a limit of the options is reached.
    """
    return _Repair(moves, budget, random, options).run()


def release(moves: Moves, budget: int, work: float = inf) -> None:
    """Cancel recomputations, the most expensive first, as long as the peak is within the budget."""
    schedule, n = moves.schedule, moves.schedule.n
    changed, end = True, moves.work + work
    while changed:
        changed = False
        for key in sorted(schedule.keys, key=lambda k: (-moves.weight[k % n], k)):
            if key not in schedule.keys:
                continue
            if moves.work > end:
                return
            mark, cost = moves.mark(), moves.cost
            moves.cancel(key)
            if schedule.live.peak() <= budget and moves.cost < cost:
                changed = True
            else:
                moves.undo(mark)


class _Repair:
    """A repair: the schedule, the budget and the excess that is left."""

    def __init__(self, moves: Moves, budget: int, random: Random, options: RepairOptions) -> None:
        self.moves, self.budget, self.random, self.options = moves, budget, random, options
        self.live, self.end = moves.schedule.live, moves.work + options.work
        self.excess = self.live.excess(budget)

    def run(self) -> bool:
        """Repair; whether the budget is met."""
        moves, options = self.moves, self.options
        batch = tuning.BATCH + len(moves.large) // tuning.BATCH_STORAGES
        tries = least = max(options.tries, batch + batch // 2)
        while self.excess:
            if moves.cost > options.limit or moves.work > self.end:
                return False
            ranked = self._ranked(4 * tries)
            best = self._tried(ranked[:tries])
            if not best and (len(ranked) <= tries or tries > 200 * batch):
                best = self._tried_after_another(ranked[: options.tries])
                if not best:
                    return False
            tries = least if best else 4 * tries
            self._take(best[:batch])
        return moves.cost <= options.limit

    def _ranked(self, most: int) -> list[Gap]:
        """The gaps at the peak, by the excess that freeing them may remove for its cost.

        The cost of the step alone chooses the `most` gaps whose whole cost is estimated.
        """
        moves, schedule, tiny = self.moves, self.moves.schedule, 1e-12 * self.moves.total
        over = self.live.keys_over(self.budget)
        rough = []
        for gap in moves.gaps(self.live.peak_key()):
            positions = bisect_left(over, gap.reader) - bisect_right(over, gap.since)
            score = self._noisy(float(schedule.size[gap.storage] * positions))
            rough.append((-score / max(moves.weight[gap.writer], tiny), gap.storage, score, gap))
        rough.sort(key=lambda entry: entry[:2])
        ranked = []
        for _, v, score, gap in rough[:most]:
            cost = moves.estimate(gap.writer, gap.reader // schedule.n)
            ranked.append((-score / max(cost, tiny), v, gap))
        ranked.sort(key=lambda entry: entry[:2])
        return [gap for _, _, gap in ranked]

    def _tried(self, gaps: Sequence[Gap]) -> list[Choice]:
        """The gaps that truly remove excess, best first; tried on the schedule, and undone."""
        moves, schedule, cost_before = self.moves, self.moves.schedule, self.moves.cost
        scores: dict[Gap, tuple[float, float]] = {}
        for gap in gaps:
            for chance in (1.0, 0.0):
                mark, count = moves.mark(), len(schedule.keys)
                done = moves.recompute(gap.writer, gap.reader // schedule.n, chance, self.random)
                made = len(schedule.keys) - count
                less = self.excess - self.live.excess(self.budget) if done else 0
                cost = moves.cost - cost_before
                moves.undo(mark)
                if less > 0:
                    score = self._noisy(less / max(cost, 1e-12 * moves.total))
                    if score > scores.get(gap, (0.0, chance))[0]:
                        scores[gap] = score, chance
                if made == 1:
                    break  # no freed input is needed: both chances do the same
        ranked = [(gap, chance, score) for gap, (score, chance) in scores.items()]
        ranked.sort(key=lambda choice: (-choice[2], choice[0].storage))
        return ranked

    def _tried_after_another(self, gaps: Sequence[Gap]) -> list[Choice]:
        """Free a gap that removes nothing alone, where another one then does; those others.

        The first gap stays freed where that succeeds.
        """
        moves, tries = self.moves, self.options.tries
        for gap in gaps:
            if moves.work > self.end:
                return []
            mark = moves.mark()
            if moves.recompute(gap.writer, gap.reader // moves.schedule.n, 1.0, self.random):
                best = self._tried(self._ranked(4 * tries)[:tries])
                if best:
                    return best
            moves.undo(mark)
        return []

    def _take(self, best: Sequence[Choice]) -> None:
        """Free the first gap, and of the others those that are still about as good after it."""
        moves = self.moves
        for i, (gap, chance, score) in enumerate(best):
            mark, cost = moves.mark(), moves.cost
            moves.recompute(gap.writer, gap.reader // moves.schedule.n, chance, self.random)
            left = self.live.excess(self.budget)
            if i and self.excess - left < tuning.STILL_GOOD * score * (moves.cost - cost):
                moves.undo(mark)
            else:
                self.excess = left

    def _noisy(self, score: float) -> float:
        noise = self.options.noise
        return score * exp(self.random.gauss(0, noise)) if noise else score
