"""The loops of `fit`, `evaluate` and `predict`: batch after batch, callbacks between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Optional

import numpy as np

from byparts_tf_keras.callbacks import CallbackList, History
from byparts_tf_keras.data import Batches, batches_of, sliced, split
from byparts_tf_keras.logging_callbacks import ProgbarLogger


class Source:
    """Batches for a model.

    Attributes:
        count: examples, or steps where `by_steps`; `None` if that is not known.
        by_steps: whether steps are counted, not examples.
        known: how many examples there are, for validation.
    """

    count: Optional[int]
    by_steps = False

    def epoch(self) -> Iterator[tuple[list[Any], int]]:
        """(what is fed, how many examples), batch after batch."""
        raise NotImplementedError

    def end(self) -> None:
        """After an epoch."""


class Arrays(Source):
    """Arrays of examples, in a new order in each epoch if `shuffle`."""

    def __init__(
        self, arrays: Sequence[Any], size: int, shuffle: Any = False, steps: Optional[int] = None
    ) -> None:
        self._arrays, self._size, self._shuffle, self._steps = arrays, size, shuffle, steps
        examples = int(arrays[0].shape[0]) if arrays else 1
        self.count = steps if steps else examples
        self.by_steps, self._examples = steps is not None, examples

    def split(self, share: float) -> tuple[Arrays, Arrays]:
        """(the first examples, the rest, which are this share)."""
        kept, held = split(self._arrays, int(self._examples * (1.0 - share)))
        return Arrays(kept, self._size, self._shuffle), Arrays(held, self._size)

    def epoch(self) -> Iterator[tuple[list[Any], int]]:
        """Batches; with steps, all of the arrays in each."""
        if self._steps is not None:
            for _ in range(self._steps):
                yield list(self._arrays), self._examples
            return
        order = np.arange(self._examples)
        ranges = batches_of(self._examples, self._size)
        if self._shuffle == "batch":
            whole = self._examples // self._size * self._size
            rows = order[:whole].reshape(-1, self._size)
            np.random.shuffle(rows)
            order = np.append(rows.reshape(-1), order[whole:])
        elif self._shuffle:
            np.random.shuffle(order)
        for begin, end in ranges:
            whole_batch = len(ranges) == 1
            if whole_batch or not self._shuffle:
                yield [a[begin:end] for a in self._arrays], end - begin
            else:
                yield sliced(self._arrays, order[begin:end]), end - begin


class Stream(Source):
    """Batches that a generator, a `Sequence` or a dataset gives."""

    by_steps = True

    def __init__(self, batches: Batches, prepare: Any) -> None:
        self._batches, self._prepare, self.count = batches, prepare, batches.steps

    def epoch(self) -> Iterator[tuple[list[Any], int]]:
        """The batches of an epoch."""
        done = 0
        for batch in self._batches.epoch():
            arrays = self._prepare(batch)
            done += 1
            yield arrays, int(np.shape(arrays[0])[0])
        self.count = self.count or done

    def end(self) -> None:
        """After an epoch."""
        self._batches.end()


class _Totals:
    """Means over batches: the first number by examples, the others as they are in the end."""

    def __init__(self, by_steps: bool) -> None:
        self._by_steps, self._count = by_steps, 0
        self.results: list[Any] = []

    def add(self, outputs: list[Any], examples: int) -> None:
        weight = 1 if self._by_steps else examples
        first = outputs[0] * weight
        self.results = [self.results[0] + first if self.results else first, *outputs[1:]]
        self._count += weight

    def finish(self) -> list[Any]:
        return [self.results[0] / self._count, *self.results[1:]] if self.results else []


def train(
    model: Any,
    source: Source,
    run: Any,
    *,
    epochs: int,
    initial_epoch: int,
    callbacks: Any,
    verbose: int,
    validation: Any,
    validation_freq: Any,
    batch_size: Optional[int],
) -> History:
    """Train for epochs; `validation` gives a `Source` and a function, or is `None`."""
    names = model.metrics_names
    history = History()
    listed = CallbackList([*(callbacks or []), history])
    if verbose:
        listed.append(ProgbarLogger("steps" if source.by_steps else "samples", names[1:]))
    listed.set_model(model)
    listed.set_params(_params(source, epochs, batch_size, verbose, names, validation))
    model.history = history
    model.stop_training = False
    listed.on_train_begin({})
    for epoch in range(initial_epoch, epochs):
        if model.stop_training:
            break
        model.reset_metrics()
        logs: dict[str, Any] = {}
        listed.on_epoch_begin(epoch, logs)
        results = _epoch(model, source, run, listed, bool(source.by_steps and batch_size))
        logs.update(zip(names, results, strict=False))
        if validation is not None and _wanted(validation_freq, epoch) and not model.stop_training:
            found = test(model, validation[0], validation[1], verbose=0, callbacks=listed)
            logs.update({f"val_{n}": v for n, v in zip(names, found, strict=True)})
        listed.on_epoch_end(epoch, logs)
        source.end()
    listed.on_train_end({})
    return history


def _epoch(model: Any, source: Source, run: Any, listed: CallbackList, by_steps: bool) -> list[Any]:
    """Train on all batches, callbacks between: the means of what each gave."""
    totals = _Totals(source.by_steps)
    for step, (arrays, examples) in enumerate(source.epoch()):
        logs: dict[str, Any] = {"batch": step, "size": 1 if by_steps else examples}
        listed.on_batch_begin(step, logs)
        outputs = run(arrays)
        totals.add(outputs, examples)
        logs.update(zip(model.metrics_names, outputs, strict=True))
        listed.on_batch_end(step, logs)
        if model.stop_training:
            break
    return totals.finish()


def _params(
    source: Source, epochs: int, batch_size: Any, verbose: int, names: list[str], validation: Any
) -> dict[str, Any]:
    """The parameters of the training that callbacks are told."""
    return {
        "batch_size": batch_size,
        "epochs": epochs,
        "steps": source.count if source.by_steps else None,
        "samples": source.count,
        "verbose": verbose,
        "do_validation": validation is not None,
        "metrics": [*names, *[f"val_{n}" for n in names if validation is not None]],
    }


def _wanted(validation_freq: Any, epoch: int) -> bool:
    if isinstance(validation_freq, int):
        return (epoch + 1) % validation_freq == 0
    return epoch + 1 in validation_freq


def test(model: Any, source: Source, run: Any, *, verbose: int, callbacks: Any) -> list[Any]:
    """The loss and the metrics of all batches."""
    names, totals = model.metrics_names, _Totals(source.by_steps)
    model.reset_metrics()
    listed = callbacks if isinstance(callbacks, CallbackList) else CallbackList(callbacks or [])
    if listed is not callbacks:
        listed.set_model(model)
    bar = ProgbarLogger.of(source, names, verbose)
    listed.on_test_begin({})
    for step, (arrays, examples) in enumerate(source.epoch()):
        logs: dict[str, Any] = {"batch": step, "size": examples}
        listed.on_test_batch_begin(step, logs)
        outputs = run(arrays)
        totals.add(outputs, examples)
        logs.update(zip(names, outputs, strict=True))
        listed.on_test_batch_end(step, logs)
        bar.on_batch_end(step, logs)
    results = totals.finish()
    bar.on_epoch_end(0, dict(zip(names, results, strict=False)))
    listed.on_test_end({})
    return results


def predict(
    model: Any, source: Source, run: Any, *, verbose: int, callbacks: Any = None
) -> list[Any]:
    """The outputs for all batches, one array for each output."""
    listed = CallbackList(callbacks or [])
    listed.set_model(model)
    bar = ProgbarLogger.of(source, [], verbose)
    listed.on_predict_begin({})
    batches: list[list[Any]] = []
    for step, (arrays, examples) in enumerate(source.epoch()):
        logs: dict[str, Any] = {"batch": step, "size": examples}
        listed.on_predict_batch_begin(step, logs)
        batches.append(run(arrays))
        listed.on_predict_batch_end(step, logs)
        bar.on_batch_end(step, logs)
    bar.on_epoch_end(0, {})
    listed.on_predict_end({})
    if len(batches) == 1:
        return batches[0]
    return [np.concatenate(parts) for parts in zip(*batches, strict=True)]
