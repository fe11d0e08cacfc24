from collections.abc import Sequence
from itertools import combinations, permutations

import pytest
from hypothesis import assume, given, settings, strategies as st
from problems import problems

from byparts_memplan import Buffer, lower_bound, smallest_subset


def least(problem: Sequence[Buffer]) -> int:
    """The smallest arena; sorted by offset, a best placement is a lowest-fit one around the pins."""
    pins = [(b.pinned, b) for b in problem if b.pinned is not None]
    return min(
        max((at + b.size_bytes for at, b in _placed(pins, order)), default=0)
        for order in permutations([b for b in problem if b.pinned is None])
    )


def _placed(pins: list[tuple[int, Buffer]], order: tuple[Buffer, ...]) -> list[tuple[int, Buffer]]:
    placed = list(pins)
    for b in order:
        offset = 0
        while any(
            at < offset + b.size_bytes and offset < at + o.size_bytes and _meet(b, o)
            for at, o in placed
        ):
            offset += b.alignment
        placed.append((offset, b))
    return placed


def _meet(a: Buffer, b: Buffer) -> bool:
    return any(max(p[0], q[0]) < min(p[1], q[1]) for p in a.lives for q in b.lives)


def fits(buffers: tuple[Buffer, ...], capacity: int) -> bool:
    return least(buffers) <= capacity


def unsure(buffers: tuple[Buffer, ...], capacity: int) -> None:
    """Somebody who knows nothing."""


@settings(max_examples=150, deadline=None)
@given(problems(most=5), st.integers(1, 30))
def test_irreducible(problem: list[Buffer], less: int) -> None:
    """What is named does not fit; without any one of it, the rest does."""
    assume(all(b.pinned is None for b in problem) or sum(b.pinned is not None for b in problem) < 2)
    capacity = least(problem) - less
    assume(capacity >= 0)
    subset = smallest_subset(problem, capacity, decide=fits)

    named = [problem[i] for i in subset]
    assert named
    assert least(named) > capacity
    assert all(least([*named[:k], *named[k + 1 :]]) <= capacity for k in range(len(named)))


@settings(max_examples=50, deadline=None)
@given(problems(most=5, pins=False), st.integers(1, 30))
def test_of_few_buffers_it_is_the_smallest(problem: list[Buffer], less: int) -> None:
    """All smaller sets fit."""
    capacity = max(least(problem) - less, 0)
    subset = smallest_subset(problem, capacity, decide=fits)

    smaller = [some for k in range(len(subset)) for some in combinations(problem, k)]
    assert all(fits(some, capacity) for some in smaller)


@settings(max_examples=50, deadline=None)
@given(problems(most=5, pins=False))
def test_there_is_no_reason_where_all_fit(problem: list[Buffer]) -> None:
    """Nothing is named."""
    assert smallest_subset(problem, least(problem), decide=fits) == ()


def test_the_fewest_of_one_step() -> None:
    """Of two crowded steps, the one where two buffers are enough, not five; others are left out."""
    five = [Buffer(30, 0, 2) for _ in range(5)]
    two = [Buffer(60, 5, 7), Buffer(10, 5, 6), Buffer(60, 6, 9)]

    assert smallest_subset([*five, *two], 100) == (5, 7)


def test_one_that_is_too_large() -> None:
    """By itself, or by where it is pinned."""
    crowd = [Buffer(60, 0, 2), Buffer(60, 0, 2)]

    assert smallest_subset([*crowd, Buffer(101, 5, 6)], 100) == (2,)
    assert smallest_subset([*crowd, Buffer(1, 5, 6, pinned=100)], 100) == (2,)


def test_padding_counts() -> None:
    """Three times 10 bytes aligned to 16 end at 42; the other two are left out."""
    assert smallest_subset([Buffer(10, 0, 1, 16)] * 5, 41) == (0, 1, 2)


def test_gaps_count() -> None:
    """Two of 60 never meet; the third meets both, and one is enough."""
    problem = [Buffer(60, 0, 9, gaps=((3, 6),)), Buffer(60, 3, 6), Buffer(50, 2, 4)]

    assert len(smallest_subset(problem, 100, decide=fits)) == 2
    assert smallest_subset(problem[:2], 100, decide=fits) == ()


RING = [Buffer(1, 0, 5, gaps=((1, 4),)), *(Buffer(1, k - 1, k + 1) for k in range(1, 5))]


def test_lives_that_interlock() -> None:
    """Five in a ring, two alive at each step: two bytes are too few; bystanders are left out."""
    bystanders = [Buffer(1, 5, 7), Buffer(1, 6, 8)]

    assert lower_bound(RING) == 2
    assert smallest_subset([*bystanders, *RING], 2, decide=fits) == (2, 3, 4, 5, 6)
    assert smallest_subset([*bystanders, *RING[1:]], 2, decide=fits) == ()


def test_pins_that_leave_no_room() -> None:
    """Of 10 bytes 8 are free, but not 5 in one piece."""
    problem = [Buffer(1, 0, 3), Buffer(2, 0, 3, pinned=4), Buffer(5, 1, 2)]

    assert lower_bound(problem) == 8
    assert smallest_subset(problem, 10, decide=fits) == (1, 2)


def test_of_several_spaces_the_smallest() -> None:
    """A reason lies in one space."""
    three = [Buffer(40, 0, 2) for _ in range(3)]
    two = [Buffer(60, 0, 2, space="npu") for _ in range(2)]

    assert smallest_subset([*three, *two], 100) == (3, 4)
    assert smallest_subset([*three, two[0]], 100) == (0, 1, 2)


@pytest.mark.parametrize("effort", [0, 10, 10**6])
def test_without_effort_the_reason_is_only_larger(effort: int) -> None:
    """It still does not fit."""
    problem = [Buffer(10 + i, 0, 1, 16, pinned=None if i else 0) for i in range(30)]
    subset = smallest_subset(problem, 300, effort)

    assert lower_bound([problem[i] for i in subset]) > 300


def test_many_buffers() -> None:
    """20 000, of which 101 of those alive together are too much."""
    problem = [Buffer(64, i, i + 10_000, 64) for i in range(20_000)]

    assert len(smallest_subset(problem, 6400)) == 101
