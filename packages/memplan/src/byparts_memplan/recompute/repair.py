"""Greedy descent to a budget, and back up: what to compute again, and what after all not.

`repair` looks at the worst position and frees what lies there unused, the most bytes of excess for
the least cost first.  The excess is summed over all positions, so freeing something long counts for
more.  Estimates choose a few candidates, and these are tried on the schedule itself, which knows
the true peak.  `release` takes back each recomputation that the budget does not need.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import exp, inf
from random import Random

from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_memplan.recompute.moves import Gap, Moves

_BATCH = 6  # gaps freed one after the other while they are about as good as they were

Choice = tuple[Gap, float, float]  # how deep to compute again, and how much that gives for its cost


@dataclass(frozen=True)
class Manner:
    """How to repair.

    Attributes:
        tries: candidates that are tried for each one that is taken.
        noise: standard deviation of what is added to the logarithm of scores.
        limit: cost at which to give up.
        work: changes after which to give up.
    """

    tries: int = 12
    noise: float = 0.0
    limit: float = inf
    work: float = inf


def repair(moves: Moves, budget: int, random: Random, manner: Manner | None = None) -> bool:
    """Compute again until the peak is within the budget.  False where no candidate is left."""
    manner = manner or Manner()
    curve = moves.schedule.curve
    batch = _BATCH + len(moves.large) // 400  # large graphs have to be quicker with each
    excess, end = curve.excess(budget), moves.work + manner.work
    tries = least = max(manner.tries, batch + batch // 2)
    while excess:
        if moves.cost > manner.limit or moves.work > end:
            return False
        ranked = _ranked(moves, budget, random, manner.noise, 4 * tries)
        best = _best(moves, budget, excess, ranked[:tries], random, manner.noise)
        if not best and (len(ranked) <= tries or tries > 200 * batch):
            best = _second(moves, budget, excess, ranked[: manner.tries], random, manner, end)
            if not best:
                return False
        tries = least if best else 4 * tries
        excess = _take(moves, budget, excess, best[:batch], random)
    return moves.cost <= manner.limit


def _take(moves: Moves, budget: int, excess: int, best: Sequence[Choice], random: Random) -> int:
    """Free the first, and others that are still about as good after it.  The excess then."""
    for i, (gap, deep, score) in enumerate(best):
        mark, before = moves.mark(), moves.cost
        moves.free(gap.writer, gap.reader // moves.schedule.n, deep, random)
        left = moves.schedule.curve.excess(budget)
        if i and excess - left < 0.7 * score * (moves.cost - before):
            moves.undo(mark)
        else:
            excess = left
    return excess


def _second(
    moves: Moves,
    budget: int,
    excess: int,
    gaps: Sequence[Gap],
    random: Random,
    manner: Manner,
    end: float,
) -> list[Choice]:
    """What gains something after another gap was freed that alone gains nothing; that stays."""
    for gap in gaps:
        if moves.work > end:
            return []
        mark = moves.mark()
        if moves.free(gap.writer, gap.reader // moves.schedule.n, 1.0, random):
            ranked = _ranked(moves, budget, random, manner.noise, 4 * manner.tries)
            best = _best(moves, budget, excess, ranked[: manner.tries], random, manner.noise)
            if best:
                return best
        moves.undo(mark)
    return []


def release(moves: Moves, budget: int, work: float = inf) -> None:
    """Until nothing more can be: keep what is computed again, the dearest first."""
    schedule, n = moves.schedule, moves.schedule.n
    changed, end = True, moves.work + work
    while changed:
        changed = False
        for key in sorted(schedule.keys, key=lambda k: (-moves.weight[k % n], k)):
            if key not in schedule.keys:
                continue
            if moves.work > end:
                return
            mark, before = moves.mark(), moves.cost
            moves.keep(key)
            if schedule.curve.peak() <= budget and moves.cost < before:
                changed = True
            else:
                moves.undo(mark)


def _ranked(moves: Moves, budget: int, random: Random, noise: float, most: int) -> list[Gap]:
    """Gaps at the worst position, by the excess that freeing them may take away for its cost.

    The cost of the step alone says which are worth an estimate of the whole.
    """
    schedule, tiny = moves.schedule, 1e-12 * moves.total
    over = schedule.curve.over(budget)
    found = []
    for gap in moves.gaps(schedule.curve.worst()):
        positions = bisect_left(over, gap.reader) - bisect_right(over, gap.since)
        score = float(schedule.size[gap.storage] * positions)
        if noise:
            score *= exp(random.gauss(0, noise))
        found.append((-score / max(moves.weight[gap.writer], tiny), gap.storage, score, gap))
    found.sort(key=lambda entry: entry[:2])
    ranked = []
    for _, v, score, gap in found[:most]:
        cost = moves.estimate(gap.writer, gap.reader // schedule.n)
        ranked.append((-score / max(cost, tiny), v, gap))
    ranked.sort(key=lambda entry: entry[:2])
    return [gap for _, _, gap in ranked]


def _best(
    moves: Moves,
    budget: int,
    excess: int,
    gaps: Sequence[Gap],
    random: Random,
    noise: float,
) -> list[Choice]:
    """Gaps, and how deep to compute again, that truly take most away for their cost; best first."""
    schedule, before = moves.schedule, moves.cost
    found: dict[Gap, tuple[float, float]] = {}
    for gap in gaps:
        for deep in (1.0, 0.0):
            mark, count = moves.mark(), len(schedule.keys)
            done = moves.free(gap.writer, gap.reader // schedule.n, deep, random)
            made = len(schedule.keys) - count
            less = excess - schedule.curve.excess(budget) if done else 0
            cost = moves.cost - before
            moves.undo(mark)
            if less > 0:
                score = less / max(cost, 1e-12 * moves.total)
                if noise:
                    score *= exp(random.gauss(0, noise))
                if score > found.get(gap, (0.0, deep))[0]:
                    found[gap] = score, deep
            if made == 1:
                break  # it needs nothing that is gone: there is no other way
    ranked = [(gap, deep, score) for gap, (score, deep) in found.items()]
    ranked.sort(key=lambda choice: (-choice[2], choice[0].storage))
    return ranked
