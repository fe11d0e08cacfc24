"""Products of matrices: every tile and every form by the meaning of its statements."""

from __future__ import annotations

from typing import Any

import pytest
from emulation import assert_computes, assert_emulated, compiled, samples
from hypothesis import given, settings, strategies as st

import byparts_opset as ops
from byparts_gpu_ir.emit.emulated import MODES
from byparts_graph_ir import Refused, TensorType
from byparts_kernels_cuda.products.matmul import add_matmul_launches, contraction, matmul_launches
from byparts_kernels_cuda.products.narrow import narrow
from byparts_kernels_cuda.products.tiles import (
    TILES,
    TILES_OF_8_BYTES,
    TILES_OF_HALVES,
    Tile,
    WarpTile,
    parts,
    tile_of,
)

# Of one warp, so that the interpreter has something to do in reasonable time.
SMALL = (Tile(16, 16, 4, 4, 2), Tile(8, 32, 4, 2, 4), Tile(32, 8, 8, 8, 1))
EXTENTS = st.sampled_from([1, 2, 4, 7, 8, 12, 17, 20])
NO_LEADS: Any = ((), ())
LEADS = (NO_LEADS, ((2,), ()), ((2, 1), (3,)), ((1,), (2,)), ((2,), (2,)))


def _types(
    op: Any, m: int, k: int, n: int, leads: Any = ((), ()), dtype: str = "f32"
) -> list[TensorType]:
    a = (*leads[0], *((k, m) if op.transpose_a else (m, k)))
    b = (*leads[1], *((n, k) if op.transpose_b else (k, n)))
    return [TensorType(dtype, a), TensorType(dtype, b)]


@given(
    st.tuples(EXTENTS, st.sampled_from([0, 1, 4, 6, 8, 13]), EXTENTS),
    st.tuples(st.booleans(), st.booleans(), st.sampled_from(LEADS)),
    st.tuples(st.sampled_from(SMALL), st.sampled_from([1, 1, 2, 3])),
    st.sampled_from(["f32", "f64", "i32", "u8", "i64"]),
)
@settings(deadline=None, max_examples=10)
def test_small_tiles_compute_the_product(extents: Any, flags: Any, choice: Any, dtype: str) -> None:
    transpose_a, transpose_b, leads = flags
    op = ops.MatMul(transpose_a, transpose_b)
    m, k, n = extents
    types = _types(op, m, k, n, leads, dtype)

    assert_computes(op, matmul_launches(op, types, choice), samples(types))


@pytest.mark.parametrize(
    ("tile", "dtype"),
    [
        *[(t, "f32") for t in TILES],
        *[(t, "f64") for t in TILES_OF_8_BYTES],
        (TILES[-1], "u8"),
        (TILES[0], "bf16"),
        (TILES[3], "f16"),
    ],
    ids=str,
)
@pytest.mark.long
@compiled
def test_every_tile_is_emulated(tile: Tile, dtype: str) -> None:
    """Edges on all sides, both orders of both operands, whole vectors and single numbers."""
    op = ops.MatMul()
    for m, k, n in ((tile.rows + 4, 2 * tile.depth + 4, tile.columns + 8), (33, 19, 21)):
        types = _types(op, m, k, n, dtype=dtype)
        launches = matmul_launches(op, types, (tile, 1))
        assert_emulated(op, launches, samples(types), modes=MODES)


@pytest.mark.parametrize("tile", TILES_OF_HALVES, ids=str)
@pytest.mark.long
@compiled
def test_every_tile_of_halves_is_emulated(tile: WarpTile) -> None:
    """By the matrix units: all orders of operands, edges, and sums that blocks share."""
    for flags, dtype, splits in (
        *(((False, False), "f16", 1), ((True, False), "bf16", 1)),
        *(((False, True), "bf16", 3), ((True, True), "f16", 3)),
    ):
        op = ops.MatMul(*flags)
        for m, k, n in ((tile.rows + 8, 140, tile.columns + 4), (33, 131, 21)):
            types = _types(op, m, k, n, dtype=dtype)
            launches = matmul_launches(op, types, (tile, splits))
            assert_emulated(op, launches, samples(types), 2, MODES)


