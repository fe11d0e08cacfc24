"""Attention: both ways of computing it, and which sizes take which."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from torch_kernel import kernel

from byparts_opset.attention import Attention, AttentionGradient

torch = pytest.importorskip("torch", reason="needs torch")
attention = pytest.importorskip("byparts_kernels_torch.attention", reason="needs torch")

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("queries", "keys", "value_width"),
    [(40, 40, 8), (40, 40, 6), (300, 300, 8), (50, 30, 8), (5, 7, 3), (400, 3, 8)],
)
def test_kernels_compute_what_ops_mean(
    queries: int, keys: int, value_width: int, causal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few heads at a time, and values as wide as keys or not."""
    monkeypatch.setitem(attention.CHUNK_BYTES, "cpu", 2 * 4 * queries * keys)
    q, dq = heads(queries, 8), heads(queries, value_width)
    k, v = heads(keys, 8), heads(keys, value_width)
    op = Attention(causal, 0.5)
    y, logsumexp = op.evaluate(q, k, v)

    near(kernel(op, q, k, v), (y, logsumexp))
    backward = AttentionGradient(causal, 0.5)
    near(
        kernel(backward, dq, q, k, v, y, logsumexp),
        backward.evaluate(dq, q, k, v, y, logsumexp),
    )


def test_sizes_choose_the_way() -> None:
    """The rows of the table in `attention.py`."""
    assert [flash(8), flash(128), flash(256), flash(1024)] == [True, False, True, True]
    assert [flash(n, attention.MOST_WEIGHTS_OF_GRADIENT) for n in (8, 128, 256, 1024)] == [
        True,
        False,
        False,
        True,
    ]


def test_products_stand_in_for_what_torch_lacks() -> None:
    """Values of another width; other devices."""
    assert not flash(1024, value_width=4)
    assert not flash(1024, device="meta")


def heads(time: int, width: int) -> Any:
    return RANDOM.normal(size=(3, time, width)).astype(np.float32)


def near(found: Any, expected: Any) -> None:
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * np.abs(want).max(initial=1))


def flash(
    time: int, most: int = attention.MOST_WEIGHTS, value_width: int = 8, device: str = "cpu"
) -> bool:
    q = torch.empty(2, time, 8, device=device)
    found = attention.by_flash(q, q, q[..., :value_width], most)
    assert isinstance(found, bool)
    return found
