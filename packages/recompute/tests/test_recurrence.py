"""Slots for hidden and internal states of unrolled recurrences, against their tables."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings, strategies as st

from byparts_memplan import PlanError
from byparts_recompute.chains.chain import Chain, Stage, check_schedule, homogeneous
from byparts_recompute.chains.mixed import Mixed
from byparts_recompute.chains.recurrence import POLICIES, forward_evaluations, recurrence_schedule

CELL = Stage(1, 2, 0, 1, reads_input=False)  # only internal states count


def test_a_thousand_steps_in_fifty_slots() -> None:
    """Gruslys et al. 2016: 1950 runs forward with internal states; checked operation by operation."""
    chain = Chain((CELL,) * 1000)
    found = recurrence_schedule(chain, 50)
    check_schedule(chain, found)

    assert forward_evaluations(1000, 50) == 1950
    assert (found.peak_bytes, found.extra_cost + 1000) == (50, 1950)
    assert forward_evaluations(1000, 50, "hidden") == 2948
    assert [forward_evaluations(1000, m) for m in (10, 20, 32)] == [3640, 2750, 2408]


@cache
def table(n: int, m: int, internal: bool) -> int:
    """The recursion of the paper, as it stands there."""
    if m == 1 or n <= 1:
        return n * (n + 1) // 2
    if internal and n <= m:
        return n
    last = n + 1 if internal else n
    return min(
        y + table(n - y, m - 1, internal) + table(y - internal, m, internal) for y in range(1, last)
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 12), st.booleans())
def test_closed_forms_are_the_tables(n: int, m: int, internal: bool) -> None:
    policy = "internal" if internal else "hidden"

    assert forward_evaluations(n, m, policy) == table(n, m, internal)


@cache
def mixed_table(n: int, m: int, held: int) -> int:
    """Every choice there is."""
    hidden = [y + mixed_table(n - y, m - 1, held) + mixed_table(y, m, held) for y in range(1, n)]
    internal = [
        y + mixed_table(n - y, m - held, held) + mixed_table(y - 1, m, held)
        for y in range(1, n + 1)
        if m > held
    ]
    return min([n * (n + 1) // 2, *internal, *hidden]) if m > 1 < n else n * (n + 1) // 2


@pytest.mark.parametrize("held", [1, 2, 3, 7])
def test_mixed_finds_the_least_of_all_choices(held: int) -> None:
    """Where the table is convex, and where it is not."""
    table = Mixed(60, 20, held)
    cells = [(n, m) for n in range(61) for m in range(1, 21)]

    assert [table.least(*cell) for cell in cells] == [mixed_table(*cell, held) for cell in cells]


def test_a_thousand_steps_in_fifty_slots_mixed() -> None:
    """In half a second; the table that tries every choice has the same numbers."""
    assert forward_evaluations(1000, 50, "mixed") == 1950
    assert forward_evaluations(1000, 50, "mixed", internal_slots=2) == 2347
    assert forward_evaluations(50, 10**9, "mixed", internal_slots=2) == 50


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 12), st.sampled_from(POLICIES))
def test_schedules_take_the_runs_that_are_counted(n: int, m: int, policy: str) -> None:
    chain = Chain((CELL,) * n)
    found = recurrence_schedule(chain, m, policy, internal_slots=2)
    check_schedule(chain, found)

    assert found.extra_cost + n == forward_evaluations(n, m, policy, internal_slots=2)
    assert policy == "hidden" or found.peak_bytes <= max(1, m)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(1, 12))
def test_hidden_states_stay_in_their_slots(n: int, m: int) -> None:
    """Held in addition: only the input and the output of the step that runs."""
    chain = Chain((Stage(1, 2, 1, 1, 0, 0, 0),) * n)

    assert recurrence_schedule(chain, m, "hidden").peak_bytes <= m + 1


@given(st.integers(1, 30), st.integers(1, 10))
@settings(max_examples=30, deadline=None)
def test_mixed_is_no_worse_than_either(n: int, m: int) -> None:
    mixed = forward_evaluations(n, m, "mixed", internal_slots=2)

    assert mixed <= forward_evaluations(n, m, "hidden")
    assert forward_evaluations(n, m, "mixed") <= mixed


def test_internal_states_need_a_backward_that_reads_no_input() -> None:
    with pytest.raises(PlanError, match="value 4 is not held"):
        recurrence_schedule(homogeneous(5, 1, 1), 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1), "steps is 0; expected"),
        ((1, 0), "slots is 0; expected"),
        ((1, 1, "best"), "policy 'best' is not one"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: tuple[int, int], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        forward_evaluations(*arguments)
