"""Loops become an intrinsic where they compute what it computes, and are refused otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emitters import each_emitter
from tensor_programs import matmul, symbolic

from byparts_tensor_ir import tensor as te
from byparts_tensor_ir.build import build
from byparts_tensor_ir.emit.c import emit_c
from byparts_tensor_ir.expression import ExpressionError
from byparts_tensor_ir.interpret import interpret
from byparts_tensor_ir.intrinsic import Intrinsic, intrinsic, operand_boxes
from byparts_tensor_ir.lower import lower
from byparts_tensor_ir.schedule.find import ScheduleError, loop_of
from byparts_tensor_ir.schedule.schedule import Schedule
from byparts_tensor_ir.tensor import compute, placeholder, reduce_axis

ROW_BY_MATRIX = """
for (int j = 0; j < 4; ++j)
  for (int k = 0; k < 4; ++k)
    y[j * y_0] += x[k * x_0] * w[k * w_0 + j * w_1];
"""

GEMM = """
for (int i = 0; i < 8; ++i)
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 8; ++j)
      c[i * c_0 + j * c_1] += a[i * a_0 + k * a_1] * b[k * b_0 + j * b_1];
"""


def _gemv() -> Intrinsic:
    """y[j] += sum over k of x[k] * w[k, j], 4 by 4."""
    x, w, k = placeholder((4,), "x"), placeholder((4, 4), "w"), reduce_axis(4, "k")
    y = compute((4,), lambda j: te.sum(x[k] * w[k, j], axis=k), "y")
    return intrinsic("gemv4", [x, w, y], ROW_BY_MATRIX)


def _addition() -> Intrinsic:
    a, b = placeholder((4,), "a"), placeholder((4,), "b")
    c = compute((4,), lambda i: a[i] + b[i], "c")
    return intrinsic("add4", [a, b, c], "for (int i = 0; i < 4; ++i) c[i * c_0] = a[i * a_0];")


def _tiled(m: int = 5, n: int = 8, k: int = 12) -> tuple[Schedule, list[Any], Any]:
    func, inputs, answer = matmul(m, n, k)
    s = Schedule(func).split("C_j", 4).split("C_k", 4)
    return s.reorder("C_j_o", "C_i", "C_k_o", "C_j_i", "C_k_i"), inputs, answer


def test_operands_are_boxes_of_larger_buffers() -> None:
    """As in TVM's test of gemv: the regions below the loop, found up to names and offsets."""
    s, _, _ = _tiled()
    s.tensorize("C_j_i", _gemv())
    x, w, y = operand_boxes(loop_of(s.func, "C_j_i"), _gemv())

    assert [str(e) for e in x.begin] == ["C_i", "C_k_o * 4"]
    assert (x.dims, w.dims, y.dims) == ((1,), (0, 1), (1,))
    assert [str(e) for e in w.begin] == ["C_k_o * 4", "C_j_o * 4"]
    assert [str(e) for e in w.strides()] == ["8", "1"]
    assert "for C_j_i in range(4):  # gemv4" in str(s.func)


