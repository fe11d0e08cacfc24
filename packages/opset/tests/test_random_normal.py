"""Normal draws: the decomposition in ordinary ops, then statistics with fixed keys."""

from math import erf

import numpy as np
import pytest
from numeric import run

from byparts_graph_ir import Graph, Input, TensorType
from byparts_opset import RandomNormal, TruncatedNormal, random_normal, truncated_normal
from byparts_opset.dtypes import Array

N = 20000
KEY, COUNTER = np.array(11), np.array(5)


@pytest.mark.parametrize("op", [RandomNormal, TruncatedNormal])
@pytest.mark.parametrize(("dtype", "rtol"), [("f32", 2e-6), ("f64", 1e-13), ("f16", 2e-3)])
def test_decompositions_agree(op: type[RandomNormal], dtype: str, rtol: float) -> None:
    """Box-Muller, and the polynomial against the inverse distribution of the standard library."""
    key, counter = (Input(TensorType("i64", ())) for _ in range(2))
    draw = op((500, 4), dtype)

    (found,) = run(Graph.of((key, counter), draw.decompose(key, counter) or ()), KEY, COUNTER)

    np.testing.assert_allclose(found, draw.evaluate(KEY, COUNTER)[0], rtol=rtol, atol=rtol)


def test_normal_draws_are_normal() -> None:
    """Mean, deviation, and the largest gap to the normal distribution (KS, p > 0.01)."""
    y = np.sort(RandomNormal((N,)).evaluate(KEY, COUNTER)[0].astype(np.float64))

    gap = np.abs(_phi(y) - (np.arange(N) + 0.5) / N).max()
    assert abs(y.mean()) < 3 / np.sqrt(N)
    assert abs(y.std() - 1) < 3 / np.sqrt(2 * N)
    assert gap < 1.63 / np.sqrt(N)


def test_truncated_draws_are_normal_within_two_deviations() -> None:
    """Exactly within; deviation 0.8796; the largest gap to the truncated distribution."""
    y = np.sort(TruncatedNormal((N,)).evaluate(KEY, COUNTER)[0].astype(np.float64))

    below = _phi(np.array([-2.0]))[0]
    gap = np.abs((_phi(y) - below) / (1 - 2 * below) - (np.arange(N) + 0.5) / N).max()
    assert -2 <= y[0] < -1.99 and 1.99 < y[-1] <= 2
    assert abs(y.mean()) < 3 * 0.88 / np.sqrt(N)
    assert abs(y.std() - 0.8796) < 0.01
    assert gap < 1.63 / np.sqrt(N)


def test_mean_and_deviation_are_what_was_asked() -> None:
    """Of the whole draw; truncated ones stay within two of the deviations asked for."""
    normal = run(Graph.of([], [random_normal(1, 0, (N,), 5.0, 0.5)]))[0]
    near = run(Graph.of([], [truncated_normal(1, 0, (N,), 5.0, 0.5)]))[0]

    assert abs(normal.mean() - 5) < 3 * 0.5 / np.sqrt(N)
    assert abs(normal.std() - 0.5) < 3 * 0.5 / np.sqrt(2 * N)
    assert near.min() >= 4 and near.max() <= 6


def _phi(x: Array) -> Array:
    return np.array([0.5 + erf(v / 2**0.5) / 2 for v in x])
