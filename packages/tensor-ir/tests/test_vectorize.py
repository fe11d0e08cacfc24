"""Vectors are a program: printed, and interpreted as the loops that they come from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from byparts_tensor_ir.expression import const
from byparts_tensor_ir.guards import without_guards
from byparts_tensor_ir.interpret import interpret
from byparts_tensor_ir.lane_forms import LaneForms
from byparts_tensor_ir.lower import lower, placed_identities
from byparts_tensor_ir.schedule.schedule import Schedule
from byparts_tensor_ir.statement import For, Func, walk
from byparts_tensor_ir.tensor import compute, placeholder, reduce_axis, sum
from byparts_tensor_ir.vector import Rest, Vector, VectorLoop
from byparts_tensor_ir.vectorize import vectorized


def vectors_of(func: Func, vector_bytes: int = 16) -> Func:
    return vectorized(
        without_guards(placed_identities(func)), vector_bytes, LaneForms(vector_bytes).check
    )


def sum_of_rows(n: int) -> Func:
    x, k = placeholder((2, n), "x"), reduce_axis(n, "k")
    y = compute((2,), lambda i: sum(x[i, k], axis=k), "y")
    return Schedule(lower([x, y], "sums")).vectorize("y_k").func


def plus_one(n: int) -> Func:
    x = placeholder((n,), "x")
    y = compute((n,), lambda i: x[i] + 1.0, "y")
    return Schedule(lower([x, y], "plus_one")).vectorize("y_i").func


def test_few_rounds_are_vectors_the_last_of_which_has_fewer_lanes() -> None:
    lines = str(vectors_of(plus_one(6))).splitlines()

    assert lines[1:] == [
        "  vectors of y_i, 6 rounds:",
        "    for y_i_lane in 0 + range(4):  # lanes",
        "      y[y_i_lane] = x[y_i_lane] + 1.0",
        "    for y_i_lane in 4 + range(4):  # lanes, the first 2",
        "      y[y_i_lane] = x[y_i_lane] + 1.0",
    ]


def test_many_rounds_are_whole_vectors_and_a_rest() -> None:
    lines = str(vectors_of(plus_one(102))).splitlines()

    assert lines[1:] == [
        "  vectors of y_i, 102 rounds:",
        "    for y_i by 4:",
        "      for y_i_lane in y_i + range(4):  # lanes",
        "        y[y_i_lane] = x[y_i_lane] + 1.0",
        "    for the rest of y_i, n rounds:",
        "      for y_i_lane in y_i + range(4):  # lanes, the first n",
        "        y[y_i_lane] = x[y_i_lane] + 1.0",
    ]


def test_a_sum_over_lanes_has_partial_results_in_registers() -> None:
    text = str(vectors_of(sum_of_rows(7)))

    assert "acc0 = acc0 + select(lane mask(n), x[y_i, y_k_lane], 0.0)" in text
    assert "h1 = high(acc0)" in text and "y[y_i] sum= h0" in text


@pytest.mark.parametrize("n", [1, 3, 4, 7, 16, 37, 100])
def test_the_interpreter_runs_vectors_as_the_loops(n: int) -> None:
    """Sums of small integers are exact in any order."""
    x = np.random.default_rng(0).integers(-9, 9, (2, n)).astype(np.float32)
    expected, found = np.empty(2, np.float32), np.empty(2, np.float32)
    interpret(sum_of_rows(n), x, expected)

    interpret(vectors_of(sum_of_rows(n)), x, found)
    np.testing.assert_array_equal(found, expected)


def test_what_has_no_vector_form_is_a_serial_loop() -> None:
    """All lanes would store to one element."""
    x = placeholder((8,), "x")
    y = compute((8,), lambda i: x[i] + 1.0, "y")
    func = lower([x, y], "last")
    (loop,) = func.body
    assert isinstance(loop, For)
    inner = For(loop.var, loop.body, "vectorize")
    same = func.with_body([_storing_to_first(inner)])

    (made,) = vectors_of(same).body
    assert isinstance(made, For) and made.kind == "serial"


def _storing_to_first(loop: For) -> For:
    (store,) = loop.body
    changed: Any = replace(store, index=(const(0),))  # type: ignore[type-var]
    return For(loop.var, (changed,), loop.kind)


def test_walk_goes_into_vectors() -> None:
    kinds = {type(s) for s in walk(vectors_of(plus_one(102)).body)}

    assert {VectorLoop, Vector, Rest} <= kinds
