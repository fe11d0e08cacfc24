"""Ruin and recreate: a schedule within a budget becomes cheaper.

Part of what is computed again (a stretch of time, of steps, or any) is kept instead, and the budget
repaired anew with some noise; what is no dearer stays (large neighbourhood search, Shaw 1998; ruin
and recreate, Schrimpf et al. 2000).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from random import Random

from byparts_memplan.recompute.moves import Moves
from byparts_memplan.recompute.repair import Manner, release, repair


def improvements(
    moves: Moves, budget: int, random: Random, work: float, most: float = inf
) -> Iterator[float]:
    """The cost of each schedule that is cheaper than all before; it is then what is loaded.

    Ends after so much work, or when half of it brought nothing; a repair, and a release after
    it, take `most` at most.
    """
    current, least, lately = moves.cost, moves.cost, moves.work
    end = moves.work + work
    while moves.work < min(end, lately + work / 2):
        moves.forget()
        mark = moves.mark()
        moves.work += 20  # where there is nothing to change, it ends too
        _ruin(moves, random)
        limit = current * 1.01 + 1e-3 * moves.total
        tries, noise = random.choice((2, 4, 8)), random.choice((0.0, 0.3, 1.0))
        if repair(moves, budget, random, Manner(tries, noise, limit, most)):
            release(moves, budget, most)
            if moves.cost <= current:
                current = moves.cost
                if current < least - 1e-9 * moves.total:
                    least, lately = current, moves.work
                    yield moves.schedule.cost
                continue
        moves.undo(mark)


def _ruin(moves: Moves, random: Random) -> None:
    """Keep some of what is computed again, and perhaps free something instead."""
    schedule, n = moves.schedule, moves.schedule.n
    for k in _chosen(sorted(schedule.keys), n, random):
        if k in schedule.keys:
            moves.keep(k)
    if random.random() < 0.5:
        gaps = list(moves.gaps(schedule.curve.worst()))
        if gaps:
            (gap,) = random.choices(gaps, [schedule.size[g.storage] for g in gaps])
            moves.free(gap.writer, gap.reader // n, random.choice((0.0, 0.5, 1.0)), random)


def _chosen(keys: list[int], n: int, random: Random) -> list[int]:
    """About one time, about one stretch of steps, or any of them."""
    kind = random.random()
    if not keys or kind >= 0.7:
        part = random.choice((0.05, 0.15, 0.3))
        return [k for k in keys if random.random() < part]
    key = random.choice(keys)
    width = max(1, int(n * random.choice((0.01, 0.03, 0.06, 0.1, 0.2))))
    if kind < 0.4:
        return [k for k in keys if abs(k // n - key // n) <= width]
    return [k for k in keys if abs(k % n - key % n) <= width]
