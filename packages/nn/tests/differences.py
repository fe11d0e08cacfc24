"""Gradients against central differences, in f64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_eager import Array, Cell, asarray, grad, training_mode, value_and_grad

STEP = 1e-5


def numbers(*shape: int, seed: int = 0) -> Any:
    """Normal numbers, f64."""
    return asarray(np.random.default_rng(seed).standard_normal(shape))


def check_layer(model: Any, *inputs: Any) -> Any:
    """Check the gradient of each trainable cell and of the first input; returns the output.

    The loss is the sum of the output times fixed numbers.  Each gradient is compared along one
    random direction, which sees every element.
    """
    with training_mode(True):
        y = model(*inputs)
        weights = numbers(*y.shape, seed=1)

    def loss(*given: Any) -> Any:
        return ops.sum((model(*given) if given else model(*inputs)) * weights)

    cells = [c for c in model.cells().values() if c.trainable]
    _, gradients = value_and_grad(lambda _: loss())(model)
    for cell in cells:
        _compare(gradients[cell], lambda: loss(), cell)
    if inputs[0].dtype == "f64":
        with training_mode(True):
            check_function(lambda x: loss(x, *inputs[1:]), inputs[0])
    return y


def check_function(f: Callable[[Any], Any], x: Array) -> None:
    """Check the gradient of a loss by its argument."""
    dx = grad(f)(x)
    direction = numbers(*x.shape, seed=2)
    slope = (f(x + direction * STEP) - f(x - direction * STEP)) / (2 * STEP)

    claimed: Any = ops.sum(dx * direction)
    np.testing.assert_allclose(float(claimed), float(slope), rtol=1e-6, atol=1e-8)


def _compare(gradient: Array, loss: Callable[[], Any], cell: Cell) -> None:
    before, direction = cell.value, numbers(*cell.value.shape, seed=3)
    ends = []
    with training_mode(True):
        for sign in (1, -1):
            cell.value = before + direction * (sign * STEP)
            ends.append(float(loss()))
    cell.value = before
    slope = (ends[0] - ends[1]) / (2 * STEP)

    claimed: Any = ops.sum(gradient * direction)
    np.testing.assert_allclose(float(claimed), slope, rtol=1e-6, atol=1e-8, err_msg=cell.name)
