"""A placement of merged buffers is one of what they are made of."""

from __future__ import annotations

import random

from hypothesis import given, settings, strategies as st
from problems import problems

from byparts_memplan import Buffer, check
from byparts_memplan.placement.merge import merge
from byparts_memplan.placement.sections import Sections
from byparts_memplan.sweep import sweep

EXACT, ROUGH = (1.0, 1.0, 1, 1), (0.8, 0.8, 4, 3)


def taken_apart(problem: list[Buffer], merged: tuple[Buffer, ...], parts: object) -> list[int]:
    offsets = [b.pinned or 0 for b in problem]
    members = Sections(problem).index
    for at, some in zip(sweep(merged), parts, strict=True):  # type: ignore[call-overload]
        for i, above in some:
            offsets[members[i]] = at + above
    return offsets


@settings(max_examples=300, deadline=None)
@given(problems(pins=False), st.integers(0, 99), st.sampled_from([EXACT, ROUGH]))
def test_a_merged_placement_is_valid(
    problem: list[Buffer], seed: int, how: tuple[float, float, int, int]
) -> None:
    """With alignments and gaps, and where sizes and lives only nearly agree."""
    merged, parts = merge(Sections(problem), random.Random(seed), *how)

    check(problem, taken_apart(problem, merged, parts), 99_999)
    assert sorted(i for some in parts for i, _ in some) == [*range(len(Sections(problem).index))]


@settings(max_examples=200, deadline=None)
@given(problems(pins=False), st.integers(0, 99), st.sampled_from([EXACT, ROUGH]))
def test_some_merges_are_kept(
    problem: list[Buffer], seed: int, how: tuple[float, float, int, int]
) -> None:
    """Every second one is there again, perhaps in a larger one, and the placement is valid."""
    members, rng = Sections(problem), random.Random(seed)
    kept = [some for some in merge(members, rng, *how)[1] if len(some) > 1][::2]
    merged, parts = merge(members, rng, 0.5, 0.5, kept=kept)

    check(problem, taken_apart(problem, merged, parts), 99_999)
    together = [{i for i, _ in some} for some in parts]
    assert all(any({i for i, _ in some} <= found for found in together) for some in kept)
    assert sum(map(len, parts)) == len(members.index)


def test_a_rectangle_in_four_becomes_one() -> None:
    """Two stacks of one size follow each other."""
    problem = [Buffer(3, 0, 2), Buffer(5, 0, 2), Buffer(6, 2, 5), Buffer(2, 2, 5)]
    merged, parts = merge(Sections(problem), random.Random(0), *EXACT)

    assert merged == (Buffer(8, 0, 2),)
    assert len(parts[0]) == 4


def test_pinned_buffers_stay_alone() -> None:
    problem = [Buffer(4, 0, 2, pinned=8), Buffer(4, 0, 2), Buffer(4, 0, 2)]
    merged, _ = merge(Sections(problem), random.Random(0), *EXACT)

    assert sorted(b.size_bytes for b in merged) == [4, 8]
