"""Gradients of activations and of softmax against `evaluate`, over several blocks."""

import numpy as np
import pytest
from bound import bound, kernel, peak_bytes, spread

from byparts_graph_ir import Op
from byparts_opset import (
    GeluGradient,
    LogSoftmaxGradient,
    ReluGradient,
    SigmoidGradient,
    SiluGradient,
    SoftmaxGradient,
    TanhGradient,
)

RANDOM = np.random.default_rng(6)
OPS: list[Op] = [
    *(ReluGradient(), SigmoidGradient(), TanhGradient(), SiluGradient()),
    *(GeluGradient(), GeluGradient(True)),
    *(SoftmaxGradient(), SoftmaxGradient(0), LogSoftmaxGradient(), LogSoftmaxGradient(0)),
]
TOLERANCE = {"f2": 2e-3, "f4": 2e-5, "f8": 1e-12}


@pytest.mark.parametrize("shape", [(300, 250), (5000, 20), (2, 3), (0, 3)], ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
@pytest.mark.parametrize("op", OPS, ids=str)
def test_as_evaluate(op: Op, dtype: str, shape: tuple[int, ...]) -> None:
    """Placed apart, over dy, and with gaps in memory."""
    dy, y = (RANDOM.uniform(-2, 0.9, shape).astype(dtype) for _ in range(2))
    expected = op.evaluate(dy, y)[0]
    scale = max(1.0, float(np.abs(expected).max(initial=0)))

    for found in (kernel(op, dy, y), kernel(op, dy, y, into=0), kernel(op, spread(dy), spread(y))):
        tolerance = TOLERANCE[dtype] * scale
        np.testing.assert_allclose(found[0], expected, rtol=TOLERANCE[dtype], atol=tolerance)


@pytest.mark.parametrize("op", OPS, ids=str)
def test_a_run_takes_no_memory(op: Op) -> None:
    """4 MB in, at most NumPy's own buffers (three of 32 KB) beside."""
    dy = RANDOM.uniform(-1, 0.9, (1000, 1000)).astype(np.float32)

    assert peak_bytes(bound(op, dy, dy)) < 120_000


def test_relu_stops_infinities_and_lets_nan_pass_as_evaluate_does() -> None:
    """By bits: nothing is multiplied."""
    dy, y = np.full(5, np.inf, np.float32), np.array([0, -0.0, -1, 1, np.nan], np.float32)

    assert kernel(ReluGradient(), dy, y)[0].tolist() == [0, 0, 0, np.inf, np.inf]
