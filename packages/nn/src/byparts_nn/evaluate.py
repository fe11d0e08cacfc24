"""Runs a model over data without training it: its loss, metrics, predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from byparts_eager import compile as compiled
from byparts_graph_ir import ArgumentError, GraphError
from byparts_nn.data.pipeline import Data
from byparts_nn.losses import cross_entropy
from byparts_nn.metrics import Metrics, named
from byparts_nn.module import Module

Loss = Callable[[Any, Any], Any]
Backends = Union[str, Sequence[Any], None]
Batch = Sequence[NDArray[Any]]


def batched(data: object, batch: int, seed: int = 0, shuffle: bool = False) -> Data:
    """The data in batches: as it is if it has some, else `batch` samples at a time."""
    if isinstance(data, Data) and data.is_batched:
        return data
    samples = data if isinstance(data, Data) else Data(data, seed=seed)
    if shuffle and not isinstance(data, Data):
        samples = samples.shuffle()
    return samples.batch(batch)


def pair_of(batch: object) -> Batch:
    """The batch as a tuple of inputs and a target.

    Raises:
        GraphError: it has names, or one array alone.
    """
    if isinstance(batch, Mapping):
        names = ", ".join(map(repr, batch))
        raise GraphError(f"a batch is a dictionary of {names}; name its columns in order: "
                         "Data(...).columns(input, ..., target)")  # fmt: skip
    if not isinstance(batch, tuple) or len(batch) < 2:
        raise GraphError("a batch needs inputs and a target; it has one array alone: map it to a "
                         "tuple, as Data(...).map(lambda x: (x, x))")  # fmt: skip
    return batch


class Evaluator:
    """A model's compiled evaluation, which may be called again after each epoch.

    Args:
        model: the module.
        loss: of (prediction, target).
        metrics: functions of (prediction, target), NumPy arrays.
        options: of `compile`.
    """

    def __init__(
        self, model: Module, loss: Loss, metrics: Metrics, options: Mapping[str, Any]
    ) -> None:
        self._metrics = named(metrics)

        def run(*batch: Any) -> tuple[Any, Any]:
            prediction = model(*batch[:-1])
            return loss(prediction, batch[-1]), prediction

        self._run = compiled(run, **options)

    def __call__(self, data: Data) -> dict[str, float]:
        """The loss and the metrics, means over samples.

        Raises:
            GraphError: there is no batch.
        """
        totals: dict[str, float] = dict.fromkeys(["loss", *self._metrics], 0.0)
        count = 0
        with closing(data.epoch(0)) as batches:
            for batch in map(pair_of, batches):
                size = len(batch[0])
                loss, prediction = self._run(*batch)
                numbers = prediction.numpy()
                totals["loss"] += float(loss) * size
                for name, metric in self._metrics.items():
                    totals[name] += float(metric(numbers, batch[-1])) * size
                count += size
        if not count:
            raise GraphError("evaluate: the data has no batch; is it an iterator that is used up?")
        means = {name: total / count for name, total in totals.items()}
        for name, metric in self._metrics.items():
            means[name] = float(getattr(metric, "then", float)(means[name]))
        return means


def evaluate(
    model: Module,
    data: object,
    *,
    loss: Loss = cross_entropy,
    metrics: Metrics = (),
    batch: int = 100,
    backends: Backends = None,
) -> dict[str, float]:
    """The loss and the metrics of a model on data, means over samples; nothing is trained.

    Args:
        model: the module.
        data: arrays (inputs and the target last), or what `Data` takes.
        loss: of (prediction, target), a number.
        metrics: functions of (prediction, target), NumPy arrays; or {name: function}.
        batch: samples at a time, where the data is not in batches.
        backends: as in `build`.
    """
    return Evaluator(model, loss, metrics, options_of(backends))(batched(data, batch))


def predict(
    model: Module, x: NDArray[Any], *, batch: int = 100, backends: Backends = None
) -> NDArray[Any]:
    """Predictions of a model for the rows of `x`, computed `batch` rows at a time.

    Raises:
        ArgumentError: there is no row.
    """
    if not len(x):
        raise ArgumentError("predict: x has no rows")
    run = compiled(lambda rows: model(rows), **options_of(backends))
    return np.concatenate([run(rows).numpy() for (rows,) in Data(x).batch(batch).epoch(0)])


def options_of(backends: Backends, **others: Any) -> dict[str, Any]:
    """The options of `compile` that are given."""
    return {k: v for k, v in {"backends": backends, **others}.items() if v is not None}
