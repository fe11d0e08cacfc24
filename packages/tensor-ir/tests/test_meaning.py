"""The interpreter against NumPy, and compiled code against the interpreter, to the bit where it can be."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from emitters import all_emitters, each_emitter
from tensor_programs import PROGRAMS, empty_outputs

from byparts_tensor_ir.build import build
from byparts_tensor_ir.expression import const, variable
from byparts_tensor_ir.interpret import OutOfBounds, interpret
from byparts_tensor_ir.lower import lower
from byparts_tensor_ir.meeting import Race
from byparts_tensor_ir.schedule.find import ScheduleError
from byparts_tensor_ir.schedule.schedule import Schedule
from byparts_tensor_ir.statement import Barrier, Buffer, For, Func, If, Store, loops
from byparts_tensor_ir.tensor import compute, placeholder


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_interpreter_is_numpy(name: str) -> None:
    func, inputs, answer = PROGRAMS[name]()
    expected = answer(*inputs)
    outputs = empty_outputs(func, expected)
    interpret(func, *inputs, *outputs)
    for got, wanted in zip(outputs, expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-6, atol=2e-6)


@each_emitter
@pytest.mark.parametrize("vector", [16, 64])
@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_plain_loops_are_the_interpreter(name: str, vector: int, emitter: str) -> None:
    func, inputs, answer = PROGRAMS[name]()
    outputs = [empty_outputs(func, answer(*inputs)) for _ in range(2)]
    interpret(func, *inputs, *outputs[0])
    build(func, vector, emitter)(*inputs, *outputs[1])
    for a, b in zip(*outputs, strict=True):
        # The order of operations is the same: only exp may differ, by its last bit.
        np.testing.assert_allclose(a, b, rtol=3e-7 if name == "softmax" else 0)


@all_emitters
@pytest.mark.parametrize("vector", [16, 64])
@pytest.mark.parametrize("name", PROGRAMS)
def test_emitters_agree_to_the_bit_on_vectors(name: str, vector: int) -> None:
    func, inputs, answer = PROGRAMS[name]()
    s = Schedule(func)
    for loop in loops(func):
        with suppress(ScheduleError):
            s.vectorize(loop.name)
    outputs = [empty_outputs(func, answer(*inputs)) for _ in range(2)]
    build(s.func, vector, "c")(*inputs, *outputs[0])
    build(s.func, vector, "llvm")(*inputs, *outputs[1])
    for a, b in zip(*outputs, strict=True):
        np.testing.assert_array_equal(a, b)


def test_an_index_outside_is_an_error_that_says_where() -> None:
    a = placeholder((4,), "A")
    func = lower([a, compute((4,), lambda i: a[i + 1], "B")], "f")
    with pytest.raises(OutOfBounds, match=r"load: A\[4\] is outside of \[4\], with B_i=3"):
        interpret(func, np.zeros(4, np.float32), np.zeros(4, np.float32))


def test_locals_begin_as_garbage() -> None:
    a = placeholder((4,), "A")
    b = compute((4,), lambda i: a[i], "B")
    func = lower([a, compute((4,), lambda i: b[i], "C")], "f")
    without = func.with_body(func.body[1:])
    y = np.zeros(4, np.float32)
    interpret(without, np.ones(4, np.float32), y)
    assert np.isnan(y).all()


def _threads(with_barrier: bool, guarded: bool = False) -> Func:
    """Each thread writes its element of shared memory and reads its neighbour's."""
    a, b = placeholder((8,), "A"), Buffer("B", (const(8),))
    s, t = Buffer("S", (const(8),), scope="shared"), variable("t", 8)
    barrier: tuple[Barrier | If, ...] = (Barrier(),) if with_barrier else ()
    if guarded:
        barrier = (If(t < 4, (Barrier(),)),)
    body = (
        Store("S", (s,), (t,), (a[t],)),
        *barrier,
        Store("B", (b,), (t,), (s[(t + 1) % 8],)),
    )
    return Func("f", (a, b), (b,), (), (For(t, body, "threadIdx.x"),), (s,))


def test_threads_meet_at_barriers_and_only_there() -> None:
    x = np.arange(8, dtype=np.float32)
    wrong = 0
    for seed in range(20):
        y = np.zeros(8, np.float32)
        interpret(_threads(True), x, y, seed=seed)
        np.testing.assert_array_equal(y, np.roll(x, -1))
        interpret(_threads(False), x, y, seed=seed)
        wrong += not np.array_equal(y, np.roll(x, -1))
    assert wrong == 20  # without the barrier some thread reads before its neighbour has written


def test_rounds_of_a_parallel_loop_run_in_any_order() -> None:
    """A loop that is wrongly said to be parallel shows: each round reads what the last wrote."""
    x, y = placeholder((8,), "X"), Buffer("Y", (const(9),))
    t = variable("t", 8)
    loop = For(t, (Store("Y", (y,), (t + 1,), (y[t] + x[t],)),), "parallel")
    func = Func("f", (x, y), (y,), (), (loop,))
    out = np.zeros(9, np.float32)
    interpret(func, np.ones(8, np.float32), out)

    assert out[8] != 8


def test_a_barrier_that_half_of_the_threads_reach_is_an_error() -> None:
    x = np.zeros(8, np.float32)
    with pytest.raises(Race, match="4 of 8 threads of t reach a barrier"):
        interpret(_threads(True, guarded=True), x, x.copy())
