"""Schedules with names are what they are known to be; a schedule that lies or stumbles is caught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from byparts_memplan import PlanError
from byparts_recompute.chains.chain import (
    Chain,
    Schedule,
    Stage,
    check_schedule,
    homogeneous,
    scheduled,
)
from byparts_recompute.chains.named import (
    recursive_schedule,
    sequential_schedule,
    sqrt_schedule,
)
from byparts_recompute.chains.optimal import save_all
from byparts_recompute.chains.recurrence import forward_evaluations, recurrence_schedule

PAIR = homogeneous(2, 1, 1, 0, 1)


def test_saving_all_holds_all() -> None:
    """Two saved sets, the gradient that comes and the one that is made."""
    assert save_all(PAIR) == Schedule(
        (("save", 0), ("save", 1), ("backward", 1), ("backward", 0)), 4, 0.0
    )


def test_running_again_costs_and_frees() -> None:
    """The first stage runs twice: its saved set is not there while the second runs backward."""
    operations = [("keep", 0), ("save", 1), ("backward", 1), ("save", 0), ("backward", 0)]
    chain = homogeneous(2, 1, 4, 0, 1)

    assert scheduled(chain, operations) == Schedule(tuple(operations), 7, 1.0)
    assert save_all(chain).peak_bytes == 10


def test_what_backward_leaves_counts_to_the_end() -> None:
    stage = Stage(1, 1, 1, 1, kept_bytes=10)

    assert save_all(Chain((stage,) * 3)).peak_bytes == 30 + 2


def test_an_input_in_a_saved_set_is_held_once() -> None:
    """Value 1 is kept and then saved: it counts once, and dropping the copy drops nothing."""
    chain = homogeneous(2, 5, 5)
    kept = scheduled(
        chain, [("keep", 0), ("save", 0), ("save", 1), ("backward", 1), ("backward", 0)]
    )

    assert kept.peak_bytes == save_all(chain).peak_bytes
    assert kept.extra_cost == 1


@pytest.mark.parametrize(
    ("operations", "message"),
    [
        ([("forward", 1)], r"operation 0 \(forward 1\): value 1 is not held"),
        ([("backward", 1)], r"\(backward 1\): what its backward reads is not saved"),
        ([("save", 0), ("backward", 0)], "stage 1 runs backward next"),
        ([("save", 0)], "stage 1 never runs backward"),
        ([("drop", 1)], r"\(drop 1\): it is not held"),
        ([("think", 0)], "is not one of forward, keep, save"),
        ([("save", 2)], "with a stage of the chain"),
        ([("keep", 0), ("save", 1), ("drop", 1), ("backward", 1)], "value 1 is not held"),
    ],
)
def test_a_schedule_that_stumbles_is_refused(
    operations: list[tuple[str, int]], message: str
) -> None:
    with pytest.raises(PlanError, match=message):
        scheduled(PAIR, operations)


def test_a_schedule_that_lies_is_caught() -> None:
    true = save_all(PAIR)

    with pytest.raises(PlanError, match="holds 4 bytes and says 3"):
        check_schedule(PAIR, replace(true, peak_bytes=3))
    with pytest.raises(PlanError, match=r"computes 0\.0 again and says 1"):
        check_schedule(PAIR, replace(true, extra_cost=1.0))


def test_numbers_that_make_no_sense_are_refused() -> None:
    with pytest.raises(PlanError, match="needs bytes and costs >= 0"):
        Stage(1, 1, -1, 0)
    with pytest.raises(PlanError, match="at least one stage"):
        Chain(())
    with pytest.raises(PlanError, match="3 segments of 2 stages"):
        sqrt_schedule(PAIR, 3)
    with pytest.raises(PlanError, match="2 segments or more"):
        recursive_schedule(homogeneous(5, 1, 1), 1)


def test_named_schedules_of_a_hundred_blocks() -> None:
    """(peak, extra / forward), as measured of Chen's scheme and torch's."""
    chain = homogeneous(100, 1, 4, 2, 3)
    found = [
        sqrt_schedule(chain),
        smallest_peak(chain, sqrt_schedule),
        sequential_schedule(chain, 10),
        smallest_peak(chain, sequential_schedule),
        recursive_schedule(chain, 2),
    ]

    assert [(s.peak_bytes, s.extra_cost / 100) for s in found] == [
        (53, 1.0), (40, 1.0), (53, 0.9), (40, 0.96), (14, 3.56),
    ]  # fmt: skip


def smallest_peak(chain: Chain, schedule: Callable[[Chain, int], Schedule]) -> Schedule:
    """With the number of segments that has the smallest peak."""
    counts = range(1, len(chain.stages) + 1)
    return min((schedule(chain, k) for k in counts), key=lambda s: s.peak_bytes)


def test_revolve_is_binomial() -> None:
    """With 3 slots: 1 step runs once, 3 twice, 6 three times, 10 four times."""
    chain = homogeneous(20, 1, 1, 0, 1)

    assert forward_evaluations(20, 3, "hidden") == 1 + 2 * 3 + 3 * 6 + 4 * 10
    assert recurrence_schedule(chain, 3, "hidden").extra_cost == 65 - 20
