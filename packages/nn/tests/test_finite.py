"""`fit(nan="stop")`: the first module that made a NaN or an infinity is named, and nothing changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_nn import SGD, Adam
from byparts_nn.dropout import Dropout
from byparts_nn.finite import NotFinite
from byparts_nn.fit import fit
from byparts_nn.linear import Linear
from byparts_nn.losses import mse
from byparts_nn.module import Module
from byparts_nn.normalize import BatchNorm
from byparts_nn.parameter import seed
from byparts_nn.sequential import Sequential
from byparts_nn.weights import arrays_of, cells_of

X = np.random.default_rng(0).standard_normal((12, 3)).astype("f4")
T = X[:, :1]


class Log(Module):
    """The logarithm: NaN below 0."""

    def __call__(self, x: Any) -> Any:
        return ops.log(x)


class Root(Module):
    """The root of the sum of squares: 0 has no gradient."""

    def __call__(self, x: Any) -> Any:
        return ops.sqrt(ops.sum(ops.square(x), -1, keepdims=True))


def stopped(model: Module, x: Any = X, t: Any = T, **options: Any) -> str:
    """The message, after checking that no number has changed."""
    optimizer = options.pop("optimizer", None) or Adam()
    fit(model, (np.abs(X) + 1, T), loss=mse, optimizer=optimizer, batch=12, log=None)
    optimizer.rate = options.pop("rate", 1e-3)
    before = arrays_of(cells_of(model, optimizer))
    options = {"loss": mse, "optimizer": optimizer, "batch": 12, "log": None} | options
    with pytest.raises(NotFinite) as caught:
        fit(model, (x, t), nan="stop", **options)
    after = arrays_of(cells_of(model, optimizer))
    assert before.keys() == after.keys()
    assert all(np.array_equal(before[name], after[name]) for name in before)
    return str(caught.value)


def test_a_module_that_makes_a_nan_is_named() -> None:
    """The innermost one, with its path and what it was called on."""
    seed(0)
    model = Sequential(Sequential(Log(), Dropout(0.2)), BatchNorm(3), Linear(3, 1))

    assert stopped(model, x=-np.abs(X)) == (
        "step 1: module 'layers.0.layers.0' (Log) gave 36 NaN of 36 numbers for f32[12,3]"
    )


def test_a_gradient_that_is_no_number_is_named() -> None:
    """The value is finite, and its gradient is not: that of a root at 0."""
    seed(0)
    model = Sequential(Linear(3, 2, bias=False), Root())

    words = stopped(model, x=X * np.float32(0), t=T)
    assert words.endswith(
        "the gradient of 'layers.0.weight' has 6 NaN of 6 numbers; the loss is finite"
    )


def test_data_that_is_no_number_is_named() -> None:
    """The first look is at the batch."""
    bad = X.copy()
    bad[3, 1] = np.inf

    assert stopped(Linear(3, 1), x=bad).endswith(
        "element 0 of the batch has 1 infinite of 36 numbers"
    )


def test_a_loss_that_is_no_number_is_named() -> None:
    """Each module's result is finite, and the loss is not."""
    words = stopped(Linear(3, 1), loss=lambda y, t: ops.mean(ops.log(-ops.square(y - t))))

    assert words.endswith("the loss is nan; each module's result is finite")


def test_weights_that_overflow_are_named() -> None:
    """All gradients are finite, and the step is not."""
    words = stopped(Linear(3, 1), optimizer=SGD(), rate=3e38, loss=lambda y, t: mse(y, t) * 99)

    assert "the loss and all gradients are finite, the optimizer's rate may be large" in words


def test_guarding_changes_no_number() -> None:
    """A training without NaN is the same with and without."""

    def losses(**options: Any) -> list[float]:
        seed(1)
        model = Sequential(Linear(3, 4), BatchNorm(4), Dropout(0.5), Linear(4, 1))
        return fit(model, (X, T), loss=mse, epochs=3, batch=4, log=None, **options).losses

    assert losses(nan="stop") == losses()
