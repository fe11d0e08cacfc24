"""Attention and its gradient, emulated and by their meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulation import assert_computes, assert_emulated, compiled

import byparts_opset as ops
from byparts_gpu_ir.emit.emulated import MODES
from byparts_gpu_ir.launches import Launches
from byparts_graph_ir import Refused, TensorType
from byparts_kernels_cuda.attention.backward import attention_gradient_launches
from byparts_kernels_cuda.attention.forward import attention_launches
from byparts_kernels_cuda.attention.sizes import BLOCKS, MOST_SHARED_BYTES, sizes_of
from byparts_kernels_cuda.attention.team import Block
from byparts_opset.dtypes import numpy_dtype, type_of
from byparts_tensor_ir.expression import BYTES
from byparts_tensor_ir.matrix import MultiplyAdd
from byparts_tensor_ir.statement import walk

bfloat16 = numpy_dtype("bf16")
Case = tuple[tuple[int, ...], int, int, int, int]  # leading axes, queries, keys, widths of k and v
SMALL: tuple[Case, ...] = (
    ((2,), 3, 5, 4, 6),
    ((), 4, 4, 3, 3),
    ((2, 2), 2, 3, 4, 4),
    ((1,), 4, 2, 2, 3),
    ((0,), 3, 2, 2, 2),
)
LARGE: tuple[Case, ...] = (
    ((2,), 70, 90, 16, 24),
    ((), 66, 130, 64, 64),
    ((1,), 33, 65, 80, 40),
    ((), 3, 130, 1, 2),
    ((), 20, 20, 256, 256),
)

LARGE_OF_HALVES: tuple[Case, ...] = (
    ((2,), 70, 90, 16, 48),
    ((), 66, 130, 128, 128),
    ((1,), 3, 33, 80, 64),
)


def _given(case: Case, dtype: Any = np.float32) -> list[Any]:
    """q, k, v."""
    lead, s, t, d, e = case
    draw = np.random.default_rng(0)
    shapes = ((s, d), (t, d), (t, e))
    return [draw.normal(size=(*lead, *x)).astype(dtype) for x in shapes]


def _types(arrays: Any) -> list[TensorType]:
    return [type_of(a) for a in arrays]


def _of_gradient(case: Case, op: Any, dtype: Any = np.float32) -> list[Any]:
    """dy, q, k, v, y, logsumexp."""
    q, k, v = _given(case, dtype)
    y, logarithms = ops.Attention(op.causal, op.scale).evaluate(q, k, v)
    return [np.random.default_rng(1).normal(size=y.shape).astype(dtype), q, k, v, y, logarithms]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("case", SMALL, ids=str)
@compiled
def test_small_attention_is_emulated(case: Case, causal: bool) -> None:
    op = ops.Attention(causal, 0.5)
    given = _given(case)
    assert_emulated(op, attention_launches(op, _types(given)), given, 5)

    back = ops.AttentionGradient(causal, 0.5)
    more = _of_gradient(case, back)
    assert_emulated(back, attention_gradient_launches(back, _types(more)), more, 5)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("case", LARGE, ids=str)
@pytest.mark.long
@compiled
def test_large_attention_is_emulated(case: Case, causal: bool) -> None:
    """Several tiles of queries and of keys, edges on both sides, wide lines."""
    op = ops.Attention(causal)
    given = _given(case)
    assert_emulated(op, attention_launches(op, _types(given)), given, 5, MODES)

    back = ops.AttentionGradient(causal)
    more = _of_gradient(case, back)
    launches = attention_gradient_launches(back, _types(more))
    assert_emulated(back, launches, more, 5, MODES)


@pytest.mark.parametrize(("dtype", "digits"), [(np.float64, 12), (np.float16, 2)])
@compiled
def test_other_floats_are_emulated(dtype: Any, digits: int) -> None:
    op, case = ops.Attention(True), ((), 40, 70, 8, 12)
    given = _given(case, dtype)
    assert_emulated(op, attention_launches(op, _types(given)), given, digits)

    back = ops.AttentionGradient(True)
    more = _of_gradient(case, back, dtype)
    assert_emulated(back, attention_gradient_launches(back, _types(more)), more, digits)


@pytest.mark.parametrize("dtype", [np.float16, pytest.param(bfloat16, marks=pytest.mark.long)])
@compiled
def test_matrix_units_multiply_halves(dtype: Any) -> None:
    """One warp, two tiles along every axis."""
    block, case = Block(1, 4, 2, matrices=True), ((), 20, 24, 32, 48)
    op, given = ops.Attention(True), _given(case, dtype)
    launches = attention_launches(op, _types(given), block)
    assert _multiplies_matrices(launches)
    assert_emulated(op, launches, given, 2)

    back = ops.AttentionGradient(True)
    more = _of_gradient(case, back, dtype)
    launches = attention_gradient_launches(back, _types(more), block)
    assert_emulated(back, launches, more, 2 if dtype == np.float16 else 1)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("case", LARGE_OF_HALVES, ids=str)
@pytest.mark.long
@compiled
def test_large_attention_of_halves_is_emulated(case: Case, causal: bool) -> None:
    op, given = ops.Attention(causal), _given(case, np.float16)
    launches = attention_launches(op, _types(given))
    assert _multiplies_matrices(launches)
    assert_emulated(op, launches, given, 2, MODES)

    back = ops.AttentionGradient(causal)
    more = _of_gradient(case, back, np.float16)
    assert_emulated(back, attention_gradient_launches(back, _types(more)), more, 2, MODES)


@pytest.mark.parametrize(
    ("dtype", "width", "fits"),
    [("f16", 16, True), ("bf16", 128, True), ("f16", 24, False), ("f16", 144, False)],
)
def test_matrix_units_take_halves_of_whole_matrices(dtype: str, width: int, fits: bool) -> None:
    q = TensorType(dtype, (2, 40, width))
    launches = attention_launches(ops.Attention(), [q] * 3)
    assert _multiplies_matrices(launches) == fits
    shared = [b for b in launches.kernels[0].locals if b.scope == "shared"]
    assert sum(int(b.size.attr) * BYTES[b.dtype] for b in shared) <= MOST_SHARED_BYTES


def _multiplies_matrices(launches: Launches) -> bool:
    return any(isinstance(s, MultiplyAdd) for s in walk(launches.kernels[-1].body))


def test_tiles_by_their_meaning() -> None:
    """Several of one warp, under a mask."""
    op, given = ops.Attention(True), _given(((), 6, 11, 3, 2))
    assert_computes(op, attention_launches(op, _types(given), Block(1, 1, 1)), given, 5)


@compiled
def test_nothing_comes_of_no_queries() -> None:
    """Then dk and dv are 0, and written."""
    back = ops.AttentionGradient()
    more = _of_gradient(((2,), 0, 3, 2, 2), back)
    launches = attention_gradient_launches(back, _types(more))

    assert len(launches.kernels) == 1
    assert_emulated(back, launches, more)


def test_blocks_fit_into_shared_memory() -> None:
    for width in (1, 64, 128, 256):
        q = TensorType("f32", (1, 512, width))
        for tile in attention_launches(ops.Attention(), [q] * 3).kernels[0].locals:
            assert tile.scope != "shared" or int(tile.size.attr) * 4 < MOST_SHARED_BYTES
    assert BLOCKS[0].tile_bytes(BLOCKS[0].rows, 64, "f32") == 64 * 68 * 4


def test_what_no_tile_holds_is_refused() -> None:
    wide = TensorType("f32", (1, 8, 4096))
    with pytest.raises(Refused, match="attention of lines of 4096 and 4096 f32: no tiles are so"):
        attention_launches(ops.Attention(), [wide] * 3)
    with pytest.raises(Refused, match="only of floats, and of at least one element a line"):
        sizes_of(ops.Attention(), [TensorType("f32", (2, 3)), *[TensorType("f32", (0, 3))] * 2])
