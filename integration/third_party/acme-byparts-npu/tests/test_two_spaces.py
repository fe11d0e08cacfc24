"""Half of a program on NumPy, half on the device: values cross both ways, variables on both sides."""

from __future__ import annotations

import os
import signal
from threading import Timer
from typing import Any

import numpy as np
import pytest
from acme_byparts_npu.backend import make
from acme_byparts_npu.driver import NpuError, NpuLost
from acme_byparts_npu.ops import Delay

import byparts_opset as ops
from byparts_graph_ir import Backend, Copy, Graph, Input, TensorType
from byparts_graph_ir.parts.hub import parts
from byparts_runtime import Program, Store, Variable, build

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs signals")
ONE = np.ones((2, 2), "float32")


@pytest.fixture
def npu() -> Backend:
    """A device of its own."""
    return make()


def step(npu: Backend, seconds: float, **options: Any) -> tuple[Program, Variable, Variable]:
    """The device has no sigmoid: h (host) grows by sigmoid(w + x), w (device) by what is late of it.

    The device is first, so what it has runs there.
    """
    h, w = Store().create("h", ONE), Store(npu.space).create("w", 0 * ONE)
    x, old_h, old_w = (Input(TensorType("f32", (2, 2)), None, n) for n in ("x", "h", "w"))
    hidden = ops.sigmoid(old_w + x)
    late = Delay(seconds)(hidden)
    graph = Graph.of([x, old_h, old_w], [ops.sum(late), ops.softmax(old_h + late), old_w + late])
    program = build(
        graph,
        backends=(npu, "numpy"),
        variables=(h, w),
        updates=(h, w),
        legalize=None,
        **options,
    )
    return program, h, w


def expected(rounds: int) -> tuple[Any, Any, Any]:
    """The last fetch, h and w after so many steps on ones, as NumPy computes them."""
    h, w, total = np.float64(ONE), np.zeros((2, 2)), 0.0
    for _ in range(rounds):
        late = 1 / (1 + np.exp(-(w + 1)))
        total, e = late.sum(), np.exp(h + late)
        h, w = e / e.sum(-1, keepdims=True), w + late
    return total, h, w


def assert_is(program: Program, h: Variable, w: Variable, rounds: int) -> None:
    _, want_h, want_w = expected(rounds)
    np.testing.assert_allclose(h.read(), want_h, rtol=1e-5)
    np.testing.assert_allclose(w.read(), want_w, rtol=1e-5)


@pytest.mark.parametrize("commit", ["auto", "copy"])
def test_values_cross_both_ways(npu: Backend, commit: str) -> None:
    program, h, w = step(npu, 0.0, commit=commit)

    for rounds in (1, 2, 3):
        (total,) = program(ONE)
        np.testing.assert_allclose(total, expected(rounds)[0], rtol=1e-5)
        assert_is(program, h, w, rounds)
    assert {s.backend for s in program.steps} == {"npu", "numpy", "runtime"}
    to = {n.op.space for n in program.graph.nodes if isinstance(n.op, Copy)}
    assert to == {"npu:0", "host"}
    assert set(program.plan.arenas) == {"npu:0", "host"}  # type: ignore[attr-defined]


def test_the_plan_passes_the_checker(npu: Backend) -> None:
    memplan = pytest.importorskip("byparts_memplan", reason="needs byparts-memplan")
    program, _, _ = step(npu, 0.0)

    memplan.check_plan(program.graph, program.plan, kernels=program.kernels)


def test_a_failure_of_the_device_leaves_both_sides(npu: Backend) -> None:
    """It is told when the host waits: the variable of the host has not changed then either."""
    program, h, w = step(npu, -1.0)

    with pytest.raises(NpuError, match="sleep length must be non-negative") as raised:
        program(ONE)

    assert_is(program, h, w, 0)
    said = "".join(getattr(raised.value, "__notes__", raised.value.args))
    assert "the variables are as they were before this run" in said


def test_the_device_is_killed(npu: Backend) -> None:
    """The next run starts it again."""
    program, h, w = step(npu, 0.5)
    program(ONE)
    device: Any = npu.space
    timer = Timer(0.2, lambda: os.kill(device.driver.pid, signal.SIGKILL))
    timer.start()

    with pytest.raises(NpuLost, match="killed by signal 9 while it computed delay"):
        program(ONE)
    timer.join()

    assert_is(program, h, w, 1)
    program(ONE)
    assert_is(program, h, w, 2)


def test_ctrl_c_while_the_device_computes(npu: Backend) -> None:
    program, h, w = step(npu, 60.0)
    timer = Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()

    with pytest.raises(KeyboardInterrupt):
        program(ONE)
    timer.join()

    space: Any = npu.space
    assert space.driver.pid is None
    assert_is(program, h, w, 0)


@pytest.mark.parametrize("first", ["npu", "numpy"])
def test_a_loop_on_the_device(npu: Backend, first: str) -> None:
    """Only the device has `delay`, so the loop runs there; the host asks it before each round."""
    x = Input(TensorType("f32", (2, 2)), None, "x")
    (late,) = ops.while_loop(
        lambda x: ops.sum(x) < 100.0, lambda x: Delay(0.0)(x) + ops.tanh(x), (x,)
    )
    backends = (npu, "numpy") if first == "npu" else ("numpy", npu)
    program = build(Graph.of([x], [ops.softmax(late)]), backends=backends, legalize=None)
    loop = next(node for node in program.graph.nodes if node.op.name == "while")

    y, rounds = ONE, 0
    while y.sum() < 100:
        y, rounds = y + np.tanh(y), rounds + 1
    np.testing.assert_allclose(program(ONE)[0], np.full((2, 2), 0.5), rtol=1e-6)
    assert program.kernels(loop).backend.space.name == "npu:0"
    (profiles,) = [of_step for of_step in program.profile(ONE, runs=1).bodies if of_step]
    assert [(b.name, b.rounds) for b in profiles] == [
        ("body of while", rounds),
        ("cond of while", rounds + 1),
    ]


def test_rows_on_the_device(npu: Backend) -> None:
    """A scan whose slices and rows are in the memory of the device."""
    h = Input(TensorType("f32", (2, 2)), None, "h")
    xs = Input(TensorType("f32", (3, 2, 2)), None, "xs")
    last, states = ops.scan(lambda h, x: (h + Delay(0.0)(x), h), (h,), (xs,))
    program = build(Graph.of([h, xs], [last, states]), backends=(npu, "numpy"))
    rows = np.arange(12, dtype="float32").reshape(3, 2, 2)

    got, before = program(ONE, rows)
    np.testing.assert_array_equal(got, ONE + rows.sum(0))
    np.testing.assert_array_equal(before, [ONE, ONE + rows[0], ONE + rows[0] + rows[1]])


def test_by_name() -> None:
    """As the hub finds it."""
    x = Input(TensorType("f32", (2, 2)), None, "x")
    program = build(
        Graph.of([x], [ops.softmax(ops.tanh(x))]), backends=("numpy", "npu"), legalize=None
    )
    assert "npu" in parts.names("backends")

    np.testing.assert_allclose(program(ONE)[0], np.full((2, 2), 0.5), rtol=1e-6)