@each_emitter
def test_c_runs_the_intrinsic_and_others_its_meaning(emitter: str) -> None:
    """The identity is stored before the outermost loop of the reduction."""
    s, inputs, answer = _tiled()
    s.tensorize("C_j_i", _gemv())
    got, compiled = np.full((2, 5, 8), np.nan, np.float32)
    interpret(s.func, *inputs, got)
    build(s.func, emitter=emitter)(*inputs, compiled)

    np.testing.assert_allclose(got, answer(*inputs)[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(compiled, got, rtol=1e-5, atol=1e-6)
    assert "y[j * y_0] +=" in emit_c(s.func).text


@each_emitter
def test_a_product_of_tiles_of_a_larger_product(emitter: str) -> None:
    """TVM's test of gemm: 8 by 8 by 4, among extents that it divides, compiled in strips of B."""
    a, b, k = placeholder((8, 4), "a"), placeholder((4, 8), "b"), reduce_axis(4, "k")
    c = compute((8, 8), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), "c")
    gemm = intrinsic("gemm", [a, b, c], GEMM)
    func, inputs, answer = matmul(16, 24, 12)
    s = Schedule(func).tile("C_i", "C_j", 8, 8).split("C_k", 4)
    s.reorder("C_j_o", "C_i_o", "C_k_o", "C_i_i", "C_j_i", "C_k_i").cache_read("B", "C_j_o")
    s.cache_write("C", "C_i_o", "local").tensorize("C_i_i", gemm)
    got, compiled = np.full((2, 16, 24), np.nan, np.float32)
    interpret(s.func, *inputs, got)
    np.testing.assert_allclose(got, answer(*inputs)[0], rtol=1e-5, atol=1e-5)
    build(s.func, emitter=emitter)(*inputs, compiled)
    np.testing.assert_allclose(compiled, got, rtol=1e-5, atol=1e-5)


def test_a_whole_reduction_begins_before_the_loop() -> None:
    """No loop of the reduction is around the intrinsic: the identity stands just before it."""
    func, inputs, answer = matmul(3, 4, 4)
    s = Schedule(func).tensorize("C_j", _gemv())
    got = np.full((3, 4), np.nan, np.float32)
    interpret(s.func, *inputs, got)

    np.testing.assert_allclose(got, answer(*inputs)[0], rtol=1e-5, atol=1e-6)
    assert str(s.func).index("C[C_i, C_j_init] = 0.0") < str(s.func).index("# gemv4")


def test_an_intrinsic_without_a_reduction() -> None:
    """TVM's test of an addition, on one part of a symbolic extent."""
    n = te.var("n")
    a, b = placeholder((n, 4), "A"), placeholder((n, 4), "B")
    c = compute((n, 4), lambda i, j: a[i, j] + b[i, j], "C")
    s = Schedule(lower([a, b, c])).tensorize("C_j", _addition())
    x, y, z = np.ones((3, 3, 4), np.float32)
    interpret(s.func, x, y, z)

    np.testing.assert_array_equal(z, x + y)


def test_what_differs_is_refused_with_both_bodies() -> None:
    """Extents, order of operands, reductions, conditions: each with its reason."""
    s, _, _ = _tiled()
    with pytest.raises(ScheduleError, match=r"(?s)2 loops, not 1.*C_k_o \* 4.*add4:\n.*a\[c_i\]"):
        s.tensorize("C_j_i", _addition())
    with pytest.raises(ScheduleError, match="3 loops, not 2"):
        s.tensorize("C_k_o", _gemv())
    func, _, _ = symbolic()  # reads B[j, k], not B[k, j]
    s = Schedule(func).split("C_j", 4).split("C_k", 4)
    s.reorder("C_i", "C_j_o", "C_k_o", "C_j_i", "C_k_i")
    with pytest.raises(ScheduleError, match="a condition stands below C_k_i"):
        s.tensorize("C_j_i", _gemv())
    a, b, k = placeholder((4, 4), "A"), placeholder((4, 4), "B"), reduce_axis(4, "k")
    c = compute((4, 4), lambda i, j: te.sum(a[i, k] * b[j, k], axis=k), "C")
    with pytest.raises(ScheduleError, match="dimension 0 of B is indexed with C_j"):
        Schedule(lower([a, b, c])).tensorize("C_j", _gemv())
    d = compute((4, 4), lambda i, j: te.max(a[i, k] * b[k, j], axis=k), "D")
    with pytest.raises(ScheduleError, match="the reductions differ"):
        Schedule(lower([a, b, d])).tensorize("D_j", _gemv())


def test_later_steps_keep_the_intrinsic() -> None:
    """Loops around may change; those that the intrinsic runs may not."""
    s, inputs, answer = _tiled()
    s.tensorize("C_j_i", _gemv()).cache_read("B", "C_j_o").parallel("C_j_o")
    got = np.full((5, 8), np.nan, np.float32)
    interpret(s.func, *inputs, got)

    np.testing.assert_allclose(got, answer(*inputs)[0], rtol=1e-5, atol=1e-6)
    before = s.func
    with pytest.raises(ScheduleError, match="split after tensorize: the loops do not compute what"):
        s.split("C_k_i", 2)
    assert s.func is before


def test_what_is_no_intrinsic_is_refused() -> None:
    a = placeholder((4,), "a")
    with pytest.raises(ExpressionError, match="intrinsic 'serial': the name is no identifier, or"):
        intrinsic("serial", [a, compute((4,), lambda i: a[i], "b")], "")
    with pytest.raises(
        ExpressionError, match="the axis b_i runs over 1 from 0, not over 2 or more"
    ):
        intrinsic("copy", [a, compute((1,), lambda i: a[i], "b")], "")
    b = compute((4,), lambda i: a[i], "b")
    with pytest.raises(ExpressionError, match="intrinsic copy computes more than one tensor"):
        intrinsic("copy", [a, b, compute((4,), lambda i: b[i], "c")], "")
