"""The programs of TVM's slides run as printed, and equal NumPy."""

# ruff: noqa: N806  (tensors are named as on the slides)

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emitters import each_emitter

import byparts_tensor_ir.schedule.facade as tvm
from byparts_tensor_ir.emit.c import emit_c
from byparts_tensor_ir.interpret import interpret
from byparts_tensor_ir.lower import lower
from byparts_tensor_ir.schedule.find import ScheduleError
from byparts_tensor_ir.schedule.schedule import Schedule
from byparts_tensor_ir.statement import For, Func, loops

Array = Any


def _random(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def _result(func: Func, *inputs: Array, shape: tuple[int, ...]) -> Array:
    """What the interpreter makes of the function's one output."""
    out = np.full(shape, np.nan, np.float32)
    interpret(func, *inputs, out)
    return out


def _product() -> tuple[tvm.Tensor, tvm.Tensor, tvm.Tensor]:
    """The first program of the slides: C = dot(A, B.T)."""
    m, n, h = tvm.var("m"), tvm.var("n"), tvm.var("h")
    A = tvm.placeholder((m, h), name="A")
    B = tvm.placeholder((n, h), name="B")
    k = tvm.reduce_axis((0, h), name="k")
    C = tvm.compute((m, n), lambda i, j: tvm.sum(A[i, k] * B[j, k], axis=k), name="C")
    return A, B, C


@each_emitter
def test_one_product_serves_three_shapes(emitter: str) -> None:
    """The sizes m, n and h are those of the arrays of each call."""
    A, B, C = _product()
    s = tvm.create_schedule(C.op)
    jo, ji = s[C].split(C.op.axis[1], 4)
    s[C].reorder(C.op.axis[0], jo, ji)
    s[C].vectorize(ji)
    product = tvm.build(s, [A, B, C], emitter, "product")

    for m, n, h in ((3, 4, 5), (1, 9, 2), (6, 1, 17)):
        a, b, c = _random(m, h), _random(n, h), np.zeros((m, n), np.float32)
        product(a, b, c)
        np.testing.assert_allclose(c, a @ b.T, rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match=r"C: f32\[m, n\] got shape \[6, 2\]: n is 1 on axis 1"):
        product(a, b, np.zeros((6, 2), np.float32))


def test_the_affine_transformation_is_one_function() -> None:
    """Two tensors without names get names of their own; the product stays at its reader."""
    n, m, h = tvm.var("n"), tvm.var("m"), tvm.var("h")
    data, w = tvm.placeholder((n, h), name="data"), tvm.placeholder((m, h), name="w")
    bias, k = tvm.placeholder((m,), name="bias"), tvm.reduce_axis((0, h), name="k")
    out = tvm.compute((n, m), lambda i, j: tvm.sum(data[i, k] * w[j, k], k))
    product = out
    out = tvm.compute((n, m), lambda i, j: product[i, j] + bias[j])
    s = tvm.create_schedule(out.op)
    s[product].compute_at(s[out], out.op.axis[1])
    func = tvm.lower(s, [data, w, bias, out], "affine")

    assert [str(b) for b in func.locals] == ["compute: f32[1, 1]"]
    x, y, z = _random(3, 4), _random(5, 4), _random(5)
    np.testing.assert_allclose(
        _result(func, x, y, z, shape=(3, 5)), x @ y.T + z, rtol=1e-5, atol=1e-6
    )


def test_a_convolution_with_its_activation_is_one_nest() -> None:
    """The bias is added and the sign cut off below the loops of the convolution."""
    c, h, w = tvm.var("c"), tvm.var("h"), tvm.var("w")
    data = tvm.placeholder((3, h + 2, w + 2), name="data")
    weight = tvm.placeholder((c, 3, 3, 3), name="weight")
    bias = tvm.placeholder((c,), name="bias")
    kc, kx, ky = (tvm.reduce_axis((0, 3), name=n) for n in ("kc", "kx", "ky"))
    conv = tvm.compute(
        (c, h, w),
        lambda i, x, y: tvm.sum(data[kc, x + kx, y + ky] * weight[i, kc, kx, ky], [kx, ky, kc]),
    )
    biased = tvm.compute((c, h, w), lambda i, x, y: conv[i, x, y] + bias[i])
    out = tvm.compute((c, h, w), lambda *i: tvm.max(0, biased(*i)))
    s = tvm.create_schedule(out.op)
    s[biased].compute_inline()
    s[conv].compute_at(s[out], out.op.axis[2])
    func = tvm.lower(s, [data, weight, bias, out])

    assert len(func.body) == 1  # one nest
    assert [str(b) for b in func.locals] == ["compute: f32[1, 1, 1]"]  # and one element
    x, f, b = _random(3, 6, 7), _random(2, 3, 3, 3), _random(2)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (1, 2))
    expected = np.maximum(np.einsum("cxyrs,icrs->ixy", windows, f) + b[:, None, None], 0)
    np.testing.assert_allclose(
        _result(func, x, f, b, shape=(2, 4, 5)), expected, rtol=1e-4, atol=1e-5
    )


