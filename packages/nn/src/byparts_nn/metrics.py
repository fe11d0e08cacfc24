"""Metrics: functions of a batch's prediction and target, NumPy arrays both, that give a number.

`fit` and `evaluate` take the mean over the samples.  Where the mean is not the metric itself, a
`Mean` says what to do with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import ArgumentError, ShapeError

Array = NDArray[Any]
Metric = Callable[[Array, Array], Any]
Metrics = Union[Metric, Sequence[Metric], Mapping[str, Metric]]


class Mean:
    """A metric that is a function of a mean over samples.

    Args:
        of: gives the number of a batch, a mean over its samples.
        then: of the mean over all samples.
        name: what the column is called.
    """

    def __init__(self, of: Metric, then: Callable[[float], float], name: str) -> None:
        self.of, self.then, self.__name__ = of, then, name

    def __call__(self, prediction: Array, target: Array) -> Any:
        """The number of a batch, before `then`."""
        return self.of(prediction, target)


def accuracy(prediction: Array, target: Array) -> float:
    """The share of predictions whose largest number, along the last axis, is that of the label.

    Args:
        prediction: [..., classes].
        target: labels [...]; negative ones are padding and do not count.
    """
    prediction, target = _numbers("accuracy", prediction, target, classes=True)
    counts = target >= 0
    return float(np.mean((np.argmax(prediction, -1) == target)[counts])) if counts.any() else 0.0


def mean_absolute_error(prediction: Array, target: Array) -> float:
    """The mean of |prediction - target|, both of one shape."""
    prediction, target = _numbers("mean_absolute_error", prediction, target, classes=False)
    return float(np.mean(np.abs(prediction - target)))


def _cross_entropy(prediction: Array, target: Array) -> float:
    """The mean of -log softmax(prediction)[target] in f64; negative labels do not count."""
    prediction, target = _numbers("perplexity", prediction, target, classes=True)
    logits = prediction.astype(np.float64)
    logits -= logits.max(-1, keepdims=True)
    chosen = np.take_along_axis(logits, np.maximum(target, 0)[..., None], -1)[..., 0]
    losses = np.log(np.exp(logits).sum(-1)) - chosen
    counts = target >= 0
    return float(np.mean(losses[counts])) if counts.any() else 0.0


def _numbers(name: str, prediction: Array, target: Array, *, classes: bool) -> tuple[Array, Array]:
    """Both as arrays whose shapes fit: [n] beside [n, 1] would be compared as [n, n] in silence.

    Raises:
        ShapeError: they do not fit, or are no numbers.
    """
    x, y = np.asarray(prediction), np.asarray(target)
    fits = y.shape == (x.shape[:-1] if classes else x.shape) and x.ndim >= classes
    if {x.dtype.kind, y.dtype.kind} - set("fiub") or not fits:
        shapes = "[..., classes] and [...]" if classes else "of one shape"
        raise ShapeError(
            f"{name}: predictions are {x.dtype}{[*x.shape]} and targets {y.dtype}{[*y.shape]}; "
            f"they are numbers, {shapes}"
        )
    return x, y


perplexity = Mean(_cross_entropy, math.exp, "perplexity")


def named(metrics: Metrics) -> dict[str, Metric]:
    """The metrics by the names of their columns."""
    if callable(metrics):
        metrics = [metrics]
    if not isinstance(metrics, Mapping):
        metrics = {getattr(m, "__name__", type(m).__name__): m for m in metrics}
    for name, metric in metrics.items():
        if not callable(metric):
            what = f"metrics: {metric!r:.60} is no function of (prediction, target)"
            raise ArgumentError(f"{what}, as nn.accuracy is; it is called {name!r:.60}")
    return dict(metrics)
