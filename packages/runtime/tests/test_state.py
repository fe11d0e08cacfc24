"""Variables in programs: simultaneous updates, and what a failed or interrupted run leaves behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from operator import setitem
from threading import Thread
from typing import Any

import numpy as np
import pytest
from toy_backend import (
    add,
    build_by_hand,
    donating,
    f32,
    fail,
    given,
    graph_of,
    mul,
    notes,
    product,
    raising,
)

from byparts_graph_ir import Graph, GraphError, HostSpace, ShapeError
from byparts_runtime import Program, Store, Variable


@pytest.fixture(autouse=True, params=["copy", "auto", "auto, declined"])
def commit(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every claim holds for each way to commit; kernels raise only where a test asked for it."""
    way = request.param
    options.update(commit=way.split(",")[0], planner=donating if way == "auto" else None)
    raising.clear()
    yield
    raising.clear()


options: dict[str, Any] = {}  # of every program of the test


def build(graph: Graph, **more: Any) -> Program:
    return build_by_hand(graph, **{**options, **more})


def scalars(*values: float) -> tuple[Variable, ...]:
    store = Store()
    return tuple(store.create(n, np.float32(v)) for n, v in zip("ab", values, strict=False))


def read(*variables: Variable) -> list[float]:
    return [round(float(v.read()), 6) for v in variables]


def counter(*factors: float) -> tuple[Program, tuple[Variable, ...]]:
    """A program that adds 1 to two variables; the second new value passes through `fail`."""
    a, b, one = given("a"), given("b"), given("one")
    variables = scalars(10, 20)
    graph = graph_of([one, a, b], a, add(a, one), fail(add(b, one)))
    return build(graph, variables=variables, updates=variables), variables


def test_updates_are_simultaneous() -> None:
    """T1: loss = W0 W1, so dW0 = W1 and dW1 = W0, both of the old values: 1.7 and 2.8, not 2.83."""
    w0, w1 = given("a"), given("b")
    new0, new1 = add(w0, product(w1, -0.1)), add(w1, product(w0, -0.1))
    variables = scalars(2, 3)
    program = build(
        graph_of([w0, w1], mul(w0, w1), new0, new1), variables=variables, updates=variables
    )

    (loss,) = program()

    assert loss == 6
    assert read(*variables) == [1.7, 2.8]


def test_fetching_a_variable_gives_the_old_value() -> None:
    """And fetching its update gives the new one."""
    a, one = given("a"), given("one")
    new = add(a, one)
    (v,) = scalars(10)
    program = build(graph_of([one, a], a, new, new), variables=(v,), updates=(v,))

    assert [float(r) for r in program(1.0)] == [10, 11]
    assert read(v) == [11]


def test_variables_can_be_swapped() -> None:
    """New values that are old values of others are set aside before anything is written."""
    a, b = given("a"), given("b")
    variables = scalars(1, 2)
    program = build(graph_of([a, b], b, a), variables=variables, updates=variables)

    program()
    assert read(*variables) == [2, 1]
    program()
    assert read(*variables) == [1, 2]


def test_a_feed_or_a_constant_can_become_the_value() -> None:
    """Assignment; the variable need not be read."""
    x = given("x")
    (v,) = scalars(0)

    build(graph_of([x], x), updates=(v,))(7.0)
    assert read(v) == [7]
    build(graph_of([], product(given("x"), 5.0).node.inputs[1]), updates=(v,))()  # type: ignore[union-attr]
    assert read(v) == [5]


def test_programs_share_variables() -> None:
    """One writes, the other reads."""
    a, one = given("a"), given("one")
    (v,) = scalars(0)
    step = build(graph_of([one, a], add(a, one)), variables=(v,), updates=(v,))
    look = build(graph_of([a], mul(a, a)), variables=(v,))

    step(1.0)
    step(2.0)

    assert float(look()[0]) == 9


@pytest.mark.parametrize("error", [ZeroDivisionError("planted"), KeyboardInterrupt("planted")])
def test_a_failed_run_changes_nothing(error: BaseException) -> None:
    """An exception in the last kernel, after the first new value was computed."""
    program, variables = counter()
    program(1.0)
    raising.append(error)

    with pytest.raises(type(error), match="planted") as e:
        program(1.0)

    assert read(*variables) == [11, 21]
    assert "the variables are as they were before this run" in notes(e.value)
    raising.clear()
    program(1.0)
    assert read(*variables) == [12, 22]


def test_a_failure_in_the_middle_changes_nothing() -> None:
    """Steps before it have run, steps after it have not."""
    a, one = given("a"), given("one")
    (v,) = scalars(1)
    middle = fail(add(a, one))
    program = build(graph_of([one, a], add(middle, one)), variables=(v,), updates=(v,))
    raising.append(ValueError("planted"))

    with pytest.raises(ValueError, match="planted") as e:
        program(1.0)

    assert read(v) == [1]
    assert "in step 2 of 3" in notes(e.value)


