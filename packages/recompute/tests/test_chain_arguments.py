"""What is no number of stages, bytes or slots is named; what NumPy gives is taken."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from byparts_memplan import PlanError
from byparts_recompute import (
    Chain,
    Stage,
    forward_evaluations,
    homogeneous,
    optimal_schedule,
    optimal_within,
    recurrence_schedule,
    recursive_schedule,
    sequential_schedule,
    sqrt_schedule,
)

np = pytest.importorskip("numpy")  # whose integers are part of the question

CHAIN = homogeneous(6, output=1, saved=1)
WRONG: list[Any] = ["3", 1.5, 0, -1, [3], float("nan"), np.array([1, 2])]
ASK: dict[str, Any] = {
    "length": partial(homogeneous, output=1, saved=1),
    "steps": lambda n: forward_evaluations(n, 3),
    "slots": lambda n: forward_evaluations(9, n),
    "internal_slots": lambda n: forward_evaluations(9, 3, "mixed", internal_slots=n),
    "slots of a schedule": lambda n: recurrence_schedule(CHAIN, n, "hidden"),
    "slots of a table": lambda n: optimal_schedule(CHAIN, 9, slots=n),
    "segments": lambda n: sqrt_schedule(CHAIN, n),
    "segments one by one": lambda n: sequential_schedule(CHAIN, n),
    "segments again": lambda n: recursive_schedule(CHAIN, n),
}


@pytest.mark.parametrize("given", WRONG, ids=str)
@pytest.mark.parametrize("name", ASK)
def test_counts_are_integers_of_one_or_more(name: str, given: Any) -> None:
    with pytest.raises(
        PlanError, match=f"^{name.split()[0]} is .*; expected an integer, 1 or more"
    ):
        ASK[name](given)


@pytest.mark.parametrize("name", ASK)
def test_counts_may_be_of_any_kind(name: str) -> None:
    assert ASK[name](np.int8(3)) == ASK[name](3.0) == ASK[name](3)


@pytest.mark.parametrize("given", [None, "3", 1.5, -1, [3], float("nan")])
def test_bytes_of_a_stage_are_integers(given: Any) -> None:
    match = r"^Stage\(.* needs bytes and costs >= 0; saved_bytes is .*; expected an integer, 0 or"
    with pytest.raises(PlanError, match=match):
        Stage(1, 1, 1, given)
    with pytest.raises(PlanError, match=r"^budget_bytes is .*; expected an integer, 0 or more"):
        optimal_schedule(CHAIN, given)


@pytest.mark.parametrize("given", [None, "3", [3], float("nan"), -0.5])
def test_costs_are_numbers(given: Any) -> None:
    with pytest.raises(PlanError, match=r"needs bytes and costs >= 0; forward_cost is "):
        Stage(given, 1, 1, 1)
    with pytest.raises(PlanError, match=r"^max_extra_cost is .*; expected a cost, 0 or more"):
        optimal_within(CHAIN, given)


def test_a_chain_is_of_stages() -> None:
    with pytest.raises(PlanError, match=r"stages\[0\] is 3; expected a Stage"):
        Chain((3,))  # type: ignore[arg-type]

    assert Chain([CHAIN.stages[0]]) == Chain(CHAIN.stages[:1])  # type: ignore[arg-type]
    assert Stage(1, 1, np.int8(3), 4) == Stage(1, 1, 3, 4)
