"""Products of matrices: the loops by their meaning, compiled code by each way, and the choice."""

from __future__ import annotations

import random
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, MissingRule, TensorType
from byparts_kernels_native import blas, choice, make, products
from byparts_kernels_native.matrices import packing, product
from byparts_kernels_native.tilings import Matrices, Tiling, packed_bytes, tiling_of
from byparts_runtime import build
from byparts_tensor_ir.interpret import interpret


def _stored(p: Matrices) -> list[tuple[int, int]]:
    a, b = (p.m, p.k), (p.k, p.n)
    return [a[::-1] if p.transpose_a else a, b[::-1] if p.transpose_b else b, (p.m, p.n)]


def _product(p: Matrices, a: Any, b: Any, c: Any) -> Any:
    y = (a.T if p.transpose_a else a) @ (b.T if p.transpose_b else b)
    return y if p.added is None else c + np.float32(p.added) * y


@given(
    st.tuples(st.integers(0, 20), st.integers(0, 20), st.integers(0, 5)),
    st.tuples(st.booleans(), st.booleans(), st.booleans(), st.sampled_from([None, -0.5])),
    st.tuples(st.integers(1, 7), st.integers(1, 3), *[st.booleans()] * 3),
    st.sampled_from([16, 32, 64]),
)
@settings(deadline=None, max_examples=60)
def test_every_tiling_computes_the_product(
    sizes: Any, flags: Any, tiling: Any, vector_bytes: int
) -> None:
    (m, n, k), (transpose_a, transpose_b, constant_b, added) = sizes, flags
    p = Matrices(m, n, k, "f32", transpose_a, transpose_b, added)
    t = Tiling(*tiling)
    multiply = product(p, t, vector_bytes, constant_b)
    draw = np.random.default_rng(m + 100 * n + 10000 * k)
    a, b, c = (draw.uniform(-1, 1, s).astype(np.float32) for s in _stored(p))
    y, given_b = np.full((m, n), 7, np.float32), b

    if constant_b and packed_bytes(p, t, vector_bytes):
        pack = packing(p, t, vector_bytes)
        given_b = np.zeros([d.attr for d in pack.params[1].shape], np.float32)
        assert given_b.nbytes == packed_bytes(p, t, vector_bytes)
        interpret(pack, b, given_b)
    interpret(multiply, a, given_b, c, y)

    np.testing.assert_allclose(y, _product(p, a, b, c), rtol=1e-5, atol=1e-5)


def _types(draw: random.Random) -> tuple[Any, list[TensorType]]:
    """A product with operands of up to 70 rows and columns, leading axes among them."""
    dtype = draw.choice(["f32", "f64", "i32", "u8"])
    m, n, k = (draw.choice([0, 1, 2, 7, 8, 10, 16, 17, 31, 33, 48, 64, 70]) for _ in range(3))
    op = ops.MatMul(draw.random() < 0.5, draw.random() < 0.5)
    leads = draw.choice(
        [
            ((), ()),
            ((), ()),
            ((3,), ()),
            ((0,), (0,)),
            ((2, 0), (1,)),
            ((2, 3), (3,)),
            ((1,), (2,)),
            ((2,), (2,)),
        ]
    )
    a = (*leads[0], *((k, m) if op.transpose_a else (m, k)))
    b = (*leads[1], *((n, k) if op.transpose_b else (k, n)))
    return op, [TensorType(dtype, a), TensorType(dtype, b)]


def _array(t: TensorType, seed: int) -> Any:
    dtype = t.dtype.replace("f", "float").replace("i", "int").replace("u8", "uint8")
    values = np.random.default_rng(seed).uniform(-9, 9, t.dims)
    return values.astype(np.int64).astype(dtype) if "int" in dtype else values.astype(dtype)


