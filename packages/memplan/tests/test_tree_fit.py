"""The tree over time gives the same spans as looking at all neighbours."""

from __future__ import annotations

import random

from hypothesis import given, settings, strategies as st
from problems import problems

from byparts_memplan import Buffer
from byparts_memplan.crowd import Crowd
from byparts_memplan.effort import Effort
from byparts_memplan.portfolio import lowest_gaps
from byparts_memplan.tree_fit import tree_gaps

ENOUGH = Effort(1e12)


@settings(max_examples=300, deadline=None)
@given(problems(most=25, pins=False), st.randoms(use_true_random=False))
def test_it_is_first_fit(problem: list[Buffer], rng: random.Random) -> None:
    """In any order, with gaps and alignments."""
    crowd = Crowd(problem)
    order = rng.sample(range(len(crowd.members)), len(crowd.members))

    assert tree_gaps(crowd, order, {}, 10**9, ENOUGH) == lowest_gaps(
        crowd, order, {}, 10**9, ENOUGH
    )


def test_it_goes_around_what_is_fixed() -> None:
    """Wherever that stands in the order."""
    crowd = Crowd((Buffer(4, 0, 9), Buffer(4, 2, 5), Buffer(3, 1, 2)))
    spans = tree_gaps(crowd, [2, 0, 1], {0: 3}, 100, ENOUGH)

    assert crowd.index == [0, 2, 1]
    assert spans == [(3, 7), (0, 3), (7, 11)]
    assert spans == lowest_gaps(crowd, [2, 0, 1], {0: 3}, 100, ENOUGH)


def test_it_gives_up_at_the_arena_that_is_known() -> None:
    """Or when its effort is spent."""
    crowd = Crowd((Buffer(4, 0, 2), Buffer(4, 1, 3)))

    assert tree_gaps(crowd, [0, 1], {}, 8, ENOUGH) is None
    assert tree_gaps(crowd, [0, 1], {}, 9, Effort(1)) is None
    assert tree_gaps(crowd, [0, 1], {}, 9, ENOUGH) == [(0, 4), (4, 8)]
