"""Normalisation: many rows in several chunks, channels anywhere, variances that are nearly 0."""

from __future__ import annotations

import numpy as np
import pytest
from torch_kernel import Array, kernel

from byparts_graph_ir import Op
from byparts_opset.batch_norm import BatchNorm, BatchNormGradient, BatchNormInference
from byparts_opset.layer_norm import LayerNorm, LayerNormGradient

pytest.importorskip("torch", reason="needs torch")
layer_norm = pytest.importorskip("byparts_kernels_torch.layer_norm", reason="needs torch")

RANDOM = np.random.default_rng(0)


def same(op: Op, *inputs: Array) -> None:
    for got, want in zip(kernel(op, *inputs), op.evaluate(*inputs), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * np.abs(want).max(initial=1))


def normal(*shape: int) -> Array:
    return RANDOM.normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("chunk_bytes", [1 << 20, 1 << 7])
@pytest.mark.parametrize(("axes", "shape"), [(1, (7, 5, 6)), (2, (9, 5, 6))])
def test_rows_of_all_chunks(
    axes: int, shape: tuple[int, ...], chunk_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the sums over rows, of which each chunk has a part."""
    monkeypatch.setattr(layer_norm, "CHUNK_BYTES", chunk_bytes)
    x, dy, last = normal(*shape), normal(*shape), shape[-axes:]
    op = LayerNorm(axes)
    _, mean, variance = op.evaluate(x, normal(*last), normal(*last))

    same(op, x, normal(*last), normal(*last))
    same(LayerNormGradient(axes), x, normal(*last), mean, variance, dy)


@pytest.mark.parametrize(
    ("axis", "shape"), [(1, (6, 3, 4, 5)), (3, (6, 4, 5, 3)), (0, (3, 7)), (2, (4, 2, 3, 5))]
)
def test_channels_are_on_any_axis(axis: int, shape: tuple[int, ...]) -> None:
    x, dy = normal(*shape), normal(*shape)
    gamma, beta = normal(2, 3)
    _, mean, variance = BatchNorm(axis).evaluate(x, gamma, beta)

    same(BatchNorm(axis), x, gamma, beta)
    same(BatchNormGradient(axis), x, gamma, mean, variance, dy)
    same(BatchNormInference(axis), x, gamma, beta, mean, variance)


@pytest.mark.parametrize("spread", [0.0, 1e-4, 1e3])
def test_variances_come_back_from_torchs_scale(spread: float) -> None:
    """torch gives 1 / sqrt(variance + epsilon); no variance is below 0."""
    x = 1 + normal(64, 8) * np.float32(spread)
    found = kernel(BatchNorm(), x, *normal(2, 8))[2]
    expected = BatchNorm().evaluate(x, *normal(2, 8))[2]

    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-10)
    assert found.min() >= 0
