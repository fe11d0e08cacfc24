"""Several products of matrices as one, against `evaluate`."""

from __future__ import annotations

from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType, Value
from byparts_kernels_native.grouped import grouped
from byparts_opset.evaluate import evaluate


def _input(*dims: int) -> Input:
    return Input(TensorType("f32", dims))


def _products(graph: Graph) -> list[Any]:
    return [n for n in graph.nodes if isinstance(n.op, ops.MatMul)]


def _checked(graph: Graph) -> Graph:
    """The grouped graph, which computes the same."""
    random = np.random.default_rng(0)
    arrays = [random.uniform(-1, 1, v.type.dims).astype(np.float32) for v in graph.inputs]
    after = grouped(graph)
    for got, wanted in zip(evaluate(after, *arrays), evaluate(graph, *arrays), strict=True):
        np.testing.assert_allclose(got, wanted, 1e-4, 1e-5)
    return after


def test_a_sum_of_thin_products_is_few_products() -> None:
    """Sixteen have operands as large as the result together; so they are two."""
    xs, ys = [[_input(2, 64) for _ in range(18)] for _ in range(2)]
    first = _input(64, 64)
    total: Value = first
    for x, y in zip(xs, ys, strict=True):
        total = total + ops.MatMul(transpose_a=True)(x, y)
    after = _checked(Graph.of([first, *xs, *ys], [ops.relu(total)]))
    assert [n.inputs[0].type.dims for n in _products(after)] == [(32, 64), (4, 64)]


def test_a_product_is_computed_where_its_operands_are_made() -> None:
    """Not at the end of the sum: what they need would be alive until then."""
    start, w = _input(8, 64), _input(8, 64)
    x: Value = start
    total: Value = ops.MatMul(transpose_a=True)(x, w)
    for _ in range(12):
        x = ops.tanh(x)
        total = total + ops.MatMul(transpose_a=True)(x, w)
    nodes = _checked(Graph.of([start, w], [total])).nodes
    places = [i for i, n in enumerate(nodes) if isinstance(n.op, ops.MatMul)]
    assert places[0] < len(nodes) // 2


def test_products_that_others_read_stay() -> None:
    x, y = _input(2, 64), _input(2, 64)
    p, q = ops.MatMul(transpose_a=True)(x, y), ops.MatMul(transpose_a=True)(y, x)
    assert len(_products(_checked(Graph.of([x, y], [p + q, ops.relu(p)])))) == 2


def test_rows_of_an_input_by_one_weight_are_one_product() -> None:
    x, w = _input(6, 4, 8), _input(8, 16)
    parts = [ops.squeeze(part, 0) @ w for part in ops.split(x, (1,) * 6, 0)]
    after = _checked(Graph.of([x, w], [ops.tanh(p) for p in parts]))
    assert [n.inputs[0].type.dims for n in _products(after)] == [(24, 8)]


def test_rows_that_depend_on_each_other_stay_apart() -> None:
    x, w = _input(4, 8), _input(8, 8)
    assert len(_products(_checked(Graph.of([x, w], [ops.tanh(x @ w) @ w])))) == 2
