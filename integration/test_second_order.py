"""Gradients of gradients, of programs and of the ops whose gradients are ops of their own."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import byparts_opset as o
from byparts_autodiff import check_gradient, gradients, jvp
from byparts_graph_ir import Graph, Input, TensorType, Value
from byparts_opset.evaluate import evaluate

RANDOM = np.random.default_rng(9)
Function = Callable[..., Value]


def _normal(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape)


LABELS = RANDOM.uniform(0.1, 1, (3, 4))
CASES: dict[str, tuple[Function, Sequence[np.ndarray]]] = {
    "square": (lambda x: x * x * x, [_normal(3)]),
    "exp": (lambda x: o.exp(x * x), [_normal(3)]),
    "matmul": (lambda x, w: (x @ w) * (x @ w), [_normal(2, 3), _normal(3, 2)]),
    "softmax": (lambda x: o.softmax(x, axis=0), [_normal(3, 2)]),
    "log_softmax": (lambda x: o.log_softmax(x) * o.log_softmax(x), [_normal(2, 3)]),
    "cross_entropy": (o.softmax_cross_entropy, [_normal(3, 4), LABELS]),
    "sparse_cross_entropy": (
        lambda x: o.sparse_softmax_cross_entropy(x, o.constant(np.array([0, 3, 1]))),
        [_normal(3, 4)],
    ),
    "batch_norm": (lambda *v: o.batch_norm(*v)[0], [_normal(4, 2), _normal(2), _normal(2)]),
    "batch_norm_4d": (
        lambda x, g, b: o.batch_norm(x, g, b, axis=3)[0],
        [_normal(2, 2, 2, 2), _normal(2), _normal(2)],
    ),
    "batch_norm_statistics": (
        lambda *v: o.batch_norm(*v)[1] * o.batch_norm(*v)[2],
        [_normal(4, 2), _normal(2), _normal(2)],
    ),
    "layer_norm": (o.layer_norm, [_normal(2, 3), _normal(3), _normal(3)]),
    "tanh": (lambda x: o.tanh(x * x), [_normal(3)]),
    "sigmoid": (lambda x: o.sigmoid(x * x), [_normal(3)]),
    "relu": (lambda x: o.relu(x) * x, [np.array([-1.0, 0.5, 2])]),
    "silu": (lambda x: o.silu(x * x), [_normal(3)]),
    "gelu": (lambda x: o.gelu(x * x), [_normal(3)]),
    "gelu_by_tanh": (lambda x: o.gelu(x * x, approximate=True), [_normal(3)]),
    "attention": (o.attention, [_normal(2, 2, 3), _normal(2, 4, 3), _normal(2, 4, 2)]),
    "causal_attention": (
        lambda q, k, v: o.attention(q, k, v, causal=True),
        [_normal(3, 2), _normal(3, 2), _normal(3, 2)],
    ),
    "scatter": (  # two updates of one place, of which the first has no part in the result
        lambda x, u: o.square(o.scatter(x * x, o.constant(np.array([2, 0, 2])), u * u, 1)),
        [_normal(2, 3), _normal(2, 3)],
    ),
    "dropout": (lambda x: o.dropout(x * x, 1, 2, 0.3), [_normal(5)]),
}


OPEN = (
    *("softmax", "cross_entropy", "batch_norm", "layer_norm", "gelu", "log_softmax"),
    *("attention", "causal_attention", "scatter"),
)


@pytest.mark.parametrize("name", CASES)
def test_second_order(name: str) -> None:
    """The gradient of sum(weights * gradients), against central differences of the gradients."""
    function, arrays = CASES[name]

    def first(*xs: Value) -> tuple[Value, ...]:
        y = function(*xs)
        return gradients(y * y, xs)

    check_gradient(first, *arrays, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", OPEN)
def test_second_order_of_a_batch_that_is_not_known(name: str) -> None:
    """The same where the first dimension of the data is open."""
    function, arrays = CASES[name]
    types = [TensorType("f64", a.shape) for a in arrays]
    types[0] = TensorType("f64", ("n", *arrays[0].shape[1:]))
    inputs = [Input(t) for t in types]
    y = function(*inputs)

    check_gradient(Graph.of(inputs, gradients(y * y, inputs)), *arrays, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_forward_mode_agrees_with_reverse(name: str) -> None:
    """dy . (J t) = (dy J) . t, with J t built by differentiating the reverse sweep."""
    function, arrays = CASES[name]
    inputs = [Input(TensorType("f64", a.shape)) for a in arrays]
    tangents = [Input(TensorType("f64", a.shape)) for a in arrays]
    y = function(*inputs)
    (forward,) = jvp([y], inputs, tangents)
    back = gradients(y, inputs)
    graph = Graph.of([*inputs, *tangents], [forward, *back])
    along = [_normal(*a.shape) for a in arrays]

    moved, *slopes = evaluate(graph, *arrays, *along)

    expected = sum((s * t).sum() for s, t in zip(slopes, along, strict=True))
    np.testing.assert_allclose(moved.sum(), expected, rtol=1e-9, atol=1e-12)


def test_third_order_of_softmax() -> None:
    """Once more."""
    x = _normal(3)

    def second(v: Value) -> Value:
        (first,) = gradients(o.softmax(v) * o.constant(np.arange(3.0)), [v])
        return gradients(first * first, [v])[0]

    check_gradient(second, x, rtol=1e-5)


def test_a_training_gradient_carries_nothing_for_unused_statistics() -> None:
    """Nobody differentiates mean and variance, so the gradient is one op."""
    x, c = Input(TensorType("f32", (8, 3))), Input(TensorType("f32", (3,)))
    y, _, _ = o.batch_norm(x, c, c)

    graph = Graph.of([x, c], [gradients(y, [x])[0]])

    assert [n.op.name for n in graph.nodes] == ["batch_norm", "fill", "batch_norm_gradient"]