def test_a_cumulative_sum_by_scan() -> None:
    """Recurrent support: the state stands for the result in its own rule."""
    m, n = tvm.var("m"), tvm.var("n")
    X = tvm.placeholder((m, n), name="X")
    s_state = tvm.placeholder((m, n))
    s_init = tvm.compute((1, n), lambda _, i: X[0, i])
    s_update = tvm.compute((m, n), lambda t, i: s_state[t - 1, i] + X[t, i])
    Y = tvm.scan(s_init, s_update, s_state, inputs=[X])
    s = tvm.create_schedule(Y.op)
    _, inner = s[s_update].split(s_update.op.axis[1], 4)
    s[Y].vectorize(inner)
    func = tvm.lower(s, [X, Y])

    x = _random(5, 6)
    np.testing.assert_allclose(_result(func, x, shape=(5, 6)), np.cumsum(x, 0), rtol=1e-5)
    with pytest.raises(ScheduleError, match="a round reads elements of placeholder_scan"):
        s[s_update].parallel(s_update.op.axis[0])


def test_blocks_and_threads() -> None:
    """The schedule of the slides: an addition on the threads of a GPU, here interpreted."""
    n = tvm.var("n")
    A, B = tvm.placeholder((n,), name="A"), tvm.placeholder((n,), name="B")
    C = tvm.compute((n,), lambda i: A[i] + B[i], name="C")
    s = tvm.create_schedule(C.op)
    xo, xi = s[C].split(s[C].op.axis[0], factor=32)
    s[C].reorder(xi, xo)
    s[C].bind(xo, tvm.thread_axis("blockIdx.x"))
    s[C].bind(xi, tvm.thread_axis((0, 32), "threadIdx.x"))
    func = tvm.lower(s, [A, B, C])

    assert [x.kind for x in loops(func)] == ["threadIdx.x", "blockIdx.x"]
    a, b = _random(50), _random(50)
    np.testing.assert_array_equal(_result(func, a, b, shape=(50,)), a + b)


def test_copies_of_inputs_and_outputs_move_to_their_loops() -> None:
    """`cache_write` and `cache_read` make stages, which `compute_at` shrinks."""
    A, B, C = _product()
    s = tvm.create_schedule(C.op)
    CL = s.cache_write(C, "local")
    BL = s.cache_read(B, "local", [CL])
    xo, yo, _, _ = s[C].tile(C.op.axis[0], C.op.axis[1], 4, 8)
    s[CL].compute_at(s[C], yo)
    ko, ki = s[CL].split(CL.op.reduce_axis[0], factor=2)
    s[CL].reorder(ko, ki, *CL.op.axis)
    s[BL].compute_at(s[CL], ki)
    s[CL].unroll(CL.op.axis[0])
    s[C].fuse(xo, yo)
    func = tvm.lower(s, [A, B, C])

    assert [str(b) for b in func.locals] == ["C_local: f32[4, 8]", "B_local: f32[8, 1]"]
    a, b = _random(5, 3), _random(9, 3)
    np.testing.assert_allclose(_result(func, a, b, shape=(5, 9)), a @ b.T, rtol=1e-5, atol=1e-6)


def test_a_tensorized_product() -> None:
    """The intrinsic of the slides: an accelerator's product of 8 by 8, which C cannot run here."""
    w, x = tvm.placeholder((8, 8)), tvm.placeholder((8, 8))
    k = tvm.reduce_axis((0, 8))
    y = tvm.compute((8, 8), lambda i, j: tvm.sum(w[i, k] * x[j, k], axis=k))

    def gemm_intrin_lower(inputs: Any, outputs: Any) -> Any:
        ww_ptr = inputs[0].access_ptr("r")
        xx_ptr = inputs[1].access_ptr("r")
        zz_ptr = outputs[0].access_ptr("w")
        compute = tvm.hardware_intrin("gemm8x8", ww_ptr, xx_ptr, zz_ptr)
        reset = tvm.hardware_intrin("fill_zero", zz_ptr)
        update = tvm.hardware_intrin("fuse_gemm8x8_add", ww_ptr, xx_ptr, zz_ptr)
        return compute, reset, update

    gemm8x8 = tvm.decl_tensor_intrin(y.op, gemm_intrin_lower, "gemm8x8")
    A, B = tvm.placeholder((16, 24), "A"), tvm.placeholder((8, 24), "B")
    r = tvm.reduce_axis((0, 24), "k")
    C = tvm.compute((16, 8), lambda i, j: tvm.sum(A[i, r] * B[j, r], axis=r), "C")
    s = tvm.create_schedule(C.op)
    xo, yo, xi, yi = s[C].tile(C.op.axis[0], C.op.axis[1], 8, 8)
    ko, ki = s[C].split(r, factor=8)
    s[C].reorder(xo, yo, ko, xi, yi, ki)
    s[C].tensorize(xi, gemm8x8)
    func = tvm.lower(s, [A, B, C])

    a, b = _random(16, 24), _random(8, 24)
    np.testing.assert_allclose(_result(func, a, b, shape=(16, 8)), a @ b.T, rtol=1e-4, atol=1e-5)
    assert "fuse_gemm8x8_add(placeholder, placeholder1, compute);" in emit_c(func).text


