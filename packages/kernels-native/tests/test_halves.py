"""f16, bf16 and i4: rounded once an op, whatever is fused; added up in f32; wrapped."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Fused, Graph, Input, Kernel, TensorType, Value
from byparts_kernels_native import make
from byparts_opset.dtypes import numpy_dtype
from byparts_opset.evaluate import evaluate
from byparts_runtime import Program, build
from byparts_tensor_ir.target import has

pytest.importorskip("ml_dtypes")
pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)
each_half = pytest.mark.parametrize("half", ["f16", "bf16"])
ULP = {"f16": 2.0**-10, "bf16": 2.0**-7}


def _input(dtype: str, *dims: int) -> Input:
    return Input(TensorType(dtype, dims))


def _program(graph: Graph) -> Program:
    program = build(graph, backends=("native",))
    assert {s.backend for s in program.steps} == {"native"}
    return program


def _arrays(graph: Graph) -> list[Any]:
    random = np.random.default_rng(1)
    return [
        random.normal(0, 1.5, v.type.dims).astype(numpy_dtype(v.type.dtype)) for v in graph.inputs
    ]


def _bits(x: Any) -> Any:
    return np.where(np.isnan(x), 0x7FFF, x.view(np.uint16))


@each_half
def test_what_is_fused_changes_no_bit(half: str) -> None:
    """Each op by itself, and all of them in one region, as `evaluate` has it: exact ops, sums."""
    x, w = _input(half, 7, 33), _input(half, 33)
    y = ops.relu(x * w + 0.3) - ops.square(x)
    z = ops.select(y > w, y / (ops.abs(x) + 1.0), -y)
    graph = Graph.of([x, w], [z, y, ops.max(z, -1), ops.minimum(y, z)])
    fused = _program(graph)
    assert any(isinstance(s.node.op, Fused) for s in fused.steps)
    arrays = _arrays(graph)
    wanted = evaluate(graph, *arrays)
    for got, want in zip(fused(*arrays), wanted, strict=True):
        np.testing.assert_array_equal(_bits(got), _bits(want))


@each_half
def test_the_greatest_is_found_where_it_was_taken(half: str) -> None:
    """The gradient of a maximum compares: what was rounded must be what is read again."""
    x = _input(half, 5, 40)
    h = ops.tanh(x * 0.7)
    (dx,) = gradients(ops.sum(ops.max(h, -1)), [h])
    graph = Graph.of([x], [dx])
    (got,) = _program(graph)(*_arrays(graph))
    np.testing.assert_array_equal((np.asarray(got, np.float32) != 0).sum(-1) > 0, [True] * 5)


@each_half
@pytest.mark.parametrize(
    ("m", "k", "n"), [(1, 300, 50), (50, 300, 1), (9, 300, 17), (64, 257, 70), (3, 4, 5)]
)
def test_products_add_up_in_f32(half: str, m: int, k: int, n: int) -> None:
    """Of ones: a sum that is rounded at each step stops growing.  Either operand transposed."""
    inputs, products = [], []
    for flags in ((False, False), (True, False), (False, True), (True, True)):
        a, b = (
            _input(half, *dims[:: -1 if flip else 1])
            for dims, flip in zip(((m, k), (k, n)), flags, strict=True)
        )
        inputs += [a, b]
        products.append(ops.MatMul(*flags)(a, b))
    graph = Graph.of(inputs, products)
    program, arrays = _program(graph), _arrays(graph)
    for ones in program(*[np.ones_like(a) for a in arrays]):
        assert np.asarray(ones, float).tolist() == [[float(numpy_dtype(half).type(k))] * n] * m
    for got, want in zip(program(*arrays), evaluate(graph, *arrays), strict=True):
        apart = np.abs(np.asarray(got, float) - np.asarray(want, float))
        assert apart.max() <= ULP[half] * np.abs(np.asarray(want, float)).max()


_BUILT: dict[str, Callable[[str], Graph]] = {}


def _graph(make: Callable[[str], Graph]) -> Callable[[str], Graph]:
    _BUILT[make.__name__.strip("_")] = make
    return make


@_graph
def _convolution(half: str) -> Graph:
    x, w = _input(half, 2, 5, 9, 9), _input(half, 6, 5, 3, 3)
    y = ops.conv2d(x, w, padding="SAME")
    return Graph.of([x, w], [y, *gradients(ops.sum(y * y), [x, w])])


@_graph
def _attention(half: str) -> Graph:
    q, k, v = (_input(half, 2, 11, 8) for _ in range(3))
    y = ops.attention(q, k, v, causal=True)
    return Graph.of([q, k, v], [y, *gradients(ops.sum(y * y), [q, k, v])])


@_graph
def _norm(half: str) -> Graph:
    x, scale, shift = _input(half, 6, 40), _input(half, 40), _input(half, 40)
    y = ops.layer_norm(x, scale, shift)
    return Graph.of([x, scale, shift], [y, *gradients(ops.sum(y * y), [x, scale, shift])])


@_graph
def _running(half: str) -> Graph:
    x = _input(half, 3, 70)
    return Graph.of([x], [ops.cumsum(x, 1), ops.mean(x, 1), ops.softmax(x, -1)])


@each_half
@pytest.mark.parametrize("name", _BUILT)
def test_others_add_up_in_f32(name: str, half: str) -> None:
    """Two units of the last place of the largest."""
    graph = _BUILT[name](half)
    arrays = _arrays(graph)
    for got, want in zip(_program(graph)(*arrays), evaluate(graph, *arrays), strict=True):
        exact, wanted = np.asarray(got, float), np.asarray(want, float)
        assert np.abs(exact - wanted).max() <= 3 * ULP[half] * max(1, np.abs(wanted).max())


def test_moves_keep_all_bits() -> None:
    """Of NaNs that signal, too: no conversion quiets them."""
    x = _input("f16", 64, 32)
    graph = Graph.of([x], [ops.pad(ops.transpose(x, (1, 0)), ((0, 1), (2, 0)), 0.5)])
    bits = np.arange(0x7400, 0x7C00, dtype=np.uint16).reshape(64, 32) + 0x400
    (y,) = _program(graph)(bits.view(np.float16))
    assert y.view(np.uint16)[:-1, 2:].tolist() == bits.T.tolist()
    assert y[-1, 0] == y[3, 1] == 0.5


def test_i4_wraps() -> None:
    x, y = _input("i4", 16, 16), _input("i4", 16, 16)
    results: list[Value] = [x + y, x * y, x - y, ops.maximum(x, y), ops.sum(x * y, 0)]
    results += [ops.cast(x, "f32") * 0.5, ops.less(x, y), ops.matmul(x, y)]
    graph = Graph.of([x, y], results)
    numbers = np.arange(-8, 8)
    a, b = (m.astype(numpy_dtype("i4")) for m in np.meshgrid(numbers, numbers))
    for got, want in zip(_program(graph)(a, b), evaluate(graph, a, b), strict=True):
        assert np.asarray(got, float).tolist() == np.asarray(want, float).tolist()


_no_dots = pytest.mark.skipif(not has("avx512_bf16"), reason="no AVX512_BF16")


@_no_dots
@pytest.mark.parametrize(("m", "k", "n"), [(8, 7, 9), (12, 32, 32), (25, 33, 70), (13, 1, 33)])
def test_dot_products_of_pairs_where_they_are_asked_for(
    m: int, k: int, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Odd depths, tiles with few rows, panels with few columns; with a sum; b packed once."""
    monkeypatch.setenv("BYPARTS_BF16_DOTS", "1")
    monkeypatch.setenv("BYPARTS_TARGET", "avx512")
    monkeypatch.setenv("BYPARTS_EMITTER", "c")
    for arrays, want, kernel in list(_products(m, k, n)):  # all are made before one is compiled
        assert "dpbf16" in kernel.source
        got = np.zeros_like(want)
        space = [np.zeros(b + 64, np.uint8) for b in _sizes(kernel)]
        at = [a.ctypes.data for a in arrays]
        kernel.bind(at, [got.ctypes.data], *[-(-s.ctypes.data // 64) * 64 for s in space])()
        apart = np.abs(np.asarray(got, float) - np.asarray(want, float))
        assert apart.max() <= ULP["bf16"] * np.abs(np.asarray(want, float)).max()


def _products(m: int, k: int, n: int) -> Iterator[tuple[list[Any], Any, Kernel]]:
    """Inputs, the right result, a kernel: of each product, with a sum or not, b constant or not."""
    backend = make()
    for flips in ((False, False), (True, False), (False, True), (True, True)):
        shapes = [dims[:: -1 if f else 1] for dims, f in zip(((m, k), (k, n)), flips, strict=True)]
        types = [TensorType("bf16", s) for s in ((m, n), *shapes)]
        for op, given in ((ops.MatMul(*flips), types[1:]), (ops.AddMatmul(*flips, -0.5), types)):
            graph = Graph.of(inputs := [Input(t) for t in given], [op(*inputs)])
            arrays = _arrays(graph)
            (want,) = evaluate(graph, *arrays)
            for constants in (frozenset[int](), frozenset({len(given) - 1})):
                yield arrays, want, backend.compile(op, given, constants)


def _sizes(kernel: Kernel) -> tuple[int, int]:
    return kernel.workspace_bytes, kernel.persistent_bytes


def test_dot_products_are_not_used_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BYPARTS_BF16_DOTS", raising=False)
    types = [TensorType("bf16", (16, 16))] * 2
    assert "dpbf16" not in make().compile(ops.MatMul(), types).source
