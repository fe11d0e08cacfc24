"""The tree over time and the lists of neighbours give the offsets that a look at all bytes gives."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st
from problems import alive, problems

from byparts_memplan import Buffer
from byparts_memplan.effort import Effort
from byparts_memplan.members import Members
from byparts_memplan.neighbours import Neighbours
from byparts_memplan.occupancy import Occupancy
from byparts_memplan.portfolio import greedy

ENOUGH = Effort(1e12)


def obvious(members: Sequence[Buffer], order: Sequence[int], tight: bool) -> list[int]:
    """Each in the lowest or the tightest gap between all that are alive together with it."""
    offsets: dict[int, int] = {}
    for i in order:
        b = members[i]
        near = [j for j in offsets if any(alive(members[j], t) and alive(b, t) for t in range(30))]
        taken = {x for j in near for x in range(offsets[j], offsets[j] + members[j].size_bytes)}
        end = max(taken, default=-1) + 1
        free = [x for x in range(end + b.alignment) if not x % b.alignment]
        free = [x for x in free if taken.isdisjoint(range(x, x + b.size_bytes))]
        gaps = {x: min([y for y in taken if y >= x], default=None) for x in free}
        inside = {x: y - x for x, y in gaps.items() if y is not None}
        lowest_of_gap = {x: g for x, g in inside.items() if _begins_a_gap(x, taken, b.alignment)}
        if tight and lowest_of_gap:
            offsets[i] = min(lowest_of_gap, key=lambda x: (lowest_of_gap[x], x))
        else:
            offsets[i] = free[0]
    return [offsets[i] for i in range(len(members))]


def _begins_a_gap(x: int, taken: set[int], alignment: int) -> bool:
    """Whether no lower aligned offset is in the same gap."""
    return x < alignment or not taken.isdisjoint(range(x - alignment, x))


@pytest.mark.parametrize("tight", [False, True])
@settings(max_examples=300, deadline=None)
@given(problems(most=25, pins=False), st.randoms(use_true_random=False))
def test_the_tree_finds_the_lowest_and_the_tightest_gap(
    tight: bool, problem: list[Buffer], rng: random.Random
) -> None:
    """In any order, with gaps and alignments."""
    found = Members(problem)
    order = rng.sample(range(len(found.members)), len(found.members))
    found.occupancy = Occupancy(found.members)

    expected = obvious(found.members, order, tight)
    assert greedy(found, order, {}, 10**9, ENOUGH, tight) == expected


@pytest.mark.parametrize("tight", [False, True])
@settings(max_examples=300, deadline=None)
@given(problems(most=25, pins=False), st.randoms(use_true_random=False))
def test_neighbours_find_the_lowest_and_the_tightest_gap(
    tight: bool, problem: list[Buffer], rng: random.Random
) -> None:
    """In any order, with alignments; they are for buffers without gaps."""
    found = Members([replace(b, gaps=()) for b in problem])
    order = rng.sample(range(len(found.members)), len(found.members))

    expected = obvious(found.members, order, tight)
    assert greedy(found, order, {}, 10**9, ENOUGH, tight) == expected


@settings(max_examples=100, deadline=None)
@given(problems(most=25), st.randoms(use_true_random=False))
def test_an_order_leaves_no_bytes_taken_for_the_next_one(
    problem: list[Buffer], rng: random.Random
) -> None:
    """Pinned buffers included."""
    found = Members(problem)
    order = rng.sample(range(len(found.members)), len(found.members))
    fixed = {i: b.pinned for i, b in enumerate(found.members) if b.pinned is not None}
    first = greedy(found, order, fixed, 10**9, ENOUGH)

    greedy(found, order[::-1], {}, 10**9, ENOUGH, tight=True)
    assert greedy(found, order, fixed, 10**9, ENOUGH) == first


def test_neighbours_are_for_few_buffers_alive_together() -> None:
    """The tree is for many of them, and for gaps."""
    assert isinstance(Members([Buffer(1, 0, 9)] * 100).occupancy, Neighbours)
    assert isinstance(Members([Buffer(1, 0, 9)] * 200).occupancy, Occupancy)
    assert isinstance(Members([Buffer(1, 0, 9, gaps=((2, 4),))]).occupancy, Occupancy)


def test_it_goes_around_what_is_fixed() -> None:
    """Wherever that stands in the order."""
    found = Members((Buffer(4, 0, 9), Buffer(4, 2, 5), Buffer(3, 1, 2)))

    assert found.index == [0, 2, 1]
    assert greedy(found, [2, 0, 1], {0: 3}, 100, ENOUGH) == [3, 0, 7]


def test_it_gives_up_at_the_arena_that_is_known() -> None:
    """Or when its effort is spent."""
    found = Members((Buffer(4, 0, 2), Buffer(4, 1, 3)))

    assert greedy(found, [0, 1], {}, 8, ENOUGH) is None
    assert greedy(found, [0, 1], {}, 9, Effort(1)) is None
    assert greedy(found, [0, 1], {}, 9, ENOUGH) == [0, 4]
