"""What TVM v0.1 asserted about the bounds of moved producers, as sizes of buffers and loops."""

# ruff: noqa: N806  (tensors are named as in those tests)

from __future__ import annotations

from typing import Any

import numpy as np

import byparts_tensor_ir.schedule.facade as tvm
from byparts_tensor_ir.interpret import interpret
from byparts_tensor_ir.statement import Func, loops


def _sizes(func: Func) -> dict[str, list[str]]:
    """The shape of each local buffer."""
    return {b.name: [str(d) for d in b.shape] for b in func.locals}


def _extent(func: Func, loop: str) -> str:
    return next(str(x.extent) for x in loops(func) if x.name == loop)


def _chain() -> tuple[tvm.Tensor, tvm.Tensor, tvm.Tensor]:
    m, n = tvm.var("m"), tvm.var("l")
    A = tvm.placeholder((m, n), name="A")
    A1 = tvm.compute((m, n), lambda i, j: A[i, j] * 2.0, name="A1")
    A2 = tvm.compute((m, n), lambda i, j: A1[i, j] + 3.0, name="A2")
    return A, A1, A2


def test_bound1_a_split_by_8_needs_8_rows() -> None:
    A, A1, A2 = _chain()
    s = tvm.create_schedule([A2.op])
    xo, _ = s[A2].split(s[A2].op.axis[0], 8)
    s[A1].compute_at(s[A2], xo)

    func = tvm.lower(s, [A, A2])
    assert _sizes(func) == {"A1": ["8", "l"]}
    assert _extent(func, "A1_i") == "8"


def test_bound2_a_tile_of_8_by_8_needs_8_by_8() -> None:
    A, A1, A2 = _chain()
    s = tvm.create_schedule(A2.op)
    _, yo, _, _ = s[A2].tile(A2.op.axis[0], A2.op.axis[1], x_factor=8, y_factor=8)
    s[A1].compute_at(s[A2], yo)

    func = tvm.lower(s, [A, A2])
    assert _sizes(func) == {"A1": ["8", "8"]}
    assert (_extent(func, "A1_i"), _extent(func, "A1_j")) == ("8", "8")
    x = np.arange(9 * 10, dtype=np.float32).reshape(9, 10)
    y = np.empty_like(x)
    interpret(func, x, y)
    np.testing.assert_array_equal(y, x * 2 + 3)


def test_conv1d_needs_3_elements() -> None:
    n = tvm.var("n")
    X = tvm.placeholder((n + 2,), name="X")
    A = tvm.compute((n + 2,), lambda i: X[i] * 2.0, name="A")

    def compute_b(ii: Any) -> Any:
        i = ii + 1
        return A[i - 1] + A[i] + A[i + 1]

    B = tvm.compute((n,), compute_b, name="B")
    s = tvm.create_schedule(B.op)
    s[A].compute_at(s[B], B.op.axis[0])

    assert _sizes(tvm.lower(s, [X, B])) == {"A": ["3"]}


def test_blur_needs_3_by_3() -> None:
    n = tvm.var("n")
    X = tvm.placeholder((n + 2, n + 2), name="X")
    A = tvm.compute((n + 2, n + 2), lambda i, j: X[i, j] * 2.0, name="A")

    def compute_b(i: Any, j: Any) -> Any:
        rows = [A[i + r, j] + A[i + r, j + 1] + A[i + r, j + 2] for r in range(3)]
        return (rows[0] + rows[1] + rows[2]) / 9.0

    B = tvm.compute((n, n), compute_b, name="B")
    s = tvm.create_schedule(B.op)
    s[A].compute_at(s[B], B.op.axis[1])
    assert _sizes(tvm.lower(s, [X, B])) == {"A": ["3", "3"]}

    s = tvm.create_schedule(B.op)
    s[A].compute_at(s[B], B.op.axis[0])  # TVM keeps n + 2 columns here as well
    assert _sizes(tvm.lower(s, [X, B])) == {"A": ["3", "n + 2"]}