def test_one_tensor_of_a_pair_is_copied() -> None:
    """A reduction of two values is one block with two buffers; a copy is of one of them."""
    m = tvm.var("m")
    A, j = tvm.placeholder((m, 7), name="A"), tvm.reduce_axis((0, 7), name="j")
    best = tvm.compute((m,), lambda i: tvm.argmax(A[i, j], j), name="best")
    at = best.op.output(1)
    out = tvm.compute((m,), lambda i: tvm.cast(at[i], "f32") * 2.0, name="out")
    s = tvm.create_schedule(out.op)
    copy = s.cache_read(at, "local", out)
    s[copy].compute_at(s[out], out.op.axis[0])
    func = tvm.lower(s, [A, out])

    assert [str(b) for b in func.locals][-1] == "best1_local: i64[1]"
    x = _random(4, 7)
    np.testing.assert_array_equal(_result(func, x, shape=(4,)), 2 * x.argmax(1))


def test_the_steps_are_those_of_a_schedule() -> None:
    """The facade adds nothing to the core: its steps print, and can be done again."""
    A, B, C = _product()
    s = tvm.create_schedule(C)
    s[C].tile(C.op.axis[0], C.op.axis[1], 4, 8)
    func = tvm.lower(s, [A, B, C])
    core = Schedule(lower([A, B, C])).replay(s.schedule.steps)

    assert str(core.func) == str(func)
    assert str(s).splitlines()[:3] == [
        "split('C_i', 4)",
        "split('C_j', 8)",
        "reorder('C_i_o', 'C_j_o', 'C_i_i', 'C_j_i')",
    ]
    assert [x.name for x in loops(func) if isinstance(x, For)][-1] == "C_k"


def test_what_is_not_there_is_refused() -> None:
    """Each refusal names what was asked for, and what there is."""
    A, B, C = _product()
    s = tvm.create_schedule(C.op)
    with pytest.raises(ScheduleError, match="stage C has no 'prefetch'; it has split, tile"):
        s[C].prefetch(A, 1)
    with pytest.raises(ScheduleError, match=r"A: f32\[m, h\] has no stage; stages: C"):
        s[A].unroll(C.op.axis[0])
    with pytest.raises(ScheduleError, match="give either factor or nparts"):
        s[C].split(C.op.axis[0])
    with pytest.raises(ScheduleError, match="into 4 parts: its extent m is no number"):
        s[C].split(C.op.axis[0], nparts=4)
    with pytest.raises(ScheduleError, match="k is no axis of C; its axes: C_i, C_j, k"):
        s[C].split(tvm.reduce_axis(4, "k"), 2)
    with pytest.raises(ScheduleError, match=r"thread_axis 'vthread' from 0: one of blockIdx\.x"):
        tvm.thread_axis("vthread")
    with pytest.raises(ScheduleError, match="build for 'cuda': targets are c, llvm"):
        tvm.build(s, [A, B, C], "cuda")
    with pytest.raises(ScheduleError, match="no memory 'warp': one of global"):
        s.cache_write(C, "warp")
    _, inner = s[C].split(C.op.axis[0], 4)
    with pytest.raises(ScheduleError, match="has 8 threads and the loop 4 rounds"):
        s[C].bind(inner, tvm.thread_axis((0, 8), "threadIdx.x"))
    with pytest.raises(ScheduleError, match="its loops were changed before"):
        s.cache_write(C, "local")
    D = tvm.compute(C.shape, lambda i, j: C[i, j] + 1.0, name="D")
    s = tvm.create_schedule(D.op)
    s[C].split(C.op.axis[0], 4)
    with pytest.raises(ScheduleError, match="move the block before its own loops are changed"):
        s[C].compute_at(s[D], D.op.axis[0])
    with pytest.raises(ScheduleError, match="a reduction or several stores"):
        s[C].compute_inline()
