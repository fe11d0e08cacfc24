"""Batch normalisation, in training and in inference."""

import numpy as np
import pytest
from numeric import check_gradient, run

from byparts_graph_ir import Graph, Input, ShapeError, TensorType, infer_inputs
from byparts_opset import (
    BatchNorm,
    BatchNormGradient,
    BatchNormInference,
    batch_norm,
    batch_norm_inference,
    moving_average,
)

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(3, 2, (4, 3, 2, 2))
GAMMA, BETA = RANDOM.normal(size=(2, 3))
MEAN, VARIANCE = RANDOM.normal(size=3), RANDOM.uniform(0.5, 2, 3)


def test_each_channel_gets_mean_beta_and_deviation_gamma() -> None:
    """The statistics are those of the other axes, with the biased variance."""
    y, mean, variance = BatchNorm(1, 0.0).evaluate(X, GAMMA, BETA)

    np.testing.assert_allclose(mean, X.mean(axis=(0, 2, 3)))
    np.testing.assert_allclose(variance, X.var(axis=(0, 2, 3)))
    np.testing.assert_allclose(y.mean(axis=(0, 2, 3)), BETA)
    np.testing.assert_allclose(y.std(axis=(0, 2, 3)), np.abs(GAMMA))


def test_t14_inference_takes_the_statistics_that_training_gave() -> None:
    """T14: there is an inference mode, and by the batch's own statistics it does what training did."""
    y, mean, variance = BatchNorm().evaluate(X, GAMMA, BETA)

    (again,) = BatchNormInference().evaluate(X, GAMMA, BETA, mean, variance)

    np.testing.assert_allclose(again, y)


def test_t14_moving_statistics_are_values_of_the_graph() -> None:
    """T14: a training graph takes old statistics in and gives new ones out; nothing is hidden."""
    types = [TensorType("f64", s) for s in ((4, 3, 2, 2), (3,), (3,), (3,), (3,))]
    x, gamma, beta, old_mean, old_variance = inputs = [Input(t) for t in types]
    _, mean, variance = batch_norm(x, gamma, beta)
    new = [moving_average(old_mean, mean, 0.9), moving_average(old_variance, variance, 0.9)]

    found = run(Graph.of(inputs, new), X, GAMMA, BETA, MEAN, VARIANCE)

    np.testing.assert_allclose(found[0], MEAN * 0.9 + X.mean(axis=(0, 2, 3)) * 0.1)
    np.testing.assert_allclose(found[1], VARIANCE * 0.9 + X.var(axis=(0, 2, 3)) * 0.1)


@pytest.mark.parametrize("shape", [(5, 7), (2, 3, 4, 5)])
def test_nn_inf_bn_parameters_have_the_size_of_the_axis(shape: tuple[int, ...]) -> None:
    """NN-INF-bn: 2-D and 4-D, any axis; the shape rule backwards tells gamma and beta."""
    for axis in range(-len(shape), len(shape)):
        x = Input(TensorType("f32", None))
        gamma, beta = Input(TensorType("f32", None)), Input(TensorType("f32", (None,)))
        graph = Graph.of((x, gamma, beta), batch_norm(x, gamma, beta, axis))

        known = infer_inputs(graph, (TensorType("f32", shape), None, None))

        assert known[1:] == (TensorType("f32", (shape[axis],)),) * 2


def test_nn_inf_bn_parameters_tell_the_channels() -> None:
    """NN-INF-bn, the other way: gamma of 3 means 3 channels."""
    x, c = TensorType("f32", ("n", None, 8, 8)), TensorType("f32", (None,))
    y, mean, _ = BatchNorm().infer(x, TensorType("f32", (3,)), c)

    assert y == TensorType("f32", ("n", 3, 8, 8))
    assert mean == TensorType("f32", (3,))


@pytest.mark.parametrize("axis", [0, 1, 2, 3, -1])
def test_gradients_of_all_outputs(axis: int) -> None:
    """Of y, and of the statistics, whose gradients are usually zero."""
    x = RANDOM.normal(size=(3, 2, 2, 3))
    gamma, beta = RANDOM.normal(size=(2, x.shape[axis]))

    check_gradient(BatchNorm(axis), x, gamma, beta, rtol=1e-4)


def test_gradients_in_two_dimensions_and_in_inference() -> None:
    """[batch, features], and by given statistics, which have gradients too."""
    check_gradient(BatchNorm(1), X[:, :, 0, 0], GAMMA, BETA, rtol=1e-4)
    check_gradient(BatchNormInference(1), X, GAMMA, BETA, MEAN, VARIANCE)


def test_second_order_goes_through_the_decomposition() -> None:
    """The gradient op's own gradient, of all three outputs and all five inputs."""
    dy = RANDOM.normal(size=X.shape)

    check_gradient(BatchNormGradient(1), X, GAMMA, MEAN, VARIANCE, dy, rtol=1e-4)


@pytest.mark.parametrize("op", [BatchNorm(), BatchNormInference(), BatchNormGradient()])
def test_decompositions_agree(op: BatchNorm | BatchNormInference | BatchNormGradient) -> None:
    """What a backend without kernels runs."""
    arrays = {
        BatchNorm: (X, GAMMA, BETA),
        BatchNormInference: (X, GAMMA, BETA, MEAN, VARIANCE),
        BatchNormGradient: (X, GAMMA, MEAN, VARIANCE, X[::-1]),
    }[type(op)]
    inputs = [Input(TensorType("f64", a.shape)) for a in arrays]

    found = run(Graph.of(inputs, op.decompose(*inputs) or ()), *arrays)

    for y, expected in zip(found, op.evaluate(*arrays), strict=True):
        np.testing.assert_allclose(y, expected, rtol=1e-10)


def test_channels_that_differ_are_an_error() -> None:
    """With both types in it."""
    x, c = Input(TensorType("f32", (4, 3, 2, 2))), Input(TensorType("f32", (2,)))

    with pytest.raises(
        ShapeError, match=r"channels at axis 1, and a parameter is f32\[2\], so 3 meets 2"
    ):
        batch_norm(x, c, c)
    with pytest.raises(ShapeError, match="batch_norm_inference: axis 4 is out of range for rank 4"):
        batch_norm_inference(x, c, c, c, c, axis=4)
    with pytest.raises(ShapeError, match=r"parameter is f32\[4,3,2,2\], of rank 4 and not 1"):
        batch_norm(x, x, x)
