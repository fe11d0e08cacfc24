"""The cheapest schedules: against all schedules, against published optima, with and without NumPy."""

from __future__ import annotations

import json
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

import pytest
from chain_search import least_extra_cost
from hypothesis import given, settings, strategies as st

from byparts_memplan import PlanError
from byparts_recompute.chains.chain import Chain, Stage, check_schedule, homogeneous
from byparts_recompute.chains.named import recursive_schedule, sequential_schedule, sqrt_schedule
from byparts_recompute.chains.optimal import (
    ChainTable,
    curve,
    optimal_schedule,
    optimal_within,
    save_all,
)

TABLE = json.loads((Path(__file__).parent / "data" / "chains.json").read_text())
SHORT = [row for row in TABLE if row["stages"] <= 200]
UNITS = {"plain": (1, 1, 0, 1), "resblock": (1, 4, 2, 3)}
NAMED = {
    "sqrt": sqrt_schedule,
    "sequential": sequential_schedule,
    "recursive": recursive_schedule,
}

small = st.integers(0, 4)
stage = st.builds(
    lambda cost, output, more, ahead, back, dy, kept, reads: Stage(
        cost, 1, output, output + more, ahead, back, dy, kept, reads
    ),
    st.integers(1, 5), small, small, small, small, st.none() | small, st.sampled_from([0, 0, 1]),
    st.booleans(),
)  # fmt: skip
chains = st.lists(stage, min_size=1, max_size=5).map(lambda stages: Chain(tuple(stages)))


@settings(max_examples=60, deadline=None)
@given(chains, st.integers(0, 40))
def test_no_schedule_of_a_short_chain_is_cheaper(chain: Chain, budget: int) -> None:
    least = least_extra_cost(chain, budget)
    if least == inf:
        with pytest.raises(PlanError, match="too small for this chain"):
            optimal_schedule(chain, budget)
        return
    found = optimal_schedule(chain, budget)
    check_schedule(chain, found)

    assert found.peak_bytes <= budget
    assert found.extra_cost == pytest.approx(least)


@settings(max_examples=30, deadline=None)
@given(chains, st.integers(1, 40))
def test_points_of_the_table_are_schedules(chain: Chain, slots: int) -> None:
    """Each takes the bytes and the cost that its point says, exact or rounded up."""
    table = ChainTable(chain, 10**9, slots=slots)
    for peak, extra in table.curve():
        found = table.schedule(peak)
        check_schedule(chain, found)
        assert found.peak_bytes <= peak
        assert found.extra_cost == pytest.approx(extra)


@settings(max_examples=30, deadline=None)
@given(st.builds(homogeneous, st.integers(1, 6), small, small, small, small), st.integers(0, 40))
def test_of_equal_stages_the_table_alone_is_optimal(chain: Chain, budget: int) -> None:
    points = ChainTable(chain, budget).curve()

    assert (points[-1][1] if points else inf) == least_extra_cost(chain, budget)


@settings(max_examples=20, deadline=None)
@given(st.lists(stage, min_size=1, max_size=12), st.integers(1, 50), st.integers(5, 60))
def test_the_pure_path_gives_the_same_answer(stages: list[Stage], budget: int, slots: int) -> None:
    chain = Chain(tuple(stages))
    fast, pure = (ChainTable(chain, budget, slots=slots, pure=p) for p in (False, True))

    assert fast.curve() == pure.curve()
    assert [fast.schedule(p) for p, _ in fast.curve()] == [
        pure.schedule(p) for p, _ in pure.curve()
    ]


@pytest.mark.parametrize("row", SHORT, ids=lambda row: f"{row['chain']}{row['stages']}")
def test_published_optima(row: dict[str, Any]) -> None:
    """Without what is ours: the optimum at Chen's and torch's peaks and costs, and along a curve."""
    length = row["stages"]
    chain = homogeneous(length, *UNITS[row["chain"]])
    points = ChainTable(chain, row["full"], choices="save keep").curve()

    assert save_all(chain).peak_bytes == row["full"]
    assert (points[0][0], round(points[0][1] / length, 2)) == tuple(row["least"])
    for name, segments, peak, extra, at_peak, at_extra in row["rows"]:
        named = NAMED[name](chain, segments)
        assert (named.peak_bytes, round(named.extra_cost / length, 3)) == (peak, extra)
        assert round(_extra(points, peak) / length, 3) == at_peak
        assert _peak(points, named.extra_cost) == at_extra
    for extra, peak in row["curve"]:
        assert peak in (None, _peak(points, extra * length))


@pytest.mark.parametrize("row", SHORT[:3] + SHORT[4:7], ids=lambda r: f"{r['chain']}{r['stages']}")
def test_never_above_what_is_published(row: dict[str, Any]) -> None:
    length = row["stages"]
    chain = homogeneous(length, *UNITS[row["chain"]])
    points = ChainTable(chain, row["full"]).curve()

    for _, _, peak, extra, at_peak, at_extra in row["rows"]:
        assert _extra(points, peak) / length <= min(extra, at_peak) + 5e-4
        assert _peak(points, extra * length + 1e-6) <= min(peak, at_extra)


def test_late_inputs_save_a_run() -> None:
    """16 stages in 17 of 18 units: one is run again, where holding its output would need two."""
    chain = homogeneous(16, 1, 1, 0, 1)
    found = optimal_schedule(chain, 17)
    check_schedule(chain, found)

    assert found.extra_cost == 1
    assert ChainTable(chain, 17, choices="save keep").curve()[-1] == (17, 2.0)


def test_a_curve_falls() -> None:
    points = curve(homogeneous(30, 2, 5, 1, 3))

    assert all(a[0] < b[0] and a[1] > b[1] for a, b in pairwise(points))
    assert points[-1] == (save_all(homogeneous(30, 2, 5, 1, 3)).peak_bytes, 0.0)


def test_the_smallest_peak_for_a_cost() -> None:
    """At most one extra forward of 100 blocks: 34 of 404 units."""
    chain = homogeneous(100, 1, 4, 2, 3)
    found = optimal_within(chain, 100.0)
    check_schedule(chain, found)

    assert (found.peak_bytes, found.extra_cost <= 100) == (34, True)
    with pytest.raises(PlanError, match="max_extra_cost is -1; expected a cost, 0 or more"):
        optimal_within(chain, -1)


def test_bytes_that_share_no_divisor_are_rounded_up() -> None:
    stages = [Stage(1, 1, 1_000_003 + i, 3_000_017 + 7 * i, 5, 1_000_003) for i in range(30)]
    chain = Chain(tuple(stages))
    budget = save_all(chain).peak_bytes // 4
    found = optimal_schedule(chain, budget, slots=200)
    check_schedule(chain, found)

    assert budget * 0.9 < found.peak_bytes <= budget


def _extra(points: list[tuple[int, float]], peak: int) -> float:
    return min([extra for p, extra in points if p <= peak], default=inf)


def _peak(points: list[tuple[int, float]], extra: float) -> int:
    return next(p for p, e in points if e <= extra)
