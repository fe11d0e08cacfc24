"""Ops that say how their bodies run, without any op set."""

from __future__ import annotations

import numpy as np
import pytest
from toy_backend import add, f32, fail, given, mul, raising, unknown
from toy_loops import Choose, Repeat, Rows, Undo, built
from toy_walk import both_ways as both_ways

from byparts_graph_ir import Graph, Input, MissingRule, TensorType


def doubling(times: int) -> Graph:
    """x + w, so many times."""
    x, w = given("x", 2), given("w", 2)
    return Graph.of((x, w), (Repeat(Graph.of((x, w), (add(x, w),)), times)(x, w),))


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("planner", ["auto", None])
@pytest.mark.parametrize("times", [0, 1, 10])
def test_so_many_rounds(times: int, planner: str | None) -> None:
    """With a planner and without; twice, for the first run leaves nothing behind."""
    program = built(doubling(times), planner=planner)
    for _ in range(2):
        (y,) = program(np.float32([1, 2]), np.float32([3, 4]))  # type: ignore[arg-type]
        assert y.tolist() == [1 + 3 * times, 2 + 4 * times]


@pytest.mark.usefixtures("both_ways")
def test_a_swap_and_a_passed_state() -> None:
    """(a, b, c) -> (b, a, c): all are read before one is written."""
    a, b, c = (given(name, 2) for name in "abc")
    swap = Repeat(Graph.of((a, b, c), (b, a, c)), 3)
    x, y, z = built(Graph.of((a, b, c), swap.outputs_of(a, b, c)))(
        *(np.float32([i, i]) for i in range(3))  # type: ignore[arg-type]
    )

    assert (x[0], y[0], z[0]) == (1, 0, 2)


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("reverse", [False, True])
def test_slices_and_rows(reverse: bool) -> None:
    """Rows stand where their slices do."""
    t, x = given("t", 2), given("x", 2)
    new = add(t, x)
    total, xs = given("total", 2), given("xs", 3, 2)
    rows = Rows(Graph.of((t, x), (new, new)), reverse)
    program = built(Graph.of((total, xs), rows.outputs_of(total, xs)))

    last, sums = program(np.float32([0, 0]), np.float32([[1, 2], [3, 4], [5, 6]]))  # type: ignore[arg-type]

    assert last.tolist() == [9, 12]
    want = [[9, 12], [8, 10], [5, 6]] if reverse else [[1, 2], [4, 6], [9, 12]]
    assert sums.tolist() == want


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("which", [False, True])
def test_one_branch_runs(which: bool) -> None:
    """The other could fail."""
    c, x = Input(TensorType("bool", ()), None, "c"), given("x", 2)
    good, bad = Graph.of((x,), (mul(x, x),)), Graph.of((x,), (fail(x),))
    choose = Choose(good, bad) if not which else Choose(bad, good)
    raising.append(ValueError("the other branch"))
    try:
        (y,) = built(Graph.of((c, x), (choose(c, x),)))(np.bool_(which), np.float32([2, 3]))  # type: ignore[arg-type]
    finally:
        raising.clear()

    assert y.tolist() == [4, 9]


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("planner", ["auto", None])
def test_states_are_read_backwards(planner: str | None) -> None:
    """x is doubled three times: 1, 2, 4; then dx is multiplied by 4, 2, 1 and each time by w."""
    x, dx, w = (given(name, 2) for name in ("x", "dx", "w"))
    go = Input(TensorType("bool", ()), None, "go")
    body = Graph.of((x, w, go), (add(x, x),))
    back = Graph.of((dx, x, w, go), (mul(mul(dx, x), w),))
    undo = Undo(Graph.of((x, w, go), (go,)), body, back)
    program = built(Graph.of((x, dx, w, go), (undo(x, dx, w, go),)), planner=planner)
    one, two = np.array([1, 2], "f4"), np.array([1, 3], "f4")
    for rounds in (True, False, True):
        (y,) = program(one, two, two, np.bool_(rounds))
        assert y.tolist() == ([8, 3 * 64 * 27] if rounds else [1, 3])


def test_an_error_names_the_round_and_the_step() -> None:
    """Innermost first."""
    x = given("x", 2)
    body = Graph.of((x,), (fail(add(x, x)),))
    program = built(Graph.of((x,), (Repeat(body, 3)(x),)))
    raising.append(ValueError("broken"))
    try:
        with pytest.raises(ValueError, match="broken") as caught:
            program(np.float32([1, 2]))  # type: ignore[arg-type]
    finally:
        raising.clear()

    notes = caught.value.__notes__  # type: ignore[attr-defined]
    assert notes[0].startswith("in step 2 of 2 on 'toy', fail: (f32[2]) -> (f32[2])")
    assert notes[1] == "in body of repeat, round 1"
    assert notes[2].startswith("in step 1 of 1 on 'runtime', repeat: ")


def test_a_kernel_that_is_missing_names_the_body() -> None:
    """Before anything runs."""
    x = given("x", 2)
    with pytest.raises(MissingRule, match="no kernel for Unknown") as caught:
        built(Graph.of((x,), (Repeat(Graph.of((x,), (unknown(x),)), 3)(x),)))

    assert "in body of repeat" in caught.value.__notes__  # type: ignore[attr-defined]


@pytest.mark.usefixtures("both_ways")
def test_a_body_is_planned_within_the_program() -> None:
    """Its values are a workspace of the step, also of a loop in a loop."""
    x, w = given("x", 256), given("w", 256)
    inner = Graph.of((x, w), (add(mul(x, w), mul(w, w)),))
    outer = Graph.of((x, w), (Repeat(inner, 2)(x, w),))
    program = built(Graph.of((x, w), (Repeat(outer, 3)(x, w),)))

    (y,) = program(np.full(256, 1, "f4"), np.full(256, 2, "f4"))

    assert y[0] == 1 * 2**6 + 4 * (2**6 - 1)
    assert "workspace" in program.explain()
    assert program.plan.arena_bytes <= 8 * f32(256).size_bytes
