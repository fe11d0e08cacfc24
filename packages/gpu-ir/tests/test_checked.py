"""Checked emulation: each fault is named, with the statements and the threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emitters import c_emitter
from gpu_kernels import bound, buffer, gelu, local, put

from byparts_gpu_ir.emit.emulate import emulate
from byparts_gpu_ir.emulation import build
from byparts_gpu_ir.faults import (
    DataRace,
    Divergence,
    KernelFault,
    Misaligned,
    NeverWritten,
    OutsideBuffer,
)
from byparts_tensor_ir.expression import const, variable
from byparts_tensor_ir.functions import cast, select
from byparts_tensor_ir.statement import Barrier, Buffer, For, Func, If, Statement

X, Y = buffer("x", 8, 4), buffer("y", 8, 4)
S, V = buffer("s", 8, scope="shared"), local("v")
B, TX, TY = variable("b", 2), variable("tx", 4), variable("ty", 2)
T = TX + TY * 4


def _func(*body: Statement, locals_: tuple[Buffer, ...] = (S, V)) -> Func:
    """Two blocks of 4 x 2 threads."""
    return Func("f", (X, Y), (Y,), (), bound(body, bx=B, ty=TY, tx=TX), locals_)


def _run(func: Func, x: Any = None) -> Any:
    """y, of x = 0, 1, 2, ..."""
    given = np.arange(32, dtype=np.float32).reshape(8, 4) if x is None else x
    out = np.zeros((8, 4), np.float32)
    build(func, "checked")(given, out)
    return out


@c_emitter
def test_two_threads_at_one_element_with_no_barrier_between_are_a_race() -> None:
    fill, move = put(S, (T,), X[T, 0]), put(Y, (T, B), S[(T + 3) % 8])
    with pytest.raises(DataRace) as caught:
        _run(_func(fill, Barrier(), move, put(S, (T,), 2.0)))
    assert str(caught.value) == (
        "f: a race on shared s: f32[8] at [3]: nothing orders\n"
        "  thread (0, 0, 0) of block (0, 0, 0), which reads it: "
        "y[tx + ty * 4, b] = s[(tx + ty * 4 + 3) % 8]\n"
        "  thread (3, 0, 0) of block (0, 0, 0), which writes it: s[tx + ty * 4] = 2.0"
    )
    moved = _run(_func(fill, Barrier(), move, Barrier(), put(S, (T,), 2.0)))
    assert moved[:, 1].tolist() == [12, 16, 20, 24, 28, 0, 4, 8]


@c_emitter
def test_what_another_thread_is_still_to_write_is_not_written() -> None:
    """In this order of threads; in another one the same fault is a race."""
    with pytest.raises(
        NeverWritten, match=r"\(0, 0, 0\) reads what nobody has written in shared s"
    ):
        _run(_func(put(S, (T,), 1.0), put(Y, (T, B), S[(T + 3) % 8])))


@c_emitter
def test_two_blocks_at_one_element_are_a_race() -> None:
    with pytest.raises(
        DataRace, match=r"on global y.* at \[7, 3\](.|\n)*of block \(0(.|\n)*\(1, 0"
    ):
        _run(_func(If(T < 1, (put(Y, (7, 3), X[B, 0]),))))


@c_emitter
def test_an_index_is_within_its_own_dimension() -> None:
    with pytest.raises(
        OutsideBuffer, match=r"writes outside of global y: f32\[8, 4\] at \[0, 4\]: y\[b"
    ):
        _run(_func(put(Y, (B, T), 1.0)))
    array, k = local("a", 3), variable("k", 4)
    loop = For(k, (put(V, (), select(k < 0, 1.0, array[k])),))
    with pytest.raises(OutsideBuffer, match=r"reads outside of local a: f32\[3\] at \[3\]"):
        _run(_func(loop, put(Y, (T, B), V[()]), locals_=(array, V)))


@c_emitter
def test_an_arm_that_is_not_chosen_is_not_read() -> None:
    value = select(T + 1 < 8, X[T + 1, 0], -1.0)
    assert _run(_func(put(Y, (T, B), value)))[:, 0].tolist() == [4, 8, 12, 16, 20, 24, 28, -1]
    both = (T + 1 < 8) & (X[T + 1, 0] < 9.0)
    assert _run(_func(put(Y, (T, B), cast(both, "f32"))))[:, 0].tolist() == [1, 1, *[0] * 6]


@c_emitter
def test_what_both_arms_compute_is_computed_once() -> None:
    """Else code of 40 choices, each of which has the one before in both arms, would not end."""
    value = const(1.0, "f32")
    for k in range(40):
        value = select(T.equal(k), value * X[T + 1, 0], value)
    func = _func(put(Y, (T, B), select(T + 1 < 8, value, -1.0)))
    assert _run(func)[:, 0].tolist() == [4, 8, 12, 16, 20, 24, 28, -1]


@c_emitter
def test_shared_memory_is_written_before_it_is_read_in_each_block() -> None:
    first = If(B < 1, (If(T < 1, (put(S, (0,), 1.0),)),))
    with pytest.raises(
        NeverWritten, match=r"block \(1, 0, 0\) reads what nobody has written in shared s"
    ):
        _run(_func(first, Barrier(), put(Y, (T, B), S[0])))


@c_emitter
def test_a_local_that_nobody_wrote_is_nan() -> None:
    assert np.isnan(_run(_func(put(Y, (T, B), V[()]))).T[:2]).all()


@c_emitter
def test_some_threads_at_a_barrier_are_a_fault_that_names_two() -> None:
    with pytest.raises(
        Divergence,
        match=r"thread \(0, 0, 0\) .* reaches barrier\(\), and thread \(0, 1, 0\) .* not",
    ):
        _run(_func(If(T < 4, (Barrier(),)), put(Y, (T, B), 1.0)))
    assert _run(_func(If(T < 9, (If(B < 1, (Barrier(),)),)), put(Y, (T, B), 1.0)))[0, 0] == 1


@c_emitter
def test_an_array_that_is_not_aligned_is_a_fault_of_a_wide_access() -> None:
    func, inputs, _ = gelu()
    memory = np.zeros(inputs[0].size + 1, np.float32)[1:].reshape(inputs[0].shape)
    memory[...] = inputs[0]
    with pytest.raises(
        Misaligned, match=r"reads misaligned in global x: f32\[3, 512\] at \[0, 0\]"
    ):
        build(func, "checked")(memory, *inputs[1:], np.zeros_like(inputs[0]))


@c_emitter
def test_one_array_that_is_given_twice_is_one_memory() -> None:
    """In place, each thread its own elements; or those of its neighbour."""
    array = np.arange(32, dtype=np.float32).reshape(8, 4)
    build(_func(put(Y, (T, B), X[T, B] + 1.0)), "checked")(array, array)
    assert array[:, 0].tolist() == [1, 5, 9, 13, 17, 21, 25, 29]
    with pytest.raises(
        DataRace, match=r"on global x(.|\n)*which writes it: y\[(.|\n)*which reads it"
    ):
        build(_func(put(Y, (T, B), X[7 - T, B])), "checked")(array, array)


@c_emitter
def test_after_a_fault_the_kernel_runs_again() -> None:
    run = build(_func(put(Y, (T, cast(X[0, 0], "index")), 1.0), locals_=()), "checked")
    bad, good = np.full((8, 4), 9, np.float32), np.zeros((8, 4), np.float32)
    for _ in range(2):
        with pytest.raises(KernelFault, match=r"outside of global y: f32\[8, 4\] at \[0, 9\]"):
            run(bad, good)
        with pytest.raises(DataRace, match="on global y"):  # both blocks write column 0
            run(np.zeros((8, 4), np.float32), good)


def test_a_checked_kernel_leaves_a_record_behind_its_parameters() -> None:
    func = _func(put(Y, (T, B), 1.0), Barrier())
    assert emulate(func, "checked").workspace_bytes == 160
    assert emulate(func, "forward").workspace_bytes == 0
    assert emulate(func, "checked").buffers[2] == "shared s: f32[8]"
