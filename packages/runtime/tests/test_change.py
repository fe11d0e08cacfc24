"""A program that starts on quick kernels and changes at a fixed call to those of a compiler."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Event, Thread, Timer
from typing import Any

import numpy as np
import pytest
from processes import forked, needs_fork
from toy_backend import TOY, Add, add, build_by_hand, donating, given, graph_of, mul, product

from byparts_graph_ir import ArgumentError, Backend, Graph, GraphError, Kernel, Table
from byparts_runtime import Executor, Program, Variable
from byparts_runtime.run import change

ONES = np.ones(3, np.float32)


class Compiler:
    """A backend that compiles: it adds 100 more, so that results tell whose kernels ran.

    Args:
        wait: called by each compilation: what makes it slow, or fail.
    """

    def __init__(self, wait: Callable[[], object]) -> None:
        self.started = 0
        self._wait = wait
        self.backend = Backend("compiled", TOY.view, Table("kernel"), slow_to_build=True)
        self.backend.kernels.compiles(Add)(self._rule)

    def _rule(self, op: Any, types: Any, constants: Any) -> Kernel:
        self.started += 1
        self._wait()
        return Kernel(self._bind, inplace=((0, 0),), atomic=True)

    def _bind(self, inputs: Any, outputs: Any, *_: Any) -> Any:
        return partial(_add_100, *inputs, *outputs)


def _add_100(x: Any, y: Any, out: Any) -> None:
    np.add(x, y, out=out)
    out += 100


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler starts at call 2, and the program changes at call 4."""
    monkeypatch.setattr(change, "_COMPILER_S", 0.0)
    monkeypatch.setattr(change, "_COMPILER_S_PER_NODE", 0.0)


def _nothing() -> None:
    """A compiler that takes no time."""


def _counter(compiler: Compiler, **options: Any) -> tuple[Program, Variable]:
    """Adds its feed to a variable; gives the old value."""
    old, x = given("old", 3), given("x", 3)
    variable = Variable("old", np.zeros(3, np.float32))
    program = build_by_hand(
        graph_of([x, old], old, add(old, x)),
        backends=(compiler.backend, TOY),
        variables=[variable],
        updates=[variable],
        **{"wait": False, **options},
    )
    return program, variable


def _values(program: Program, calls: int) -> list[float]:
    return [float(program(ONES)[0][0]) for _ in range(calls)]


@pytest.mark.parametrize("options", [{}, {"planner": donating}], ids=["copied", "in place"])
def test_the_change_is_at_the_same_call_whatever_the_compiler_takes(
    options: dict[str, Any],
) -> None:
    """No update is lost and none is done twice."""
    expected = [0.0, 1.0, 2.0, 3.0, 104.0, 205.0]
    slow = Event()
    timer = Timer(0.2, slow.set)
    timer.start()

    assert _values(_counter(Compiler(_nothing), **options)[0], 6) == expected
    assert _values(_counter(Compiler(slow.wait), **options)[0], 6) == expected
    timer.join()


def test_a_change_while_calls_go_on() -> None:
    """The calls before the change do not wait for the compiler, which runs beside them."""
    go = Event()
    program, _ = _counter(Compiler(go.wait))

    assert _values(program, 3) == [0, 1, 2]
    assert (
        "call 4 (from call 2 on it is compiled); 3 calls so far, being compiled"
        in program.explain(width=200)
    )
    go.set()
    assert _values(program, 2) == [3, 104]
    assert {step.backend for step in program.steps} == {"compiled"}
    assert "kernels    changed to 'compiled'" in program.explain(width=200)


@pytest.mark.parametrize("calls", [0, 1])
def test_what_is_called_once_starts_no_compiler(calls: int) -> None:
    compiler = Compiler(_nothing)
    program, _ = _counter(compiler)
    _values(program, calls)

    assert compiler.started == 0
    assert f"{calls} calls so far, not compiled" in str(program.change)


def test_it_compiles_once() -> None:
    compiler = Compiler(_nothing)
    _values(_counter(compiler)[0], 9)

    assert compiler.started == 1


def test_waiting_compiles_first() -> None:
    program, _ = _counter(Compiler(_nothing), wait=True)

    assert _values(program, 3) == [0, 101, 202]
    assert program.change is None


def test_what_is_to_be_captured_is_compiled_first() -> None:
    """The first kernels may not do it, so nothing changes."""
    compiler = Compiler(_nothing)
    with pytest.raises(GraphError, match="backend 'compiled' cannot record"):
        _counter(compiler, capture=True)

    assert compiler.started == 1


