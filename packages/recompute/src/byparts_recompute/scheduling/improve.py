"""Ruin and recreate: make a schedule within a budget cheaper.

Part of what is computed again is cancelled, and the schedule repaired again with some noise; the
result is accepted unless it costs more (large neighbourhood search, Shaw 1998; ruin and recreate,
Schrimpf et al. 2000).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from random import Random

from byparts_recompute import tuning
from byparts_recompute.scheduling.moves import Moves
from byparts_recompute.scheduling.repair import RepairOptions, release, repair


def improvements(
    moves: Moves, budget: int, random: Random, work: float, most: float = inf
) -> Iterator[float]:
    """Yield the cost of each schedule that is cheaper than all before; it is then loaded.

    Ends after `work` changes, or once half of them brought nothing.  One repair, and one release
    after it, may take `most` changes each.
    """
    current, least, last_success = moves.cost, moves.cost, moves.work
    end = moves.work + work
    while moves.work < min(end, last_success + work / 2):
        moves.forget()
        mark = moves.mark()
        moves.work += 20  # so that it also ends where there is nothing to change
        _ruin(moves, random)
        limit = current * (1 + tuning.WORSE_ON_THE_WAY) + 1e-3 * moves.total
        tries, noise = random.choice(tuning.REPAIR_TRIES), random.choice(tuning.REPAIR_NOISE)
        if repair(moves, budget, random, RepairOptions(tries, noise, limit, most)):
            release(moves, budget, most)
            if moves.cost <= current:
                current = moves.cost
                if current < least - 1e-9 * moves.total:
                    least, last_success = current, moves.work
                    yield moves.schedule.cost
                continue
        moves.undo(mark)


def _ruin(moves: Moves, random: Random) -> None:
    """Cancel some recomputations; half of the time also free one random gap at the peak."""
    schedule, n = moves.schedule, moves.schedule.n
    for k in _drawn(sorted(schedule.keys), n, random):
        if k in schedule.keys:
            moves.cancel(k)
    if random.random() < 0.5:
        gaps = list(moves.gaps(schedule.live.peak_key()))
        if gaps:
            (gap,) = random.choices(gaps, [schedule.size[g.storage] for g in gaps])
            chance = random.choice((0.0, 0.5, 1.0))
            moves.recompute(gap.writer, gap.reader // n, chance, random)


def _drawn(keys: list[int], n: int, random: Random) -> list[int]:
    """Some keys: near one point of time, of neighbouring steps, or any of them."""
    kind = random.random()
    if not keys or kind >= 0.7:
        part = random.choice(tuning.RUIN_SHARES)
        return [k for k in keys if random.random() < part]
    key = random.choice(keys)
    width = max(1, int(n * random.choice(tuning.RUIN_WIDTHS)))
    if kind < 0.4:
        return [k for k in keys if abs(k // n - key // n) <= width]
    return [k for k in keys if abs(k % n - key % n) <= width]
