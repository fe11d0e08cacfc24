"""Graphs in which a shape depends on data run in stages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from toy_backend import TOY, add, f32, fail, given, graph_of, mul, raising

from byparts_graph_ir import GraphError, Op, ShapeError, TensorType, Types
from byparts_runtime import Executor, Statistics, Variable, build
from byparts_runtime.run import staged


class Positive(Op):
    """The elements above 0; how many there are depends on data."""

    def infer(self, x: TensorType) -> Types:
        return (TensorType(x.dtype, (None,)),)

    def evaluate(self, x: Any) -> tuple[Any, ...]:
        return (x[x > 0],)


positive = Positive()


def executor() -> Executor:
    return Executor(backends=(TOY,), passes=(), planner=None, legalize=None)


def array(*numbers: float) -> Any:
    return np.array(numbers, "f4")


def test_a_stage_for_each_shape() -> None:
    """The second stage is kept by the shape that came out of the first."""
    x = given("x", "n")
    y = positive(mul(x, x))
    graph, run = graph_of([x], add(y, y), x), executor()

    assert [run(graph, array(1, 0, 2))[0].tolist() for _ in range(2)] == [[2, 8]] * 2
    assert run.statistics == Statistics(hits=3, misses=3)  # the graph, and two stages
    assert run(graph, array(0, 0, 0))[0].tolist() == []
    assert run(graph, array(3, 4, 0))[0].tolist() == [18, 32]
    assert run.statistics == Statistics(hits=8, misses=4)


def test_stages_are_made_once_for_equal_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The graph of a second stage is kept, as its program is."""
    made: list[int] = []

    def counted(*arguments: Any) -> Any:
        made.append(1)
        return with_inputs(*arguments)

    with_inputs = staged._with_inputs
    monkeypatch.setattr(staged, "_with_inputs", counted)
    x = given("x", "n")
    y = positive(mul(x, x))
    graph, run = graph_of([x], add(y, y)), executor()

    for numbers in ((1, 2), (2, 3), (1, 0), (4, 5)):
        run(graph, array(*numbers))

    assert len(made) == 2


def test_one_after_the_other() -> None:
    """A stage for each such op; what an early one makes, a late one reads."""
    x = given("x", "n")
    some = positive(x)
    more = positive(add(some, some))
    result = executor()(graph_of([x], mul(more, some), some), array(-1, 2, 3))

    assert [y.tolist() for y in result] == [[8, 18], [2, 3]]


def test_variables_are_written_by_the_last_stage() -> None:
    """A failure there leaves them as they were."""
    x, w = given("x", 3), given("w", 3)
    some, w_new = positive(mul(x, w)), add(w, x)
    graph = graph_of([x, w], fail(add(some, some)), w_new)
    w_variable, run = Variable("w", array(1, 1, 1)), executor()

    def call() -> Any:
        return run(graph, array(1, -2, 3), variables=(w_variable,), updates=(w_variable,))[0]

    assert call().tolist() == [2, 6]
    assert w_variable.read().tolist() == [2, -1, 4]
    raising.append(ValueError("broken"))
    try:
        with pytest.raises(ValueError, match="broken"):
            call()
    finally:
        raising.clear()
    assert w_variable.read().tolist() == [2, -1, 4]
    assert call().tolist() == [4, 4, 24]


def test_one_program_is_refused_with_the_way() -> None:
    """By `build`, and by the executor where it is asked for the program."""
    x = given("x", 3)
    graph = graph_of([x], positive(x))
    with pytest.raises(ShapeError, match=r"f32\[\?\] is not static .*; use Executor, which runs"):
        build(graph, backends=(TOY,))
    with pytest.raises(
        GraphError, match=r"positive gives f32\[\?\], a shape .*; call the executor"
    ):
        executor().program(graph, (f32(3),))
