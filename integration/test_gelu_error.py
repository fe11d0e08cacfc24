"""How far gelu and its gradient are off on each backend, against f64 with erfc: as `Gelu` says."""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType
from byparts_runtime import build

X = np.linspace(-12, 12, 20_001).astype(np.float32)
WIDE = X.astype(np.float64)
SHARE = 0.5 * np.vectorize(math.erfc)(-WIDE / math.sqrt(2))
SLOPE = SHARE + WIDE * np.exp(-0.5 * WIDE * WIDE) / math.sqrt(2 * math.pi)
EPS = float(np.finfo(np.float32).eps)
BACKENDS = [("numpy",), ("native", "numpy"), ("torch", "numpy")]


@pytest.mark.parametrize("backends", BACKENDS, ids=lambda names: names[0])
def test_gelu_is_off_by_three_units_at_most(backends: tuple[str, ...]) -> None:
    """Of the last place of 1, or of x where it is larger: 1 + erf cancels where x is below 0."""
    if backends[0] == "torch" and find_spec("torch") is None:
        pytest.skip("torch is not installed")
    x = Input(TensorType("f32", X.shape))
    both = Graph.of([x], [ops.gelu(x), ops.gelu_gradient(ops.fill(1.0, "f32", X.shape), x)])
    y, dx = (np.asarray(a, np.float64) for a in build(both, backends=backends)(X))
    allowed = 3 * EPS * np.maximum(1, np.abs(WIDE))

    assert np.all(np.abs(y - WIDE * SHARE) <= allowed)
    assert np.all(np.abs(dx - SLOPE) <= allowed)


def test_evaluate_has_all_digits() -> None:
    """At -5 too, where 1 + erf of f32 has one left: -1.433e-06."""
    (y,) = ops.Gelu().evaluate(X)
    want: Any = WIDE * SHARE

    np.testing.assert_allclose(y, want, rtol=EPS / 2 * 1.01, atol=1e-44)
