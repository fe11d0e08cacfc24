"""Schedules of equal stages beside Chen's, torch's and the published optimum, and of recurrences.

    python chains.py [stages ...]

For each row of `packages/recompute/tests/data/chains.json`: peak and extra work forward
of the scheme, the optimum's extra at that peak and its peak at that extra (ours without "late" and
the published one agree, or it says so), and the same of ours with it.  Each schedule is run by the
checker.  One table a chain, so the time is that of some dozen plans.
"""

from __future__ import annotations

import json
import sys
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any

from byparts_recompute.chains.chain import check_schedule, homogeneous
from byparts_recompute.chains.named import recursive_schedule, sequential_schedule, sqrt_schedule
from byparts_recompute.chains.optimal import CHOICES, ChainTable
from byparts_recompute.chains.recurrence import forward_evaluations

DATA = Path(__file__).parents[1] / "packages" / "recompute" / "tests" / "data" / "chains.json"
UNITS = {"plain": (1, 1, 0, 1), "resblock": (1, 4, 2, 3)}
NAMED = {
    "sqrt": sqrt_schedule,
    "sequential": sequential_schedule,
    "recursive": recursive_schedule,
}
LINE = "  {:12} k={:<3} peak {:4} extra {:5.3f} | optimum {} {} | ours {} {}"


def main(lengths: list[int]) -> None:
    """All chains, or those of the lengths given."""
    start, rows = perf_counter(), json.loads(DATA.read_text())
    wrong = sum(_show(row) for row in rows if not lengths or row["stages"] in lengths)
    print(f"\n1000 steps, 50 slots: {forward_evaluations(1000, 50)} runs forward", end=" ")
    print(f"(hidden states: {forward_evaluations(1000, 50, 'hidden')})")
    print(f"{wrong} rows differ from what is published; {perf_counter() - start:.1f} s in all")


def _show(row: dict[str, Any]) -> int:
    """Prints one chain; how many rows differ."""
    length, start = row["stages"], perf_counter()
    chain = homogeneous(length, *UNITS[row["chain"]])
    named = [NAMED[name](chain, segments) for name, segments, *_ in row["rows"]]
    budget = max([p for _, p in row["curve"] if p] + [s.peak_bytes for s in named])
    known, ours = (ChainTable(chain, budget, choices=ways) for ways in ("save keep", CHOICES))
    print(f"\n{row['chain']} {length}, full {row['full']} ({perf_counter() - start:.1f} s)")
    wrong = 0
    for schedule, (name, segments, peak, extra, at_peak, at_extra) in zip(
        named, row["rows"], strict=True
    ):
        check_schedule(chain, schedule)
        at = [_at(table, schedule.peak_bytes, schedule.extra_cost) for table in (known, ours)]
        found = [(f"{e / length:.3f}", p) for e, p in at]
        print(LINE.format(name, segments, peak, extra, *found[0], *found[1]))
        agrees = (schedule.peak_bytes, round(schedule.extra_cost / length, 3)) == (peak, extra)
        wrong += not agrees or found[0] != (f"{at_peak:.3f}", at_extra)
    points = [[_peak(t, extra * length) for extra, _ in row["curve"]] for t in (known, ours)]
    wrong += any(p not in (None, q) for (_, p), q in zip(row["curve"], points[0], strict=True))
    print(f"  peaks for extra {[e for e, _ in row['curve']]}: {points[0]}, ours {points[1]}")
    return wrong


def _at(table: ChainTable, peak: int, extra: float) -> tuple[float, int | None]:
    """The least extra cost at a peak, and the least peak at an extra cost."""
    point = max([p for p, _ in table.curve() if p <= peak])
    schedule = table.schedule(point)
    check_schedule(table.chain, schedule)
    return schedule.extra_cost, _peak(table, extra)


def _peak(table: ChainTable, extra: float) -> int | None:
    """`None` where that takes more than the table holds."""
    found = min([p for p, e in table.curve() if e <= extra], default=inf)
    return None if found == inf else int(found)


if __name__ == "__main__":
    main([int(a) for a in sys.argv[1:]])