@compiled
def test_halves_are_emulated() -> None:
    op = ops.AddMatmul(False, True, 0.5)
    types = [TensorType("bf16", (40,)), *_types(op, 36, 50, 40, dtype="bf16")]
    launches = add_matmul_launches(op, types)

    assert "matrix_a" in str(launches)
    assert_emulated(op, launches, samples(types), 2)


@pytest.mark.parametrize("flags", [(True, False), (False, True), (True, True)])
@compiled
def test_transposed_operands_are_emulated(flags: tuple[bool, bool]) -> None:
    """Chosen as for a program; of a batch, and with sums that blocks share."""
    op = ops.MatMul(*flags)
    for m, k, n, leads in ((70, 36, 40, ((2, 1), (3,))), (24, 1100, 20, NO_LEADS)):
        types = _types(op, m, k, n, leads)
        launches = matmul_launches(op, types)
        assert len(launches.kernels) == 1 + (k > 1000)
        assert_emulated(op, launches, samples(types))


@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize(("m", "k", "n"), [(1, 40, 9), (12, 520, 1), (2, 7, 8), (3, 0, 3)])
@compiled
def test_a_matrix_times_a_few_vectors(m: int, k: int, n: int, transpose_b: bool) -> None:
    """In both orders of memory, and with sums that blocks share."""
    op = ops.MatMul(False, transpose_b)
    types = _types(op, m, k, n)

    assert_emulated(op, matmul_launches(op, types), samples(types))


@pytest.mark.parametrize(
    ("shape", "splits"),
    [((), 1), ((20,), 1), ((20,), 2), ((12, 1), 2), ((2, 12, 1), 1), ((2, 12, 20), 1)],
)
@compiled
def test_something_is_added_to_a_product(shape: tuple[int, ...], splits: int) -> None:
    """What is of the product's own shape is written over."""
    op = ops.AddMatmul(False, True, -0.5)
    types = [TensorType("f32", shape), *_types(op, 12, 9, 20, ((2,), ()))]
    launches = add_matmul_launches(op, types, (SMALL[0], splits))

    assert launches.inplace == (((0, 0),) if shape == (2, 12, 20) else ())
    assert_emulated(op, launches, samples(types))


@compiled
def test_a_narrow_product_is_added_too() -> None:
    op = ops.AddMatmul(False, False, 2.0)
    types = [TensorType("f32", (9,)), *_types(op, 1, 600, 9)]

    assert_emulated(op, add_matmul_launches(op, types), samples(types))


def test_nothing_is_launched_for_no_elements() -> None:
    op = ops.MatMul()
    for types in (_types(op, 0, 3, 4), _types(op, 3, 3, 4, ((0,), (1,)))):
        assert matmul_launches(op, types).kernels == ()


def test_a_dtype_without_kernels_is_refused() -> None:
    with pytest.raises(Refused, match=r"matmul of \(i4\[2,2\], i4\[2,2\]\): no kernels of i4"):
        matmul_launches(ops.MatMul(), [TensorType("i4", (2, 2))] * 2)


def test_large_products_get_large_tiles_and_small_ones_share_sums() -> None:
    assert tile_of(4096, 4096, 4096, 1, "f32") == (TILES[0], 1)
    assert tile_of(4096, 4096, 4096, 1, "f64") == (TILES_OF_8_BYTES[0], 1)
    tile, splits = tile_of(64, 64, 8192, 1, "f32")
    assert tile.rows < 128
    assert splits > 8
    assert parts(100, 8, 4) == (4, 4)
    assert parts(0, 8, 4) == (1, 1)


def test_every_tile_is_of_whole_warps() -> None:
    for tile in (*TILES, *TILES_OF_8_BYTES):
        tall, wide = tile.lanes
        assert tile.threads % (tall * wide) == 0
        assert tall * wide == 32


def test_a_long_sum_of_a_narrow_product_is_shared() -> None:
    c = contraction(ops.MatMul(), *_types(ops.MatMul(), 1, 4096, 16))
    kernels, (part,) = narrow(c)
    assert len(kernels) == 2
    assert int(part.shape[0].attr) > 1
