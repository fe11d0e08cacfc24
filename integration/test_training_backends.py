"""Networks trained by `fit` have the same losses on every backend, and go on exactly on each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_opset as ops

nn = pytest.importorskip("byparts_nn")
from byparts_nn.data import digits, sonnets  # noqa: E402 - the part may be absent

X, T = (array[:160] for array in digits())
LETTERS = np.array([sorted(set(sonnets())).index(letter) for letter in sonnets()])
WINDOWS = np.lib.stride_tricks.sliding_window_view(LETTERS, 9)[:256:2]
TEXT = WINDOWS[:, :-1], WINDOWS[:, 1:]


def cnn() -> Any:
    return nn.Sequential(
        nn.Conv2d(None, 4, 3, padding=1), nn.BatchNorm(), ops.relu, nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.25), nn.Linear(None, 10),
    )  # fmt: skip


def lstm() -> Any:
    return nn.Sequential(nn.Embedding(50, 8), nn.LSTM(None, 16), nn.Linear(None, 50))


def transformer() -> Any:
    block = nn.TransformerBlock(16, 2, causal=True, hidden=16)
    return nn.Sequential(nn.Embedding(50, 16), block, nn.LayerNorm(), nn.Linear(None, 50))


NETWORKS = [(cnn, (X, T)), (lstm, TEXT), (transformer, TEXT)]


def losses(make: Callable[[], Any], data: Any, backend: str, **options: Any) -> list[float]:
    nn.seed(0)
    backends = (backend, "numpy") if backend != "numpy" else ("numpy",)
    how = {"batch": 48, "epochs": 2, "log": None, "backends": backends} | options
    found: list[float] = nn.fit(make(), data, optimizer=nn.Adam(1e-2), **how).losses
    return found


@pytest.mark.parametrize("backend", ["native", "torch"])
@pytest.mark.parametrize(("make", "data"), NETWORKS, ids=lambda x: getattr(x, "__name__", ""))
def test_backends_train_alike(backend: str, make: Callable[[], Any], data: Any) -> None:
    """The same seed gives the same losses to 1e-5: weights, dropout, order."""
    pytest.importorskip(f"byparts_kernels_{backend}")
    if backend == "torch":
        pytest.importorskip("torch", exc_type=ImportError)

    np.testing.assert_allclose(
        losses(make, data, backend), losses(make, data, "numpy"), rtol=1e-5, atol=0
    )


def test_generated_code_goes_on_bit_for_bit(tmp_path: Path) -> None:
    """A checkpoint in the middle of an epoch, on the native backend."""
    pytest.importorskip("byparts_kernels_native")
    how: Any = {"checkpoint": tmp_path / "run.npz", "checkpoint_steps": 1}

    def stop(event: Any) -> Any:
        return nn.Stop("now") if isinstance(event, nn.StepDone) and event.step == 3 else None

    losses(cnn, (X, T), "native", callbacks=[stop], **how)
    assert losses(cnn, (X, T), "native", resume=True, **how) == losses(cnn, (X, T), "native")
