"""Matrices of a warp: emulated, interpreted, as PTX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emitters import c_emitter
from gpu_kernels import bound, buffer, put
from nvcc import needs_nvcc, ptxas_report

from byparts_gpu_ir.emit.cuda import emit_cuda
from byparts_gpu_ir.emit.emulated import MODES
from byparts_gpu_ir.emulation import build
from byparts_gpu_ir.faults import DataRace, Divergence
from byparts_tensor_ir.access import EmitError
from byparts_tensor_ir.expression import Expr, ExpressionError, const, variable
from byparts_tensor_ir.interpret import NUMPY, interpret
from byparts_tensor_ir.matrix import (
    DEPTHS,
    SIDE,
    FillMatrix,
    LoadMatrix,
    Matrix,
    MultiplyAdd,
    ScaleMatrix,
    StoreMatrix,
)
from byparts_tensor_ir.meeting import Race
from byparts_tensor_ir.statement import Barrier, Buffer, For, Func, If, Statement
from byparts_tensor_ir.substitute import in_statements

M, N = 32, 32
T, STEP = variable("t", 64), variable("step", 3)
LANE = variable("t", 32)
WARP_ROW = T // 32 * SIDE


def matrices(scope: str, rows: int, columns: int, dtype: str, *leading: int) -> Buffer:
    shape = tuple([const(n) for n in (*leading, rows, columns)])
    return Buffer(scope, shape, dtype, scope)


def product(dtype: str, left_rows: bool = True, right_rows: bool = True) -> Func:
    """Two warps, each of which multiplies 16 rows of A by all 32 columns of B."""
    depth = DEPTHS[dtype]
    k = 3 * depth
    a = buffer("A", *((M, k) if left_rows else (k, M)), dtype=dtype)
    b = buffer("B", *((k, N) if right_rows else (N, k)), dtype=dtype)
    c = buffer("C", M, N)
    left, right = matrices("matrix_a", SIDE, depth, dtype), matrices("matrix_b", depth, SIDE, dtype)
    sums = matrices("accumulator", SIDE, SIDE, "f32", 2)
    j, column = variable("j", 2), variable("column", 2)

    def box(way: bool, row: Any, column: Any) -> Any:
        at = (row, column) if way else (column, row)
        return tuple([const(i) if isinstance(i, int) else i for i in at]), (0, 1) if way else (1, 0)

    load = LoadMatrix(Matrix(left), a, *box(left_rows, WARP_ROW, STEP * depth))
    columns = (
        LoadMatrix(Matrix(right), b, *box(right_rows, STEP * depth, column * SIDE)),
        MultiplyAdd(Matrix(sums, (column,)), Matrix(left), Matrix(right)),
    )
    body: list[Statement] = [
        For(j, (FillMatrix(Matrix(sums, (j,)), 0.0),), "unroll"),
        For(STEP, (load, For(column, columns, "unroll"))),
        *[
            StoreMatrix(Matrix(sums, (const(q),)), c, (WARP_ROW, const(q * SIDE)), (0, 1))
            for q in range(2)
        ],
    ]
    name = f"product_{dtype}_{left_rows:d}{right_rows:d}"
    return Func(name, (a, b, c), (c,), (), bound(body, tx=T), (left, right, sums))


def given(func: Func) -> list[Any]:
    random = np.random.default_rng(0)
    out = []
    for p in func.params:
        values: Any = random.standard_normal([d.attr for d in p.shape])
        out.append(values.astype(NUMPY[p.dtype]))
    return out


KINDS = [(d, x, y) for d in ("f16", "f32") for x in (True, False) for y in (True, False)]


@c_emitter
@pytest.mark.parametrize(("dtype", "left_rows", "right_rows"), [*KINDS, ("bf16", True, False)])
def test_products_are_numpys_and_the_interpreters(
    dtype: str, left_rows: bool, right_rows: bool
) -> None:
    func = product(dtype, left_rows, right_rows)
    a, b, c = given(func)
    interpret(func, a, b, c)
    x, y = a.astype(np.float64), b.astype(np.float64)
    expected = (x if left_rows else x.T) @ (y if right_rows else y.T)
    np.testing.assert_allclose(c, expected, rtol=0, atol=1e-2 if dtype == "f32" else 1e-5)
    for mode in MODES:
        out = np.zeros_like(c)
        build(func, mode)(a, b, out)
        np.testing.assert_array_equal(out, c)


def scaled_rows() -> Func:
    """A warp multiplies each row of a matrix by a number of its own."""
    x, by, y = buffer("X", SIDE, SIDE), buffer("BY", SIDE), buffer("Y", SIDE, SIDE)
    factors = buffer("factors", SIDE, SIDE, scope="shared")
    pair = matrices("accumulator", SIDE, SIDE, "f32", 2)
    value, factor = (Matrix(pair, (const(k),)) for k in range(2))
    j, here = variable("j", 8), (const(0), const(0))
    body: list[Statement] = [
        For(j, (put(factors, (LANE // 2, LANE % 2 * 8 + j), by[LANE // 2]),)),
        Barrier(),
        LoadMatrix(value, x, here, (0, 1)),
        LoadMatrix(factor, factors, here, (0, 1)),
        ScaleMatrix(value, factor),
        StoreMatrix(value, y, here, (0, 1)),
    ]
    return Func("scaled", (x, by, y), (y,), (), bound(body, tx=LANE), (factors, pair))


@c_emitter
def test_rows_are_scaled() -> None:
    func = scaled_rows()
    x, by, y = given(func)
    interpret(func, x, by, y)
    np.testing.assert_array_equal(y, x * by[:, None])
    for mode in MODES:
        out = np.zeros_like(y)
        build(func, mode)(x, by, out)
        np.testing.assert_array_equal(out, y)


@needs_nvcc
def test_products_are_tensor_core_instructions() -> None:
    funcs = [product("f16"), product("bf16", False), product("f32", True, False), scaled_rows()]
    for arch in ("sm_80", "sm_90"):
        reports = ptxas_report([emit_cuda(f) for f in funcs], arch)
        assert [r.spill_bytes for r in reports] == [0, 0, 0, 0]


def test_the_text_names_layout_shape_and_types() -> None:
    body = emit_cuda(product("bf16", False)).body
    load = "wmma.load.a.sync.aligned.col.m16n16k16.global.bf16 {%0, %1, %2, %3}, [place], %5;"
    assert f"{{ .reg .u64 place; cvta.to.global.u64 place, %4; {load} }}" in body
    assert "wmma.mma.sync.aligned.col.row.m16n16k16.f32.bf16.bf16.f32" in body
    body = emit_cuda(product("f32")).body
    assert "wmma.mma.sync.aligned.row.row.m16n16k8.f32.tf32.tf32.f32" in body
    assert "wmma.store.d.sync.aligned.row.m16n16k8.global.f32" in body
    assert emit_cuda(product("f16")).alignment == 32


def test_a_matrix_is_printed_and_its_expressions_replaced() -> None:
    sums = matrices("accumulator", SIDE, SIDE, "f32", 2)
    store = StoreMatrix(Matrix(sums, (STEP,)), buffer("C", M, N), (WARP_ROW, const(0)), (1, 0))
    assert str(store) == "C[t // 32 * 16:+16, 0:+16].T = accumulator[step]".replace(
        "t // 32 * 16", str(WARP_ROW)
    )
    (changed,) = in_statements([store], {STEP: const(1), T: const(40)})
    assert str(changed) == "C[16:+16, 0:+16].T = accumulator[1]"
    assert str(FillMatrix(Matrix(sums, (const(0),)), 0.5)) == "accumulator[0] = fill(0.5)"
    scale = ScaleMatrix(Matrix(sums, (STEP,)), Matrix(sums, (const(0),)))
    assert [str(s) for s in in_statements([scale], {STEP: const(1)})] == [
        "accumulator[1] *= accumulator[0]"
    ]


def _through_shared(*between: Statement, index: Any = (0, 0), flag: Any = None) -> Func:
    """A warp stores a matrix into shared memory, does something, and loads it for a product."""
    tile, c = buffer("tile", SIDE, SIDE, scope="shared"), buffer("C", SIDE, 8)
    sums, left = (
        matrices("accumulator", SIDE, SIDE, "f32"),
        matrices("matrix_a", SIDE, 8, "f32"),
    )
    t = LANE
    at = tuple([i if isinstance(i, Expr) else const(i) for i in index])
    load: Statement = LoadMatrix(Matrix(left), tile, at, (0, 1))
    if flag is not None:
        load = If(t < flag, (load,))
    body = [
        FillMatrix(Matrix(sums), 1.0),
        StoreMatrix(Matrix(sums), tile, (const(0), const(0)), (0, 1)),
        *between,
        load,
        put(c, (t % 16, t // 16), tile[t % 16, 0]),
    ]
    return Func("through", (c,), (c,), (), bound(body, tx=t), (tile, sums, left))


@c_emitter
def test_a_warp_waits_for_what_it_stored_itself() -> None:
    """Another thread of the warp may load an element than the one that stored it."""
    c = np.zeros((SIDE, 8), np.float32)
    build(_through_shared(Barrier()), "checked")(c)
    assert c[:, :2].tolist() == [[1.0, 1.0]] * SIDE
    expected = (
        r"a race on shared tile: f32\[16, 16\] at \[0, 0\]: nothing orders\n"
        r"  warp 0 of block \(0, 0, 0\), which writes it: tile\[0:\+16, 0:\+16\] = accumulator\[\]\n"
        r"  warp 0 of block \(0, 0, 0\), which reads it: matrix_a\[\] = tile\[0:\+16, 0:\+8\]"
    )
    with pytest.raises(DataRace, match=expected):
        build(_through_shared(), "checked")(c)


@c_emitter
def test_a_warp_is_whole_and_at_one_place() -> None:
    c = np.zeros((SIDE, 8), np.float32)
    half = _through_shared(Barrier(), flag=16)
    with pytest.raises(Race, match="16 of 32 threads of t reach "):
        interpret(half, c)
    with pytest.raises(Divergence, match=r"thread \(0, 0, 0\) .* reaches matrix_a\[\] = tile"):
        build(half, "checked")(c)
    apart = _through_shared(Barrier(), index=(0, LANE // 16 * 8))
    with pytest.raises(Race, match="the threads of a warp are not at one place"):
        interpret(apart, c)
    with pytest.raises(Divergence, match=r"\(0, 0, 0\) .* and thread \(16, 0, 0\) .* not at one"):
        build(apart, "checked")(c)


def test_what_no_tensor_core_takes_is_refused() -> None:
    half, wide = matrices("matrix_a", 16, 16, "f16"), matrices("matrix_b", 8, 16, "f32")
    sums = matrices("accumulator", 16, 16, "f32")
    with pytest.raises(ExpressionError, match=r"accumulator a: f16\[16, 16\]: no such matrix"):
        Matrix(Buffer("a", half.shape, "f16", "accumulator"))
    with pytest.raises(ExpressionError, match="is not one matrix of a warp"):
        Matrix(half, (const(1),))
    with pytest.raises(ExpressionError, match="not an accumulator, a matrix_a and a matrix_b"):
        MultiplyAdd(Matrix(sums), Matrix(half), Matrix(wide))
    with pytest.raises(ExpressionError, match="not two accumulators"):
        ScaleMatrix(Matrix(sums), Matrix(half))
    with pytest.raises(ExpressionError, match="no box of memory like the matrix"):
        LoadMatrix(Matrix(half), buffer("x", 16, 16), (const(0), const(0)), (0, 1))
    narrow = buffer("x", 16, 20, dtype="f16")
    load = LoadMatrix(Matrix(half), narrow, (const(0), const(0)), (0, 1))
    func = Func("f", (narrow,), (), (), bound([load], tx=T), (half,))
    with pytest.raises(EmitError, match=r"rows of 20 elements not at multiples of 16"):
        emit_cuda(func)
    column = StoreMatrix(Matrix(sums, ()), buffer("y", 16, 16), (const(0), T % 2), (0, 1))
    with pytest.raises(EmitError, match="is not always at a multiple of 32 bytes"):
        emit_cuda(Func("f", (column.memory,), (), (), bound([column], tx=T), (sums,)))