@pytest.mark.parametrize("stop_at", [1, 2])
def test_an_interrupted_commit_is_finished(stop_at: int) -> None:
    """Ctrl-C at the first or the last copy: both variables have their new values, then it goes on."""
    options.update(commit="copy")
    program, variables = counter()
    calls = 0

    def interrupted(target: Any, key: Any, source: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == stop_at:
            raise KeyboardInterrupt("planted")
        setitem(target, key, source)

    program._machine.cycle().commit.assign = interrupted
    with pytest.raises(KeyboardInterrupt, match="planted"):
        program(1.0)

    assert read(*variables) == [11, 21]


def test_a_real_interrupt_never_splits_a_commit() -> None:
    """SIGINT from outside at random moments of a training loop: both counters stay equal."""
    program, (a, b) = counter()
    b.write(np.float32(10))
    interrupts = 0

    for i in range(30):
        killer = Thread(target=lambda i=i: _interrupt_after(0.0005 + 0.0001 * (i % 7)))
        try:
            killer.start()
            while True:
                program(1.0)
        except KeyboardInterrupt:
            interrupts += 1
        killer.join()
        assert float(a.read()) == float(b.read())

    assert interrupts == 30


def _interrupt_after(seconds: float) -> None:
    import time

    time.sleep(seconds)
    os.kill(os.getpid(), signal.SIGINT)


def test_readers_never_see_half_a_step() -> None:
    """One thread trains two variables that stay equal, another reads both in one program."""
    a, b, one = given("a"), given("b"), given("one")
    variables = scalars(0, 0)
    step = build(
        graph_of([one, a, b], add(a, one), add(b, one)), variables=variables, updates=variables
    )
    look = build(graph_of([a, b], a, b), variables=variables)
    trainer = Thread(target=lambda: [step(1.0) for _ in range(2000)])
    trainer.start()
    seen = [look() for _ in range(500)]
    trainer.join()

    assert all(x == y for x, y in seen)
    assert read(*variables) == [2000, 2000]


def test_variables_of_two_stores_work_together() -> None:
    """Their locks are taken in one order everywhere: programs in both directions do not wait forever."""
    x, y = Store().create("a", np.float32(0)), Store().create("b", np.float32(0))
    a, b, one = given("a"), given("b"), given("one")
    graph = graph_of([one, a, b], add(a, one), add(b, one))
    there = build(graph, variables=(x, y), updates=(x, y))
    back = build(graph, variables=(y, x), updates=(y, x))
    threads = [Thread(target=lambda p=p: [p(1.0) for _ in range(500)]) for p in (there, back)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()

    assert read(x, y) == [1000, 1000]


def test_bound_programs_update_variables() -> None:
    """The hot loop of training: refill, call."""
    a, one = given("a", 2), given("one", 2)
    v = Variable("a", f32(2))
    program = build(graph_of([one, a], add(a, one)), variables=(v,), updates=(v,))
    feed = np.array([1, 2], np.float32)
    bound = program.bind(feed)

    bound()
    feed[:] = 10
    bound()

    assert v.read().tolist() == [11, 12]


def test_variables_must_fit_the_graph() -> None:
    """Type of the old value, type of the new one, number, place, and one new value for each."""
    a, row = given("a"), given("a", 3)
    (v,) = scalars(0)
    far = HostSpace()
    far.name = "npu:0"

    with pytest.raises(
        ShapeError, match=r"Variable\('a', f32\[\]\) cannot be the input of type f32\[3\]"
    ):
        build(graph_of([row], row), variables=(v,))
    with pytest.raises(ShapeError, match=r"Variable\('a', f32\[\]\) cannot take .* type f32\[3\]"):
        build(graph_of([row], row), updates=(v,))
    with pytest.raises(GraphError, match="is updated twice in one step"):
        build(graph_of([a], a, a), updates=(v, v))
    with pytest.raises(GraphError, match="2 variables for a graph of 1 inputs"):
        build(graph_of([a], a), variables=(v, v))
    with pytest.raises(GraphError, match="2 updates for a graph of 1 outputs"):
        build(graph_of([a], a), updates=(v, v))
    with pytest.raises(GraphError, match="is in npu:0, the backends are in host"):
        build(graph_of([a], a), variables=(Variable("a", np.float32(0), space=far),))


def test_variables_give_their_shapes_to_the_graph() -> None:
    """A graph written for any n runs on the n of its variables."""
    a = given("a", "n")
    v = Variable("a", np.ones(3, np.float32))
    program = build(graph_of([a], add(a, a)), variables=(v,), updates=(v,))
    program()

    assert v.read().tolist() == [2, 2, 2]
