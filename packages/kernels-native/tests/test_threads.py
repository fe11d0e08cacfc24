"""Large loops are shared among threads, and compute what one thread computes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import byparts_kernels_native as native
import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Input, TensorType, Value
from byparts_kernels_native import threads
from byparts_op_loops.regions.region import RegionLoops
from byparts_runtime import build
from byparts_tensor_ir.statement import loops
from byparts_tensor_ir.threads import threads as number_of_threads


@pytest.fixture(autouse=True)
def _threads_as_before() -> Iterator[None]:
    before = number_of_threads()
    yield
    native.set_threads(before)


def _sum_of_exponentials(rows: int, columns: int) -> tuple[Value, Graph]:
    x = Input(TensorType("f32", (rows, columns)))
    y = ops.softmax(x, -1)
    return x, Graph.of([x], [y + 1, ops.sum(y * x, 0), ops.gelu(x)])


def test_results_do_not_depend_on_the_number() -> None:
    """Loops over rows and over elements, of which the last piece is smaller, and sums over rows."""
    x, graph = _sum_of_exponentials(301, 333)
    program = build(graph, backends=("native", "numpy"))
    given = np.random.default_rng(0).standard_normal(x.type.dims).astype(np.float32)
    native.set_threads(1)
    wanted = [np.array(y) for y in program(given)]
    for count in (2, 5):
        native.set_threads(count)
        for _ in range(20):
            for y, z in zip(program(given), wanted, strict=True):
                np.testing.assert_array_equal(y, z)


def test_convolutions_do_not_depend_on_the_number() -> None:
    """y and dx, of which threads share the images, and dw, of which they share the channels."""
    x, w = (Input(TensorType("f32", dims)) for dims in ((7, 40, 15, 17), (48, 40, 3, 3)))
    y = ops.conv2d(x, w, padding=((1, 1), (1, 1)))
    dy = Input(y.type)
    dx, dw = gradients([y], [x, w], [dy])
    graph = Graph.of([x, w, dy], [y, dx, dw])
    random = np.random.default_rng(0)
    given = [random.standard_normal(v.type.dims).astype(np.float32) for v in (x, w, dy)]
    results = []
    for count in (1, 2, 5):
        native.set_threads(count)
        program = build(graph, backends=(native.make(), "numpy"))  # compiled for this number
        results.append([np.array(y) for y in program(*given)])
        for y1, y2 in zip(results[0], results[-1], strict=True):
            np.testing.assert_array_equal(y1, y2)
    wanted = [np.array(y) for y in build(graph, backends=("numpy",))(*given)]
    for y1, y2 in zip(results[0], wanted, strict=True):
        np.testing.assert_allclose(y1, y2, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("causal", [False, True])
def test_attention_does_not_depend_on_the_number(causal: bool) -> None:
    """Threads share the leading axes; 5 of them are more than fit evenly."""
    q, k, v = (Input(TensorType("f32", (2, 7, n, 33))) for n in (90, 70, 70))
    y = ops.attention(q, k, v, causal=causal)
    dy = Input(y.type)
    graph = Graph.of([q, k, v, dy], [y, *gradients([y], [q, k, v], [dy])])
    random = np.random.default_rng(0)
    given = [random.standard_normal(v.type.dims).astype(np.float32) for v in graph.inputs]
    results = []
    for count in (1, 3, 5):
        native.set_threads(count)
        program = build(graph, backends=(native.make(), "numpy"))
        results.append([np.array(y) for y in program(*given)])
        for y1, y2 in zip(results[0], results[-1], strict=True):
            np.testing.assert_array_equal(y1, y2)


def test_small_loops_are_not_shared() -> None:
    for size, kinds in ((1 << 8, {"vectorize"}), (1 << 20, {"parallel", "vectorize"})):
        x = Input(TensorType("f32", (size,)))
        func = threads.shared(RegionLoops(Graph.of([x], [ops.exp(x)])).func)
        assert {s.kind for s in loops(func)} == kinds


def test_a_sum_over_rows_is_not_shared() -> None:
    """Its rounds add to the same elements."""
    x = Input(TensorType("f32", (4000, 512)))
    func = threads.shared(RegionLoops(Graph.of([x], [ops.sum(x, 0)])).func)
    assert "parallel" not in {s.kind for s in loops(func) if x.type.dims[0] == s.extent.attr}


def test_a_number_that_is_none() -> None:
    with pytest.raises(ValueError, match=r"set_threads\(0\): at least one thread"):
        native.set_threads(0)


@pytest.mark.parametrize("columns", [50_257, 80_000])
def test_rows_that_the_first_caches_do_not_hold(columns: int) -> None:
    """Exponentials of a row stand on the stack of a thread, or one thread does all rows."""
    x = Input(TensorType("f32", (3, columns)))
    program = build(Graph.of([x], [ops.softmax(x, -1)]), backends=("native", "numpy"))
    given = np.random.default_rng(0).standard_normal(x.type.dims).astype(np.float32)
    exponentials = np.exp(given - given.max(-1, keepdims=True), dtype=np.float64)

    (result,) = program(given)
    wanted = exponentials / exponentials.sum(-1, keepdims=True)
    np.testing.assert_allclose(result, wanted, rtol=2e-6)