def test_a_compiler_that_fails_leaves_the_first_kernels() -> None:
    def fail() -> None:
        raise OSError("no space left")

    program, variable = _counter(Compiler(fail))
    _values(program, 3)
    with pytest.warns(RuntimeWarning, match="going on without 'compiled': no space left"):
        assert program(ONES)[0][0] == 3

    assert _values(program, 2) == [4, 5]
    assert variable.read()[0] == 6
    assert "kernels    the first ones, without 'compiled': no space left" in program.explain(
        width=200
    )


def test_binding_changes_now() -> None:
    """Who binds calls often; the program itself goes on with the same kernels."""
    compiler = Compiler(_nothing)
    program, _ = _counter(compiler)
    bound = program.bind(ONES.copy())

    assert [float(bound()[0][0]) for _ in range(2)] == [0, 101]
    assert _values(program, 1) == [202]
    assert compiler.started == 1


def test_an_op_that_only_the_compiler_has_is_waited_for() -> None:
    compiler = Compiler(_nothing)
    x = given("x", 3)
    only = Backend("other", TOY.view, Table("kernel"))
    program = build_by_hand(graph_of([x], add(x, x)), backends=(compiler.backend, only), wait=False)

    assert program(ONES)[0].tolist() == [102] * 3
    assert program.change is None


def test_programs_of_an_executor_count_for_themselves() -> None:
    compiler = Compiler(_nothing)
    options: dict[str, Any] = {"passes": (), "planner": None, "legalize": None, "order": None}
    run = Executor(backends=(compiler.backend, TOY), wait=False, **options)
    x = given("x", 3)
    often, once = graph_of([x], add(x, x)), graph_of([x], mul(add(x, x), x))

    results = [run(often, ONES)[0][0] for _ in range(5)]
    assert results == [2, 2, 2, 102, 102]
    assert run(once, ONES)[0][0] == 2
    assert compiler.started == 1


def test_a_larger_program_may_come_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """The arena of an executor moves while another program waits for its code."""
    go = Event()
    compiler = Compiler(go.wait)
    options: dict[str, Any] = {"passes": (), "planner": None, "legalize": None, "order": None}
    run = Executor(backends=(compiler.backend, TOY), wait=False, **options)
    x, wide = given("x", 3), given("wide", 3000)
    small, large = graph_of([x], add(x, x)), graph_of([wide], product(wide, 2.0, 3.0))

    assert [run(small, ONES)[0][0] for _ in range(3)] == [2, 2, 2]
    assert run(large, np.ones(3000, np.float32))[0][2999] == 6
    go.set()
    assert [run(small, ONES)[0][0] for _ in range(2)] == [102, 102]


@needs_fork
def test_a_forked_child_compiles_for_itself() -> None:
    """A fork has not the thread that compiles, and makes the change at the same call."""
    compiler = Compiler(_nothing)
    program, _ = _counter(compiler)
    assert _values(program, 3) == [0, 1, 2]

    assert forked(lambda: _values(program, 2)) == [[3, 104]]
    assert _values(program, 2) == [3, 104]


def test_threads_change_it_once() -> None:
    compiler = Compiler(_nothing)
    program, variable = _counter(compiler)
    threads = [Thread(target=partial(_values, program, 5)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    value = float(variable.read()[0])  # 20 calls, of which those after the change add 101
    assert compiler.started == 1
    assert value % 100 == 20
    assert program.change is not None and program.change.compilation.calls >= 4


def test_the_decision_is_a_function_of_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """More work a call, fewer calls."""
    monkeypatch.undo()
    x, wide = given("x", 3), given("wide", 1_000_000)
    small = _change(graph_of([x], add(x, x)))
    large = _change(graph_of([wide], add(wide, wide)))

    assert small == _change(graph_of([x], add(x, x)))
    assert 2 < large[0] < small[0]
    assert [2 * starts for starts, _ in (small, large)] == [at for _, at in (small, large)]


def _change(graph: Graph) -> tuple[int, int]:
    program = build_by_hand(graph, backends=(Compiler(_nothing).backend, TOY), wait=False)
    assert program.change is not None
    return program.change.compilation.starts_at, program.change.compilation.changes_at


def test_wait_is_a_truth_value() -> None:
    x = given("x", 3)
    with pytest.raises(ArgumentError, match="wait='no': give True or False"):
        build_by_hand(graph_of([x], add(x, x)), wait="no")
