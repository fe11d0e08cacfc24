"""Which buffers must be placed, and how full the steps of their lives are."""

from __future__ import annotations

from hypothesis import given, settings
from problems import alive, problems

from byparts_memplan import Buffer, check
from byparts_memplan.members import Members
from byparts_memplan.sweep import sweep


@settings(max_examples=200, deadline=None)
@given(problems())
def test_load_is_the_fullest_step_of_a_life(problem: list[Buffer]) -> None:
    """Gaps left out."""
    found = Members(problem)
    sums = [sum(b.size_bytes for b in problem if alive(b, t)) for t in range(30)]

    assert found.load == [
        max(total for t, total in enumerate(sums) if alive(b, t)) for b in found.members
    ]


@settings(max_examples=200, deadline=None)
@given(problems())
def test_members_are_those_that_take_up_bytes(problem: list[Buffer]) -> None:
    """In order of birth; pinned ones lead every order of all of them."""
    found = Members(problem)
    real = [
        i for i, b in enumerate(problem) if b.size_bytes and any(alive(b, t) for t in range(30))
    ]

    assert sorted(found.index) == real
    assert [b.lives[0][0] for b in found.members] == sorted(b.lives[0][0] for b in found.members)
    for _, order in found.orders():
        pinned = [found.members[i].pinned is not None for i in order]
        assert sorted(order) == list(range(len(real))) and pinned == sorted(pinned, reverse=True)


@settings(max_examples=200, deadline=None)
@given(problems(pins=False, spaces=["", "npu"]))
def test_sweep_is_valid_with_gaps(problem: list[Buffer]) -> None:
    """It leaves them empty."""
    check(problem, sweep(problem), 99_999)
