"""Sums whose rounds are parted among threads of a GPU, beside another sum of the region."""

from __future__ import annotations

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType
from byparts_opset.evaluate import evaluate
from byparts_runtime import build


@pytest.mark.parametrize("columns", [5, 3])
@pytest.mark.parametrize("rows", [2, 4, 5, 6, 7, 8, 9, 13])
def test_every_round_is_added_once(
    rows: int, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one whole part and a rest, with several, and without a rest."""
    monkeypatch.setenv("BYPARTS_CUDA", "emulated")
    a, c = (Input(TensorType("f64", (rows, columns)), name=name) for name in "ac")
    b = Input(TensorType("f64", (columns, rows)), name="b")
    losses = ops.softmax_cross_entropy(ops.transpose(a, (1, 0)), b)
    graph = Graph.of([a, b, c], [ops.sum(a * c, 1), losses])
    numbers = np.random.default_rng(rows)
    arrays = [numbers.standard_normal(v.type.dims) for v in graph.inputs]

    results = build(graph, backends=("cuda", "numpy"))(*arrays)

    for result, wanted in zip(results, evaluate(graph, *arrays), strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-12, atol=1e-12)
