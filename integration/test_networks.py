"""Networks a person writes: recurrent cells, attention, convolutions, normalisation, dropout.

Each is a graph of standard ops; its gradients are checked against central differences, and the
planned program on NumPy kernels against what the ops mean.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import byparts_opset as ops
from byparts_autodiff import check_gradient, gradients
from byparts_graph_ir import Graph, Input, TensorType, Value, specialize
from byparts_memplan import check_plan, plan
from byparts_opset.evaluate import evaluate
from byparts_runtime import build

Network = Callable[..., Value]
Shapes = dict[str, tuple[int, ...]]


def lstm(x: Value, h: Value, c: Value, wx: Value, wh: Value, b: Value) -> Value:
    """Three steps, unrolled.  x: [time, batch, width]; gates i, f, g, o."""
    for t in range(3):
        i, f, g, o = ops.split(x[t] @ wx + h @ wh + b, 4, 1)
        c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
        h = ops.sigmoid(o) * ops.tanh(c)
    return h


def gru(x: Value, h: Value, w: Value, u: Value, wn: Value, un: Value) -> Value:
    """Two steps of a gated recurrent unit."""
    for t in range(2):
        r, z = ops.split(ops.sigmoid(x[t] @ w + h @ u), 2, 1)
        n = ops.tanh(x[t] @ wn + r * (h @ un))
        h = (1 - z) * n + z * h
    return h


def attention(x: Value, gain: Value, bias: Value, qkv: Value, out: Value) -> Value:
    """A pre-norm causal block of two heads.  x: [batch, time, width]."""
    batch, time, width = x.type.dims
    normal = ops.layer_norm(x, gain, bias)
    parts = ops.split(ops.reshape(normal @ qkv, (batch, time, 6, width // 2)), 3, 2)
    q, k, v = (ops.transpose(p, (0, 2, 1, 3)) for p in parts)
    scores = ops.matmul(q, k, transpose_b=True) * (width // 2) ** -0.5
    ahead = ops.constant(np.triu(np.ones((time, time), bool), 1))
    weights = ops.softmax(ops.where(ahead, -1e9, scores), -1)
    mixed = ops.reshape(ops.transpose(weights @ v, (0, 2, 1, 3)), (batch, time, width))
    return x + ops.gelu(mixed @ out)


def convolutional(x: Value, w1: Value, gamma: Value, beta: Value, w2: Value, dense: Value) -> Value:
    """Convolution, batch norm, pooling both ways, a dilated convolution in groups, log-softmax."""
    y = ops.conv2d(x, w1, padding="SAME", strides=(2, 2))
    y, _, _ = ops.batch_norm(y, gamma, beta, axis=1)
    y = ops.average_pool(ops.softplus(y), (2, 2), (1, 1))
    y = ops.conv2d(y, w2, padding="SAME", dilations=(2, 2), groups=2)
    return ops.log_softmax(ops.flatten(ops.max_pool(y, (2, 2), (2, 2))) @ dense, -1)


def embedding(table: Value, w: Value) -> Value:
    """Rows looked up by number (one of them twice), dropped out by a fixed draw, projected."""
    words = ops.constant(np.array([[0, 3, 1], [3, 2, 0]]), "i64")
    return ops.dropout(ops.gather(table, words), 7, 0, 0.4) @ w


CASES: list[tuple[Network, Shapes]] = [
    (lstm, {"x": (3, 2, 3), "h": (2, 2), "c": (2, 2), "wx": (3, 8), "wh": (2, 8), "b": (8,)}),
    (gru, {"x": (2, 2, 3), "h": (2, 2), "w": (3, 4), "u": (2, 4), "wn": (3, 2), "un": (2, 2)}),
    (attention, {"x": (2, 3, 4), "gain": (4,), "bias": (4,), "qkv": (4, 12), "out": (4, 4)}),
    (
        convolutional,
        {"x": (2, 3, 7, 7), "w1": (4, 3, 3, 3), "gamma": (4,), "beta": (4,)}
        | {"w2": (4, 2, 3, 3), "dense": (4, 3)},
    ),
    (embedding, {"table": (4, 3), "w": (3, 2)}),
]


def made(network: Network, shapes: Shapes, dtype: str) -> Graph:
    inputs = [Input(TensorType(dtype, shape), None, name) for name, shape in shapes.items()]
    return Graph.of(inputs, (network(*inputs),))


def drawn(shapes: Shapes, dtype: str) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.uniform(-1, 1, shape).astype(dtype) for shape in shapes.values()]


@pytest.mark.parametrize(
    ("network", "shapes"), CASES, ids=lambda case: getattr(case, "__name__", "")
)
def test_gradients_agree_with_differences(network: Network, shapes: Shapes) -> None:
    """In f64, for every input."""
    check_gradient(made(network, shapes, "f64"), *drawn(shapes, "float64"))


@pytest.mark.parametrize(
    ("network", "shapes"), CASES, ids=lambda case: getattr(case, "__name__", "")
)
def test_programs_compute_what_they_mean(network: Network, shapes: Shapes) -> None:
    """Forwards and backwards in one plan, in f32."""
    forward = made(network, shapes, "f32")
    loss = ops.sum(forward.outputs[0] * forward.outputs[0])
    graph = specialize(Graph.of(forward.inputs, (loss, *gradients(loss, forward.inputs))))
    check_plan(graph, plan(graph))
    arrays = drawn(shapes, "float32")

    for got, want in zip(build(graph)(*arrays), evaluate(graph, *arrays), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
