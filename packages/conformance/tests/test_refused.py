"""Indices out of range: which feeds of programs get them, and what a run must say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_conformance.programs import Program, generate, trial
from byparts_conformance.programs.refused import index_feeds, refused_feeds, shuffled, unrefused
from byparts_graph_ir import Graph, GraphError, Input, TensorType

X, AT = Input(TensorType("f32", (3, 2)), None, "x"), Input(TensorType("i64", (2,)), None, "at")
ARRAYS = (np.ones((3, 2), np.float32), np.array([2, 0]))
GATHER = Program(Graph.of([X, AT], [ops.gather(X, AT)]), ARRAYS)
SAID = "gather: index 1073741824 at [1] is out of range for axis 0 of size 3"


def test_a_feed_of_indices_is_refused_with_its_sentence() -> None:
    """The second feed, of which one index is far too large."""
    ((feeds, said),) = refused_feeds(GATHER)

    assert list(index_feeds(GATHER)) == [1] and said == SAID
    assert np.sum(feeds[1] != ARRAYS[1]) == 1 and feeds[0] is ARRAYS[0]


def test_indices_that_nobody_fetches_or_that_are_computed_are_left_alone() -> None:
    inner = Graph.of([X, AT], [ops.neg(ops.gather(X, AT))])
    computed = Graph.of([X, AT], [ops.gather(X, ops.mod(AT, 3))])

    assert not list(refused_feeds(Program(inner, ARRAYS)))
    assert not list(refused_feeds(Program(computed, ARRAYS)))


def test_other_indices_are_the_same_ones_in_another_order() -> None:
    moved = shuffled(GATHER, 5)

    assert list(moved) == [1] and sorted(moved[1]) == [0, 2]


def _raises(error: Exception) -> Any:
    def run(*feeds: object) -> None:
        raise error

    return run


@pytest.mark.parametrize(
    ("built", "wrong"),
    [
        (_raises(GraphError(SAID)), ""),
        (lambda *feeds: feeds, "not refused"),
        (_raises(IndexError(SAID)), "refused by IndexError"),
        (_raises(GraphError("no")), "refused by GraphError: 'no'"),
    ],
)
def test_a_run_must_give_the_sentence(built: Any, wrong: str) -> None:
    assert unrefused(built, ARRAYS, SAID).startswith(wrong)
    assert bool(unrefused(built, ARRAYS, SAID)) == bool(wrong)


def test_some_programs_have_indices_to_refuse() -> None:
    """Five of a hundred of the theme `indices`, and they are right on NumPy."""
    some = [p for s in range(100) if list(refused_feeds(p := generate(s, theme="indices")))]

    assert len(some) >= 5
    assert not trial(some[0], backends=("numpy",))
