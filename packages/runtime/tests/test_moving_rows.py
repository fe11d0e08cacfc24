"""Slices and rows of a loop that kernels read and write where they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from toy_backend import add, f32, fail, given, mul, raising
from toy_loops import Rows, built
from toy_walk import both_ways as both_ways

from byparts_graph_ir import Graph, Value
from byparts_runtime import Program

ROWS = "byparts_runtime.building.loops._ROW_BYTES"
N = 16  # one row is 64 bytes


@pytest.fixture(autouse=True)
def _small_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ROWS, 64)


def program(outputs: Sequence[Value], *inputs: Value, rows: int, reverse: bool = False) -> Program:
    """A loop with this body over so many rows."""
    total, xs = given("total", N), given("xs", rows, N)
    loop = Rows(Graph.of(inputs, outputs), reverse)
    return built(Graph.of((total, xs), loop.outputs_of(total, xs)))


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("rows", [0, 1, 5])
def test_sums_of_rows(rows: int, reverse: bool) -> None:
    """Twice, with other numbers; each row is squared first, which the row of the result holds."""
    t, x = given("t", N), given("x", N)
    square = mul(x, x)
    run = program((add(t, square), square), t, x, rows=rows, reverse=reverse)
    for seed in range(3):
        xs = np.random.default_rng(seed).normal(size=(rows, N)).astype("f4")
        last, squares = run(np.zeros(N, "f4"), xs)
        np.testing.assert_array_equal(squares, xs * xs)
        np.testing.assert_allclose(last, (xs * xs).sum(0), rtol=1e-6)


def test_less_memory_is_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither room for a slice nor for a row of the result."""
    t, x = given("t", N), given("x", N)
    square = mul(x, x)
    found = []
    for least in (64, 1 << 30):
        monkeypatch.setattr(ROWS, least)
        found.append(program((add(t, square), square), t, x, rows=5).plan.arena_bytes)

    assert found[0] <= found[1] - f32(N).size_bytes


def test_a_slice_that_is_a_result_is_copied() -> None:
    """As it is, and as the new state."""
    t, x = given("t", N), given("x", N)
    xs = np.arange(5.0 * N, dtype="f4").reshape(5, N)
    start = np.zeros(N, "f4")

    last, rows = program((x, x), t, x, rows=5)(start, xs)
    np.testing.assert_array_equal(rows, xs)
    np.testing.assert_array_equal(last, xs[-1])
    _, before = program((add(t, x), t), t, x, rows=5)(start, xs)
    np.testing.assert_array_equal(before, np.cumsum(xs, 0) - xs)


def test_an_error_names_the_step() -> None:
    """As of a step that does not move."""
    t, x = given("t", N), given("x", N)
    run = program((add(t, fail(x)), x), t, x, rows=5)
    raising.append(ValueError("broken"))
    try:
        with pytest.raises(ValueError, match="broken") as caught:
            run(np.zeros(N, "f4"), np.zeros((5, N), "f4"))
    finally:
        raising.clear()

    notes = caught.value.__notes__  # type: ignore[attr-defined]
    assert notes[0].startswith("in step 1 of 2 on 'toy', fail: ")
    assert notes[1] == "in body of rows, round 1"
