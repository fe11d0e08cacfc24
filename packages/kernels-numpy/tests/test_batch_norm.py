"""Normalisation kernels against `evaluate`: channels anywhere, one block and many."""

import numpy as np
import pytest
from bound import bound, kernel, peak_bytes, spread

from byparts_graph_ir import Op
from byparts_opset import (
    BatchNorm,
    BatchNormGradient,
    BatchNormInference,
    LayerNorm,
    LayerNormGradient,
)
from byparts_opset.dtypes import Array

RANDOM = np.random.default_rng(2)
CASES = [
    ((6, 5), 1),
    ((6, 5), 0),
    ((2, 3, 4, 5), 1),
    ((2, 3, 4, 5), 3),
    ((40, 8, 32, 32), 1),
    ((20000, 4), -1),
    ((0, 3), 1),
]


def _arrays(op: Op, shape: tuple[int, ...], axis: int) -> list[Array]:
    x, dy = (RANDOM.normal(3, 2, shape).astype(np.float32) for _ in range(2))
    gamma, beta, mean = RANDOM.normal(1, 1, (3, shape[axis])).astype(np.float32)
    variance = RANDOM.uniform(0.5, 2, shape[axis]).astype(np.float32)
    arrays: dict[type[Op], list[Array]] = {
        BatchNorm: [x, gamma, beta],
        BatchNormInference: [x, gamma, beta, mean, variance],
        BatchNormGradient: [x, gamma, mean, variance, dy],
    }
    return arrays[type(op)]


@pytest.mark.parametrize(("shape", "axis"), CASES)
@pytest.mark.parametrize("op", [BatchNorm, BatchNormInference, BatchNormGradient])
def test_batch_norm_as_evaluate(op: type[BatchNorm], shape: tuple[int, ...], axis: int) -> None:
    """Placed apart, over x (or dy, in the gradient), and with gaps in memory."""
    node = op(axis)
    arrays = _arrays(node, shape, axis)
    expected = node.evaluate(*arrays)
    into = node.inplace[0][0]

    for found in (
        kernel(node, *arrays),
        kernel(node, *arrays, into=into),
        kernel(node, *map(spread, arrays)),
    ):
        for y, z in zip(found, expected, strict=True):
            np.testing.assert_allclose(
                y, z, rtol=1e-4, atol=1e-4 * max(1, np.abs(z).max(initial=0))
            )


def test_the_variance_survives_a_large_mean() -> None:
    """Mean 10000, deviation 1: a difference of squares would have no digit left in f32."""
    x = (RANDOM.normal(size=(4096, 2)) + 10_000).astype(np.float32)
    one = np.ones(2, np.float32)

    _, _, variance = kernel(BatchNorm(1), x, one, one)

    np.testing.assert_allclose(variance, x.astype(np.float64).var(axis=0), rtol=1e-3)


def test_the_gradient_of_an_empty_batch_is_zero() -> None:
    """Also where mean and variance are those of nothing, nan."""
    nothing, one = np.zeros((0, 3), np.float32), np.ones(3, np.float32)
    nan = one * np.float32(np.nan)

    _, dgamma, dbeta = kernel(BatchNormGradient(1), nothing, one, nan, nan, nothing)

    assert not dgamma.any() and not dbeta.any()


@pytest.mark.parametrize("shape", [(5, 8), (300, 700), (2, 3, 8), (0, 4)])
@pytest.mark.parametrize("axes", [1, 2])
def test_layer_norm_as_evaluate(shape: tuple[int, ...], axes: int) -> None:
    """The forward and the gradient, over one last axis and over two."""
    x, dy = (RANDOM.normal(3, 2, shape).astype(np.float32) for _ in range(2))
    gamma, beta = RANDOM.normal(size=(2, *shape[-axes:])).astype(np.float32)
    _, mean, variance = LayerNorm(axes).evaluate(x, gamma, beta)
    cases = (
        (LayerNorm(axes), (x, gamma, beta)),
        (LayerNormGradient(axes), (x, gamma, mean, variance, dy)),
    )
    for op, arrays in cases:
        expected = op.evaluate(*arrays)
        for found in (kernel(op, *arrays), kernel(op, *arrays, into=op.inplace[0][0])):
            for y, z in zip(found, expected, strict=True):
                np.testing.assert_allclose(y, z, rtol=1e-4, atol=2e-4)


@pytest.mark.parametrize("op", [BatchNorm, BatchNormInference, BatchNormGradient])
def test_no_memory_of_the_size_of_the_input(op: type[BatchNorm]) -> None:
    """4 MB in, at most NumPy's own buffers (three of 32 KB) beside."""
    arrays = _arrays(op(1), (32, 32, 32, 32), 1)

    assert peak_bytes(bound(op(1), *arrays)) < 120_000
