"""Layer normalisation."""

import numpy as np
import pytest
from numeric import call, check_gradient, run

from byparts_graph_ir import Graph, Input, ShapeError, TensorType, infer_inputs
from byparts_opset import LayerNorm, LayerNormGradient, layer_norm

RANDOM = np.random.default_rng(6)
X = RANDOM.normal(3, 2, (2, 3, 4))
GAMMA, BETA = RANDOM.normal(size=(2, 4))


def test_each_row_is_normalised_then_scaled() -> None:
    """Against the formula, over the last axis and over the last two."""
    rows = (X - X.mean(-1, keepdims=True)) / X.std(-1, keepdims=True)
    pages = (X - X.mean((1, 2), keepdims=True)) / X.std((1, 2), keepdims=True)
    gamma = RANDOM.normal(size=(3, 4))

    one = call(lambda x, g, b: layer_norm(x, g, b, epsilon=0.0), X, GAMMA, BETA)
    two = call(lambda x, g, b: layer_norm(x, g, b, axis=(-2, -1), epsilon=0.0), X, gamma, gamma)

    np.testing.assert_allclose(one, rows * GAMMA + BETA)
    np.testing.assert_allclose(two, pages * gamma + gamma)


def test_a_large_mean_costs_no_digits() -> None:
    """1000 and 1001 are -1 and 1, in f32."""
    x, one = np.array([[1000, 1001]], np.float32), np.ones(2, np.float32)

    y = LayerNorm(1, 0.0).evaluate(x, one, one - 1)[0]

    assert y.tolist() == [[-1, 1]]


def test_gradients_of_all_outputs() -> None:
    """Also where the rank is not known."""
    check_gradient(LayerNorm(), X, GAMMA, BETA, unranked=True, rtol=1e-4)
    check_gradient(LayerNorm(2), X, X[0], X[1], rtol=1e-4)


def test_second_order_goes_through_the_decomposition() -> None:
    """The gradient op's own gradient, of all three outputs and all five inputs."""
    mean, variance = RANDOM.normal(size=(2, 3, 1)), RANDOM.uniform(0.5, 2, (2, 3, 1))

    check_gradient(LayerNormGradient(), X, GAMMA, mean, variance, X[::-1], rtol=1e-4)


def test_decompositions_agree() -> None:
    """What a backend without kernels runs."""
    y, mean, variance = LayerNorm().evaluate(X, GAMMA, BETA)
    cases = (
        (LayerNorm(), (X, GAMMA, BETA)),
        (LayerNormGradient(), (X, GAMMA, mean, variance, y)),
    )
    for op, arrays in cases:
        inputs = [Input(TensorType("f64", a.shape)) for a in arrays]
        found = run(Graph.of(inputs, op.decompose(*inputs) or ()), *arrays)
        for z, expected in zip(found, op.evaluate(*arrays), strict=True):
            np.testing.assert_allclose(z, expected, atol=1e-14)


def test_parameters_have_the_shape_of_the_last_axes() -> None:
    """Forwards an error, backwards what finds them."""
    x, wrong, gamma = (Input(TensorType("f32", s)) for s in (("n", 3, 4), (3,), None))
    graph = Graph.of((x, gamma), [layer_norm(x, gamma, gamma, axis=(-2, -1))])

    assert infer_inputs(graph)[1] == TensorType("f32", (3, 4))
    with pytest.raises(ShapeError, match=r"layer_norm: x is f32\[n,3,4\], .* so 4 meets 3"):
        layer_norm(x, wrong, wrong)
    with pytest.raises(ShapeError, match=r"layer_norm: 4 last axes of f32\[n,3,4\], which has 3"):
        LayerNorm(4)(x, wrong, wrong)
    with pytest.raises(ShapeError, match=r"normalises over last axes, got axis 1 of f32\[n,3,4\]"):
        layer_norm(x, wrong, wrong, axis=1)
