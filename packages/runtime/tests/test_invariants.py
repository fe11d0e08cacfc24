"""What depends on the invariants of a loop alone is computed once, in no more memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from toy_backend import add, given, kernels, mul
from toy_loops import Repeat, Undo, built

from byparts_graph_ir import Graph, Input, Op, TensorType, Types
from byparts_runtime.building.invariants import invariant_values, smallest, split


class Ticking(Op):
    """x, and one more in `ticks`."""

    def infer(self, x: TensorType) -> Types:
        return (x,)


class Row(Op):
    """The first row of x, and one more in `ticks`."""

    def infer(self, x: TensorType) -> Types:
        return (TensorType(x.dtype, x.dims[1:]),)


ticks: list[str] = []
tick, row = Ticking(), Row()


@pytest.fixture(autouse=True)
def _no_ticks() -> Iterator[None]:
    yield
    ticks.clear()


@kernels.on(Ticking)
def _tick(op: Ticking, inputs: Any, outputs: Any) -> Any:
    def run() -> None:
        ticks.append("tick")
        np.copyto(outputs[0], inputs[0])

    return run


@kernels.on(Row)
def _row(op: Row, inputs: Any, outputs: Any) -> Any:
    def run() -> None:
        ticks.append("row")
        np.copyto(outputs[0], inputs[0][0])

    return run


def test_once_a_loop() -> None:
    """A row of w is taken once, what depends on the state in each round."""
    x, w = given("x", 2), given("w", 64, 2)
    body = Graph.of((x, w), (tick(add(x, row(w))),))
    program = built(Graph.of((x, w), (Repeat(body, 5)(x, w),)))
    for _ in range(2):
        (y,) = program(np.array([1, 2], "f4"), np.full((64, 2), 3, "f4"))
        assert y.tolist() == [16, 17]

    assert (ticks.count("row"), ticks.count("tick")) == (2, 10)


def test_never_in_a_loop_that_never_runs() -> None:
    """It might fail."""
    x, w = given("x", 2), given("w", 64, 2)
    body = Graph.of((x, w), (add(x, row(w)),))
    built(Graph.of((x, w), (Repeat(body, 0)(x, w),)))(np.zeros(2, "f4"), np.ones((64, 2), "f4"))

    assert ticks == []


def test_once_in_each_body_of_a_reversed_loop() -> None:
    """Forwards and backwards."""
    x, dx, w = (given(name, 2) for name in ("x", "dx", "w"))
    go = Input(TensorType("bool", ()), None, "go")
    body = Graph.of((x, w, go), (add(x, tick(w)),))
    back = Graph.of((dx, x, w, go), (mul(mul(dx, x), tick(w)),))
    undo = Undo(Graph.of((x, w, go), (tick(go),)), body, back)
    program = built(Graph.of((x, dx, w, go), (undo(x, dx, w, go),)))
    one = np.ones(2, "f4")

    assert program(one, one, one, np.bool_(True))[0].tolist() == [6, 6]
    assert ticks == ["tick"] * 3
    program(one, one, one, np.bool_(False))
    assert ticks == ["tick"] * 4  # the condition's


def test_of_a_loop_in_a_loop() -> None:
    """Once in each run of the inner loop."""
    x, w = given("x", 2), given("w", 64, 2)
    inner = Graph.of((x, w), (add(x, row(w)),))
    outer = Graph.of((x, w), (tick(Repeat(inner, 2)(x, w)),))
    (y,) = built(Graph.of((x, w), (Repeat(outer, 3)(x, w),)))(
        np.zeros(2, "f4"), np.ones((64, 2), "f4")
    )

    assert y.tolist() == [6, 6]
    assert ticks.count("row") == 3


def test_not_where_it_takes_more_memory() -> None:
    """A large value that is alive at no peak stays in the round; a small one is still taken out."""
    x, w = given("x", 2), given("w", 4096, 2)
    large = row(tick(w))  # 32 KB
    body = Graph.of((x, w), (add(add(x, row(w)), row(mul(w, w))),))
    again = Graph.of((x, w), (add(x, large),))

    def arena_bytes(body: Graph, times: int) -> int:
        program = built(Graph.of((x, w), (Repeat(body, times)(x, w),)))
        program(np.ones(2, "f4"), np.ones((4096, 2), "f4"))
        return program.plan.arena_bytes

    arena_bytes(body, 4)
    assert ticks == ["row", "row"]
    ticks.clear()
    arena_bytes(again, 4)
    assert sorted(ticks) == ["row", "tick"]


def test_what_is_taken_out() -> None:
    """The last values before a round needs them: neither views nor what only they need."""
    x, w, v = given("x", 2), given("w", 2), given("v", 2)
    inner = mul(w, v)
    outer = add(inner, w)
    body = Graph.of((x, w, v), (add(mul(x, outer), w),))

    assert invariant_values(body, 1) == [outer]
    once, rounds = split(body, 1, [outer])
    assert once == Graph.of((w, v), (outer,))
    assert [n.op for n in rounds.nodes] == [mul, add] and len(rounds.inputs) == 4
    assert smallest([inner, row(given("m", 9, 9))], 8) == [inner]
    assert smallest([inner], 7) == []
