"""Warps in the interpreter: what a shuffle gives, and who must be there."""

from __future__ import annotations

import re

import numpy as np
import pytest

from byparts_gpu_ir.emit.cuda import emit_cuda
from byparts_tensor_ir.expression import Expr, ExpressionError, const, variable
from byparts_tensor_ir.interpret import interpret
from byparts_tensor_ir.meeting import Race
from byparts_tensor_ir.nest import NestError, nest_of
from byparts_tensor_ir.schedule.find import ScheduleError
from byparts_tensor_ir.schedule.legal import check_order_free
from byparts_tensor_ir.statement import (
    Barrier,
    Buffer,
    Exchange,
    For,
    Func,
    If,
    Shuffle,
    Statement,
    Store,
)
from byparts_tensor_ir.substitute import in_statements

A, B = Buffer("A", (const(64),)), Buffer("B", (const(64),))
V = Buffer("v", (), scope="local")
X, Y = variable("x", 16), variable("y", 4)
NUMBER = X + Y * 16


def _warps(*statements: Statement, x_outside: bool = False) -> Func:
    """Each of 64 threads has its element of A in v, does the statements, and puts v into B."""
    body = (Store("v", (V,), (), (A[NUMBER],)), *statements, Store("B", (B,), (NUMBER,), (V[()],)))
    nest = For(X, (For(Y, body, "threadIdx.y"),), "threadIdx.x")
    if not x_outside:
        nest = For(Y, (For(X, body, "threadIdx.x"),), "threadIdx.y")
    return Func("f", (A, B), (B,), (), (nest,), (V,))


def _shuffle(delta: int, value: Expr | None = None) -> Shuffle:
    return Shuffle(V, V[()] if value is None else value, delta)


@pytest.mark.parametrize("x_outside", [False, True])
@pytest.mark.parametrize("delta", [1, 5, 31])
def test_a_lane_gets_the_value_further_on_or_its_own(delta: int, x_outside: bool) -> None:
    """x runs fastest whatever loop is outside: lanes of a warp are x + 16 y."""
    a, b = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    interpret(_warps(_shuffle(delta), x_outside=x_outside), a, b)
    lane = np.arange(64)
    np.testing.assert_array_equal(b, np.where(lane % 32 + delta < 32, lane + delta, lane))


@pytest.mark.parametrize("mask", [1, 6, 16, 31])
def test_lanes_exchange_their_values(mask: int) -> None:
    a, b = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    interpret(_warps(Exchange(V, V[()], mask)), a, b)
    np.testing.assert_array_equal(b, np.arange(64) ^ mask)


def test_cuda_has_both_ways_between_lanes() -> None:
    text = emit_cuda(_warps(_shuffle(4), Exchange(V, V[()], 2))).body
    assert re.search(r"v = __shfl_down_sync\(0xffffffffu, \w+, 4\);", text)
    assert re.search(r"v = __shfl_xor_sync\(0xffffffffu, \w+, 2\);", text)


def test_warps_go_their_own_ways() -> None:
    """One warp shuffles where the other does not."""
    a, b = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    interpret(_warps(If(Y < 2, (_shuffle(16, V[()] * 2.0),))), a, b)
    expected = [2.0 * (i + 16 if i < 16 else i) if i < 32 else i for i in range(64)]
    np.testing.assert_array_equal(b, expected)


def test_half_a_warp_at_a_shuffle_is_an_error() -> None:
    a = np.zeros(64, np.float32)
    with pytest.raises(Race, match=r"16 of 64 threads of x, y reach v\[\] = shuffle\(v\[\], 1\)"):
        interpret(_warps(If(Y < 1, (_shuffle(1),))), a, a.copy())


def test_threads_at_two_barriers_are_an_error() -> None:
    a, one, other = np.zeros(64, np.float32), Barrier(), Barrier()
    with pytest.raises(Race, match="of 64 threads of x, y reach a barrier and"):
        interpret(_warps(If(Y < 1, (one,)), If(const(0) < Y, (other,))), a, a.copy())


def test_a_shuffle_is_of_one_number_of_a_thread() -> None:
    with pytest.raises(ExpressionError, match=r"shuffle into S: f32.*: not one number of a thread"):
        Shuffle(Buffer("S", (), scope="shared"), V[()], 1)
    with pytest.raises(ExpressionError, match=r"by 32 into v: f32.*not from 1 to 31"):
        Shuffle(V, V[()], 32)
    with pytest.raises(ExpressionError, match=r"exchange into S: f32.*: not one number of a thr"):
        Exchange(Buffer("S", (), scope="shared"), V[()], 1)
    with pytest.raises(ExpressionError, match=r"by 0 into v: f32.*not from 1 to 31"):
        Exchange(V, V[()], 0)


def test_what_no_gpu_runs_has_no_nest() -> None:
    x, n = variable("x", 16), variable("n")
    store = Store("B", (B,), (x,), (A[x],))
    assert nest_of(_warps()).block == (16, 4, 1)
    with pytest.raises(NestError, match="its last warp has fewer than 32"):
        nest_of(Func("f", (A, B), (B,), (), (For(x, (_shuffle(1),), "threadIdx.x"),), (V,)))
    loop = For(variable("t", n), (store,), "threadIdx.x")
    with pytest.raises(NestError, match="or for n rounds, which is no number"):
        nest_of(Func("f", (A, B), (B,), (n,), (loop,)))
    inner = For(x, (store,), "threadIdx.x")
    with pytest.raises(NestError, match=r"loop x \(threadIdx.x\) is not in one nest"):
        nest_of(Func("f", (A, B), (B,), (), (For(variable("i", 2), (inner,)),)))
    with pytest.raises(
        NestError, match="2048 threads in a block, 1 along z; at most 1024, 64 along z"
    ):
        nest_of(Func("f", (A, B), (B,), (), (For(variable("t", 2048), (store,), "threadIdx.x"),)))


def test_rounds_in_which_threads_meet_keep_their_order() -> None:
    loop = For(variable("i", 4), (_shuffle(1),))
    with pytest.raises(ScheduleError, match="vectorize i: its rounds keep their order"):
        check_order_free(loop, "vectorize", reductions=False)


def test_expressions_are_replaced_in_a_shuffle() -> None:
    (changed,) = in_statements([_shuffle(3, A[X])], {X: const(7)})
    assert str(changed) == "v[] = shuffle(A[7], 3)"
    (changed,) = in_statements([Exchange(V, A[X], 2)], {X: const(7)})
    assert str(changed) == "v[] = exchange(A[7], 2)"