@pytest.mark.parametrize("way", ["rule", "own", "openblas"])
def test_every_way_computes_what_numpy_does(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For each way forced; operands that are constants are packed."""
    monkeypatch.setenv("BYPARTS_MEASURE", "0")
    if way != "rule":
        of = {"own": lambda p, c: [products._own(p, c)], "openblas": _by_library}
        monkeypatch.setattr(products, "_ways", of[way])
    draw, backend, todo = random.Random(way), make(), []
    for i in range(40):
        op, types = _types(draw)
        constants = frozenset({1}) if i % 4 == 0 else frozenset()
        p = products._product(op, *types)
        todo.append((op, types, products.kernel(p, 1 in constants)))
    for op, types, kernel in todo:
        a, b = (_array(t, i) for i, t in enumerate(types))
        (want,) = op.evaluate(a, b)
        y = np.full(want.shape, 7, want.dtype)
        blocks = [
            np.zeros(n + 64, np.uint8) for n in (kernel.workspace_bytes, kernel.persistent_bytes)
        ]
        at = [-(-x.ctypes.data // 64) * 64 for x in blocks]
        kernel.bind([a.ctypes.data, b.ctypes.data], [y.ctypes.data], *at)()
        np.testing.assert_allclose(y, want, rtol=2e-5, atol=2e-4, err_msg=f"{op} {types}")
    assert backend.name == "native"


def test_no_matrices_write_nothing() -> None:
    """A leading axis of extent 0: the loop around the product has no round."""
    types = [TensorType("f32", (2, 0, 4, 3)), TensorType("f32", (1, 4, 5))]
    kernel = products.matmul(ops.MatMul(True, False), types, frozenset())
    a, memory = np.ones(60, np.float32), np.full(60, 7, np.float32)
    kernel.bind([a.ctypes.data, a.ctypes.data], [memory.ctypes.data], 0, 0)()
    np.testing.assert_array_equal(memory, 7)


def _by_library(p: products.Product, constant_b: bool) -> list[products.Way]:
    found = [x for x in blas.libraries() if x.gemm(p.of.dtype)]
    if not found or not p.of.m * p.of.n * p.of.k:
        return [products._own(p, constant_b)]
    return [products._library(p, found[0])]


@pytest.mark.skipif(find_spec("llvmlite") is None, reason="llvmlite is not installed")
def test_without_a_compiler_products_of_two_matrices_are_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BYPARTS_EMITTER", "llvm")
    a, b = Input(TensorType("f32", (9, 20))), Input(TensorType("f32", (20, 35)))
    x, w = _array(a.type, 0), _array(b.type, 1)
    program = build(Graph.of([a, b], [a @ b]), backends=("native", "numpy"))
    np.testing.assert_allclose(program(x, w)[0], x @ w, rtol=2e-5, atol=2e-4)
    assert program.steps[0].backend == "native"
    types = [TensorType("f32", (2, 5, 6)), TensorType("f32", (2, 6, 5))]
    with pytest.raises(MissingRule, match="written in C, and there is no C"):
        products.matmul(ops.MatMul(), types, frozenset())


def test_constant_weights_are_packed_once() -> None:
    x, w = Input(TensorType("f32", (12, 40))), np.linspace(-1, 1, 40 * 30, dtype=np.float32)
    kernel = make().compile(ops.MatMul(), [x.type, TensorType("f32", (40, 30))], frozenset({1}))
    assert kernel.persistent_bytes >= 40 * 30 * 4
    weights = ops.constant(w.reshape(40, 30))
    program = build(Graph.of([x], [x @ weights]), backends=("native", "numpy"))
    given_x = np.random.default_rng(0).uniform(-1, 1, (12, 40)).astype(np.float32)
    for _ in range(2):
        np.testing.assert_allclose(program(given_x)[0], given_x @ w.reshape(40, 30), atol=1e-5)


def test_the_fastest_way_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYPARTS_CACHE", str(tmp_path))
    monkeypatch.delenv("BYPARTS_MEASURE", raising=False)
    calls: list[str] = []
    ways = {"slow": lambda: calls.extend(["slow"] * 10000), "fast": lambda: None}

    assert choice.known("a product") is None
    assert choice.fastest("a product", ways) == "fast"
    measured = len(calls)
    assert choice.fastest("a product", ways) == "fast" and len(calls) == measured
    assert choice.known("a product") == "fast"


@given(
    st.tuples(*[st.integers(1, 4000)] * 3),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["f32", "f64", "i8"]),
    st.sampled_from([16, 32, 64]),
)
def test_a_tile_fits_the_registers(
    sizes: Any, transpose_a: bool, transpose_b: bool, dtype: str, vector_bytes: int
) -> None:
    m, n, k = sizes
    t = tiling_of(Matrices(m, n, k, dtype, transpose_a, transpose_b), vector_bytes)
    assert t.rows * t.vectors < (32 if vector_bytes == 64 else 16)
    assert t.packed or transpose_a == t.swapped or transpose_b != (not t.swapped)