def test_gemm_bound() -> None:
    """TVM's schedule without its threads: 8 by 8 sums, 64 rows of each operand."""
    n, k = 1024, tvm.reduce_axis((0, 1024), name="k")
    A, B = tvm.placeholder((n, n), name="A"), tvm.placeholder((n, n), name="B")
    C = tvm.compute((n, n), lambda i, j: tvm.sum(A[i, k] * B[j, k], axis=k), name="CC")
    s = tvm.create_schedule(C.op)
    CC = s.cache_write(C, "local")
    AA, BB = s.cache_read(A, "local", [CC]), s.cache_read(B, "local", [CC])
    by, yi = s[C].split(C.op.axis[0], factor=64)
    bx, xi = s[C].split(C.op.axis[1], factor=64)
    s[C].reorder(by, bx, yi, xi)
    ty, yi = s[C].split(yi, nparts=8)
    tx, xi = s[C].split(xi, nparts=8)
    s[C].reorder(ty, tx, yi, xi)
    s[CC].compute_at(s[C], tx)
    s[CC].reorder(k, CC.op.axis[0], CC.op.axis[1])
    s[AA].compute_at(s[C], bx)
    s[BB].compute_at(s[CC], k)

    sizes = _sizes(tvm.lower(s, [A, B, C]))
    assert sizes == {"CC_local": ["8", "8"], "A_local": ["64", "1024"], "B_local": ["8", "1"]}


def test_rfactor_makes_the_loop_the_first_axis() -> None:
    n = tvm.var("n")
    k1, k2 = tvm.reduce_axis((0, n), name="k1"), tvm.reduce_axis((0, n), name="k2")
    A = tvm.placeholder((n, n, n), name="A")
    B = tvm.compute((n,), lambda i: tvm.sum(A[i, k1, k2], axis=[k1, k2]), name="B")
    s = tvm.create_schedule(B.op)
    BF = s.rfactor(B, k1)
    assert [str(d) for d in BF.shape] == ["n", "n"]
    assert [str(a) for a in BF.op.reduce_axis] == ["B_k2"]
    assert _extent(s.func, str(s[B].op.reduce_axis[0])) == "n"

    s = tvm.create_schedule(B.op)
    _, ki = s[B].split(k1, factor=4)
    s[B].split(B.op.axis[0], factor=8)
    BF = s.rfactor(B, ki)
    assert [str(d) for d in BF.shape] == ["4", "n"]
    assert [str(a) for a in BF.op.axis] == ["B_k1_i", "B_i_o", "B_i_i"]
    assert [str(a) for a in BF.op.reduce_axis] == ["B_k1_o", "B_k2"]
    s[B].unroll(s[B].op.reduce_axis[0])
    func = tvm.lower(s, [A, B])
    assert _extent(func, "B_c") == "4"
    x, y = np.random.default_rng(0).standard_normal((5, 5, 5)).astype(np.float32), np.empty(5, "f4")
    interpret(func, x, y)
    np.testing.assert_allclose(y, x.sum((1, 2)), rtol=1e-5, atol=1e-6)


def test_bound_rfactor() -> None:
    """4 parts of a sum to one element: 4 and 1."""
    A, k = tvm.placeholder((37,), name="A"), tvm.reduce_axis((0, 37), name="k")
    B = tvm.compute((1,), lambda i: tvm.sum(A[k], axis=k, where=i < 2), name="B")
    s = tvm.create_schedule(B)
    kf, _ = s[B].split(k, nparts=4)
    s.rfactor(B, kf)

    assert _sizes(tvm.lower(s, [A, B])) == {"B_rf": ["4", "1"]}


def test_bound_scan() -> None:
    """A copy of what 4 columns of one step read is 1 by 4."""
    m, n = tvm.var("m"), tvm.var("n")
    P = tvm.placeholder((m, n), name="P")
    X = tvm.compute((m, n), lambda i, j: P[i, j] * 2.0, name="X")
    s_state = tvm.placeholder((m, n), name="S")
    s_init = tvm.compute((1, n), lambda _, i: X[0, i], name="init")
    s_update = tvm.compute((m, n), lambda t, i: s_state[t - 1, i] + X[t, i], name="update")
    Y = tvm.scan(s_init, s_update, s_state)
    s = tvm.create_schedule(Y.op)
    XX = s.cache_read(X, "local", s_update)
    xo, _ = s[s_update].split(s_update.op.axis[1], factor=4)
    s[XX].compute_at(s[s_update], xo)

    func = tvm.lower(s, [P, Y])
    assert _sizes(func) == {"X": ["m", "n"], "X_local": ["1", "4"]}
    x, y = np.random.default_rng(0).standard_normal((2, 6, 7)).astype(np.float32)
    interpret(func, x, y)
    np.testing.assert_allclose(y, np.cumsum(2 * x, 0), rtol=1e-5, atol=1e-5)
