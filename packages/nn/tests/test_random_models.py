"""Random models, optimizers and changes between steps: compiled they train as eagerly."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import byparts_eager as bp
import byparts_nn as nn
import byparts_opset as ops
from byparts_nn import schedules

Make = Callable[[], Any]
IMAGES: list[Make] = [
    lambda: nn.Conv2d(None, 4, 3, padding="SAME"),
    lambda: nn.Conv2d(None, 2, 3, padding=1, stride=2),
    lambda: nn.ConvTranspose2d(None, 4, 2, stride=2),
    lambda: nn.Residual(nn.Conv2d(None, 4, 1), shortcut=nn.Conv2d(None, 4, 1)),
    *(nn.BatchNorm, lambda: ops.relu, lambda: nn.Dropout(0.2)),
    lambda: nn.InstanceNorm(affine=True),
    lambda: nn.MaxPool2d(2, padding=1),
    lambda: nn.AveragePool2d(2, stride=1),
]
SEQUENCES: list[Make] = [
    *(lambda: nn.LSTM(None, 8), lambda: nn.GRU(None, 8), nn.RMSNorm, lambda: ops.gelu),
    lambda: nn.Bidirectional(nn.RNN(None, 4), nn.RNN(None, 4, reverse=True)),
    lambda: nn.TransformerBlock(8, 2, causal=True, dropout=0.1),
    lambda: nn.Residual(nn.Linear(None, 8), ops.tanh),
]
OPTIMIZERS: list[Make] = [
    lambda: nn.SGD(0.05),
    lambda: nn.SGD(0.05, momentum=0.9, nesterov=True, weight_decay=0.01),
    lambda: nn.AdamW(schedules.warmup(3, schedules.cosine(1e-2, 10))),
    lambda: nn.Adam(1e-2, groups=[nn.Group("bias", rate=2.0)]),
    *(lambda: nn.RMSProp(1e-3), lambda: nn.Adagrad(1e-2), lambda: nn.Lion(1e-3)),
    lambda: nn.Muon(1e-2),
]


def chosen(makers: list[Make], random: np.random.Generator) -> Any:
    return makers[random.integers(len(makers))]()


def model_of(random: np.random.Generator, images: bool) -> Any:
    layers = [chosen(IMAGES if images else SEQUENCES, random) for _ in range(random.integers(1, 4))]
    if images:
        return nn.Sequential(*layers, nn.Flatten(), nn.Linear(None, 3))
    return nn.Sequential(nn.Embedding(7, 8), *layers, nn.Linear(None, 3))


def trained(seed: int, compiled: bool) -> tuple[list[float], Any]:
    """Losses of five batches of three sizes, and what the model gives afterwards."""
    nn.seed(seed)
    random = np.random.default_rng(seed)
    images, clips, freezes = random.random(3) < (0.5, 0.4, 0.3)
    model, optimizer = model_of(random, bool(images)), chosen(OPTIMIZERS, random)

    def step(x: Any, labels: Any) -> Any:
        loss, ds = bp.value_and_grad(lambda m: nn.cross_entropy(m(x), labels))(model)
        optimizer.update(nn.clip_by_norm(ds, 0.5)[0] if clips else ds)
        return loss

    run, losses = bp.compile(step) if compiled else step, []
    for i, n in enumerate((4, 4, 3, 5, 4)):
        shape = (n,) if images else (n, 5)
        x = (
            random.standard_normal((n, 2, 8, 8)).astype("f4")
            if images
            else random.integers(0, 7, shape)
        )
        losses.append(float(run(bp.asarray(x), bp.asarray(random.integers(0, 3, shape)))))
        if i == 2 and freezes:
            model.freeze("weight")
    return losses, model(bp.asarray(x))


@pytest.mark.parametrize(
    "seed", [*range(4), *[pytest.param(n, marks=pytest.mark.long) for n in range(4, 14)]]
)
def test_a_compiled_model_trains_as_the_eager_one(seed: int) -> None:
    """Losses and outputs, with state, random numbers, other batch sizes and frozen weights."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        (losses, y), (again, z) = trained(seed, False), trained(seed, True)

    # Lion steps by signs, Muon by directions: a gradient of about 0 goes either way.
    np.testing.assert_allclose(again, losses, rtol=2e-3)
    np.testing.assert_allclose(z, y, rtol=5e-2, atol=5e-2)
