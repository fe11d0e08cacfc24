"""Half types in what ops are made of: sums of squares and of many, which f16 does not hold."""

from __future__ import annotations

import numpy as np
import pytest
from numeric import Array, present, run, type_of

from byparts_graph_ir import Graph, Input, Node, Op, ShapeError, TensorType
from byparts_opset import (
    Acosh,
    Asinh,
    BatchNorm,
    BatchNormGradient,
    GeluGradient,
    LayerNorm,
    LayerNormGradient,
    LogSoftmax,
    LogSoftmaxGradient,
    Softmax,
    SoftmaxCrossEntropy,
    batch_norm,
)

WIDE = np.resize(np.array([3000, -1000, 500, -3000, 2], np.float16), (700, 2))
ONES = np.ones(2, np.float16)
FLAT = np.zeros((1, 70_000), np.float16)
HALF = np.resize(np.array([0, 1], np.float16), FLAT.shape)
CASES: dict[str, tuple[Op, tuple[Array, ...]]] = {
    "batch norm": (BatchNorm(1), (WIDE, ONES, ONES)),
    "batch norm of small numbers": (BatchNorm(1), (WIDE / 8192, ONES, ONES)),
    "layer norm": (LayerNorm(1), (WIDE, ONES, ONES)),
    "softmax": (Softmax(-1), (FLAT,)),
    "log softmax": (LogSoftmax(-1), (FLAT,)),
    "gradient of log softmax": (LogSoftmaxGradient(-1), (FLAT + 1, FLAT - np.float16(11))),
    "cross entropy": (SoftmaxCrossEntropy(), (FLAT, HALF * np.float16(2e-5))),
    "gradient of gelu": (GeluGradient(True), (ONES, np.array([6000, -6000], np.float16))),
    "asinh": (Asinh(), (WIDE,)),
    "acosh": (Acosh(), (np.abs(WIDE),)),
}


@pytest.mark.parametrize("name", CASES)
def test_decompositions_of_half_types_compute_in_f32(name: str) -> None:
    """As `evaluate` does, which rounds once."""
    op, arrays = CASES[name]
    inputs = [Input(type_of(a)) for a in arrays]
    found = run(Graph.of(inputs, present(op.decompose(*inputs))), *arrays)

    for want, got in zip(op.evaluate(*arrays), found, strict=True):
        assert np.isfinite(got).all()
        scale = np.abs(want).max() + 1e-9
        np.testing.assert_allclose(got / scale, want / scale, atol=2e-3)
        assert got.dtype == want.dtype


@pytest.mark.parametrize("op", [BatchNorm(1), LayerNorm(2)])
def test_gradients_of_normalisations_of_large_halves(op: Op) -> None:
    """The variance is 5 million: in f16 it was infinite, and the gradient of x 0."""
    ones = ONES if isinstance(op, BatchNorm) else np.ones_like(WIDE)
    inputs = [Input(type_of(a)) for a in (WIDE, ones, ones)]
    node = Node(op, tuple(inputs))
    weights = np.resize(np.array([1, -2, 3], np.float16), WIDE.shape)
    heads = [Input(v.type) for v in node.outputs]
    zeros = [np.zeros(v.type.dims, np.float32) for v in heads[1:]]
    slopes = [present(g) for g in op.gradient(node, *heads)]
    graph = Graph.of((*inputs, *heads), [slopes[0] * 1024.0, node.outputs[2]])
    dx, variance = run(graph, WIDE, ones, ones, weights, *zeros)

    assert variance.dtype == np.float32
    assert np.isfinite(variance).all()
    assert np.abs(dx).max() > 0.1


@pytest.mark.parametrize("op", [BatchNormGradient(1), LayerNormGradient(1)])
def test_statistics_of_half_types_are_f32(op: Op) -> None:
    """Of another type they are refused."""
    x, c = TensorType("f16", (4, 2)), TensorType("f16", (2,))
    rows = TensorType("f16", (4, 1)) if isinstance(op, LayerNormGradient) else c

    with pytest.raises(ShapeError, match=r"dtypes differ: f32.* and f16|f32\[.*f16\["):
        op.infer(x, c, rows, rows, x)


def test_batch_norm_of_halves_gives_f32_statistics() -> None:
    """The result stays a half."""
    x, c = Input(TensorType("bf16", (4, 2))), Input(TensorType("bf16", (2,)))

    assert [v.type.dtype for v in batch_norm(x, c, c)] == ["bf16", "f32", "f32"]
