"""Pooling: paddings that torch has not, infinities, and the own ops that passes put in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from torch_kernel import kernel

from byparts_graph_ir import Op
from byparts_opset.pool import (
    AveragePool,
    AveragePoolGradient,
    MaxPool,
    MaxPoolGradient,
    MaxPoolGradientGradient,
)

torch = pytest.importorskip("torch", reason="needs torch")
ops = pytest.importorskip("byparts_kernels_torch.ops", reason="needs torch")
pool = pytest.importorskip("byparts_kernels_torch.pool", reason="needs torch")
pool_indices = pytest.importorskip("byparts_kernels_torch.pool_indices", reason="needs torch")

RANDOM = np.random.default_rng(0)

Window = tuple[Any, Any, Any, str, bool]
WINDOWS: tuple[Window, ...] = (
    ((2, 2), (2, 2), "VALID", "NCHW", False),
    ((3, 3), (2, 2), "SAME", "NCHW", False),
    ((3, 2), (1, 1), ((2, 0), (0, 1)), "NCHW", False),
    ((3, 3), (2, 2), ((1, 1), (1, 1)), "NHWC", True),
    ((2, 3), (3, 1), ((0, 1), (1, 2)), "NHWC", False),
)


def same(op: Op, *inputs: Any) -> None:
    for got, want in zip(kernel(op, *inputs), op.evaluate(*inputs), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.fixture(params=[1 << 20, 1 << 8])
def chunks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All images at once, and one at a time."""
    for module in (pool, pool_indices):
        monkeypatch.setattr(module, "CHUNK_BYTES", request.param)


@pytest.mark.usefixtures("chunks")
@pytest.mark.parametrize("attributes", WINDOWS, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_maxima_and_their_gradients(attributes: Window, dtype: str) -> None:
    """Of few different numbers, so that windows have several maxima."""
    x = RANDOM.integers(-2, 3, (3, 8, 6, 5)).astype(dtype)
    (y,) = MaxPool(*attributes).evaluate(x)

    same(MaxPool(*attributes), x)
    same(MaxPoolGradient(*attributes), x, y, y + 1)
    same(MaxPoolGradientGradient(*attributes), x, y, x + 1)
    if dtype == "float32":  # places are kept for gradients, which integers have none
        same(ops.MaxPoolIndices(*attributes), x)


@pytest.mark.usefixtures("chunks")
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("attributes", WINDOWS, ids=str)
def test_means_and_their_gradients(attributes: Window, counted: bool) -> None:
    x = RANDOM.normal(size=(3, 8, 6, 5)).astype(np.float32)
    (y,) = AveragePool(*attributes, counted).evaluate(x)

    same(AveragePool(*attributes, counted), x)
    same(AveragePoolGradient(*attributes, counted), y, x)


@pytest.mark.parametrize("attributes", WINDOWS, ids=str)
@pytest.mark.parametrize("number", [-np.inf, np.inf, np.nan])
def test_windows_of_no_usual_number(attributes: Window, number: float) -> None:
    """Of nothing but -inf the first gets the gradient; of nan none does."""
    x = RANDOM.normal(size=(2, 8, 6, 5)).astype(np.float32)
    x[0] = number
    (y,) = MaxPool(*attributes).evaluate(x)

    same(MaxPool(*attributes), x)
    same(MaxPoolGradient(*attributes), x, y, np.ones_like(y))


@pytest.mark.parametrize("attributes", WINDOWS, ids=str)
def test_indices_and_scatter_are_pool_and_gradient(attributes: Window) -> None:
    """What the pass that joins them relies on."""
    x = RANDOM.integers(-2, 3, (3, 8, 6, 5)).astype(np.float32)
    y, places = kernel(ops.MaxPoolIndices(*attributes), x)
    dy = RANDOM.normal(size=y.shape).astype(np.float32)

    (found,) = kernel(ops.MaxPoolScatter(*attributes), dy, places, x)

    (expected,) = MaxPoolGradient(*attributes).evaluate(x, y, dy)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
