"""Exact search: what it finds is valid, and what it proves is true; tried against all placements."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings, strategies as st

from byparts_memplan import Buffer, DoesNotFit, check, lower_bound, place
from byparts_memplan.effort import Effort
from byparts_memplan.placement.feasibility import Feasibility

ENOUGH = 10_000_000


@st.composite
def problems(draw: st.DrawFn, most: int = 6) -> tuple[Buffer, ...]:
    """Few buffers with alignments, gaps, and at most one pinned."""
    made = []
    for i in range(draw(st.integers(1, most))):
        born, life = draw(st.integers(0, 6)), draw(st.integers(1, 5))
        alignment = draw(st.sampled_from([1, 1, 1, 2, 4, 6]))
        gap = draw(st.integers(1, 9))
        gaps = ((born + gap, born + gap + 1),) if gap + 1 < life else ()
        pinned = alignment * draw(st.integers(0, 6)) if i == 0 and draw(st.booleans()) else None
        made.append(Buffer(draw(st.integers(1, 12)), born, born + life, alignment, pinned, gaps))
    return tuple(made)


def meet(a: Buffer, b: Buffer) -> bool:
    return any(max(s, t) < min(e, f) for s, e in a.lives for t, f in b.lives)


def least_arena(problem: tuple[Buffer, ...]) -> int:
    """In order of their offsets in the best placement, each can lie as low as it can."""
    pinned = [(b.pinned, b) for b in problem if b.pinned is not None]
    free = [b for b in problem if b.pinned is None]
    return min(lowest(pinned, order) for order in permutations(free))


def lowest(pinned: list[tuple[int, Buffer]], order: tuple[Buffer, ...]) -> int:
    there = list(pinned)
    for b in order:
        at = 0
        near = [(o, o + other.size_bytes) for o, other in there if meet(b, other)]
        while any(lower < at + b.size_bytes and at < upper for lower, upper in near):
            at += b.alignment
        there.append((at, b))
    return max(at + b.size_bytes for at, b in there)


@settings(max_examples=500, deadline=None)
@given(problems())
def test_the_smallest_arena_is_found_and_proved(problem: tuple[Buffer, ...]) -> None:
    made = place(problem)

    check(problem, made.offsets, made.arena_bytes)
    assert made.arena_bytes == made.lower_bound_bytes == least_arena(problem)


@settings(max_examples=500, deadline=None)
@given(problems(most=5), st.integers(-3, 3))
def test_whether_they_fit_is_decided_rightly(problem: tuple[Buffer, ...], more: int) -> None:
    """Just below the least arena they do not; and the reason given is one."""
    least = least_arena(problem)
    question = Feasibility(problem)
    answer = question.decide(least + more, Effort(ENOUGH))

    assert answer is (more >= 0)
    if answer:
        check(problem, question.offsets(), least + more)


@settings(max_examples=200, deadline=None)
@given(problems(most=5))
def test_a_refusal_is_proved_and_explained(problem: tuple[Buffer, ...]) -> None:
    capacity = least_arena(problem) - 1
    with pytest.raises(DoesNotFit, match=f"do not fit in {capacity} bytes") as caught:
        place(problem, capacity)

    subset = caught.value.subset
    assert caught.value.proved and caught.value.placement.lower_bound_bytes > capacity
    assert least_arena(tuple(problem[i] for i in subset)) > capacity
    for left_out in subset:
        rest = tuple(problem[i] for i in subset if i != left_out)
        assert not rest or least_arena(rest) <= capacity


def test_the_bound_is_raised_by_what_was_proved() -> None:
    """Lives interlock: more is needed than is ever alive."""
    ends = [(0, 2), (1, 3), (2, 4), (3, 5)]
    ring = (*(Buffer(1, born, dies) for born, dies in ends), Buffer(1, 0, 5, gaps=((1, 4),)))
    made = place(ring)

    assert lower_bound(ring) == 2
    assert (made.arena_bytes, made.lower_bound_bytes) == (3, 3)


def test_a_seed_is_an_answer() -> None:
    """The same one every time."""
    problem = tuple(Buffer(7 * i % 11 + 1, i % 9, i % 9 + i % 5 + 1) for i in range(40))

    assert place(problem, seed=3) == place(problem, seed=3)


def test_without_effort_the_best_comes_with_the_refusal() -> None:
    """Not proved, and said so."""
    problem = tuple(Buffer(7 * i % 11 + 1, i % 9, i % 9 + i % 5 + 1) for i in range(40))
    best = place(problem)
    with pytest.raises(DoesNotFit, match="no placement was found in time") as caught:
        place(problem, lower_bound(problem), effort=0)

    error = caught.value
    assert not error.proved and error.placement.lower_bound_bytes <= best.arena_bytes
    check(problem, error.placement.offsets, error.placement.arena_bytes)
