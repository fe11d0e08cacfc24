"""`fit`: training with what goes around it.

    history = fit(model, (images, labels), epochs=5, validate=(test, answers), metrics=[accuracy])

A step is one compiled program: loss, gradients, new weights.  Its state is cells, the order of the
data follows from the seed, so a checkpoint holds all that there is, and a training that goes on
from one has the losses that it would have had, bit for bit.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from os import PathLike
from typing import Any, Optional, Union

from byparts_graph_ir import ArgumentError, GraphError
from byparts_graph_ir.errors import PartError
from byparts_nn.average import Average
from byparts_nn.checkpoint import Progress, load_checkpoint, save_checkpoint
from byparts_nn.data.pipeline import Data
from byparts_nn.evaluate import Backends, Batch, Evaluator, Loss, batched, options_of, pair_of
from byparts_nn.event_files import event_files
from byparts_nn.events import (
    Callback,
    CheckpointSaved,
    EpochDone,
    Event,
    StepDone,
    Stop,
    TrainingEnded,
    TrainingStarted,
)
from byparts_nn.history import History
from byparts_nn.losses import cross_entropy
from byparts_nn.metrics import Metrics, named
from byparts_nn.module import Module
from byparts_nn.optimizers.adam import Adam
from byparts_nn.optimizers.optimizer import Optimizer
from byparts_nn.progress import Log, logger
from byparts_nn.step import Step

Path = Union[str, PathLike[str]]


def fit(
    model: Module,
    data: object,
    *,
    loss: Loss = cross_entropy,
    optimizer: Optimizer | None = None,
    epochs: int = 1,
    batch: int = 32,
    validate: object = None,
    metrics: Metrics = (),
    callbacks: Sequence[Callback] = (),
    seed: int = 0,
    backends: Backends = None,
    budget_bytes: int | None = None,
    clip: float | None = None,
    accumulate: int = 1,
    average: Average | None = None,
    checkpoint: Path | None = None,
    checkpoint_steps: int | None = None,
    resume: bool | None = None,
    events: Path | None = None,
    log: Log = "auto",
    nan: str | None = None,
    processes: int = 1,
) -> History:
    """Train a model; the numbers of each epoch.

    Args:
        model: gives a prediction for the inputs of a batch.
        data: arrays (inputs, and the target last), or what `Data` takes, or a `Data`.
        loss: of (prediction, target), a number.
        optimizer: changes the weights; `Adam()` by default.
        epochs: how many, those of a checkpoint included.
        batch: samples of a step, where the data is not in batches.  Arrays are shuffled.
        validate: data that is not trained on, for the loss and the metrics after each epoch.
        metrics: functions of (prediction, target), NumPy arrays; or {name: function}.
        callbacks: functions of an event (`events.py`); one that returns `Stop` ends the training.
        seed: of the order of the data, where it is no `Data`.
        backends: as in `build`.
        budget_bytes: the most that a step's arena may take; values are computed again to keep it.
        clip: the longest that all gradients together may be; longer ones are shortened.
        accumulate: batches whose gradients make one update: large batches in little memory.
        average: a running mean of the weights, which takes them in after each update.
        checkpoint: a file that is replaced after each epoch: .safetensors, or .npz otherwise.
        checkpoint_steps: it is replaced also each time so many steps are done.
        resume: `True`: go on from the checkpoint, if it is there; `False`: start anew and replace
            it; by default a checkpoint that is there is an error.
        events: a folder for TensorBoard; needs the part tf-files.
        log: "auto": a bar or lines; `None`: nothing; or a function that takes lines.
        nan: "stop": a step that makes a NaN or an infinity changes nothing and ends the training,
            with the module that made it; costs a pass over the weights each step.
        processes: more than one needs the part distributed.

    Raises:
        NotFinite: with `nan="stop"`.
        FormatError: the checkpoint is damaged; it stays as it is.
        GraphError: the checkpoint is of another model or data; or the step cannot be built.
        ArgumentError: an argument that is none.
        PartError: a part is not installed.
    """
    optimizer = Adam() if optimizer is None else optimizer
    _check_objects(model, optimizer, loss, callbacks)
    _check(epochs, accumulate, nan, processes)
    if named(metrics) and validate is None:
        raise ArgumentError("fit: metrics are of data that is not trained on: give validate=")
    _check_checkpoint(checkpoint, checkpoint_steps, resume)
    options = options_of(backends, budget_bytes=budget_bytes)
    how: Any = {"clip": clip, "accumulate": accumulate, "average": average}
    step = Step(model, optimizer, loss, guarded=nan == "stop", options=options, **how)
    training = _Training(step, batched(data, batch, seed, shuffle=True))
    training.epochs, training.every = epochs, checkpoint_steps
    if validate is not None:
        evaluator = Evaluator(model, loss, metrics, options_of(backends))
        held_out = batched(validate, batch)
        training.validate = lambda: evaluator(held_out)
    shown = [logger(log), event_files(events) if events is not None else None]
    training.callbacks = [*[c for c in shown if c is not None], *callbacks]
    if checkpoint is not None:
        training.checkpoint = os.fspath(checkpoint)
        training.resume(resume)
    return training.run()


class _Training:
    """A training that is going on."""

    epochs: int
    every: Optional[int]
    callbacks: Sequence[Callback]
    validate: Optional[Callable[[], dict[str, float]]] = None
    checkpoint: Optional[str] = None

    def __init__(self, step: Step, data: Data) -> None:
        self.step, self.data = step, data
        self.history, self.progress, self._reason = History(), Progress(), ""
        self._samples, self._began = 0, 0.0  # of this epoch, in this process

    def run(self) -> History:
        """Train from where it is to the end."""
        start = (self.step.model, self.step.optimizer, self.epochs, self.data.batches, self.history)
        self._tell(TrainingStarted(*start))
        try:
            while self.progress.epoch < self.epochs and not self._reason:
                self._epoch()
            self._reason = self._reason or "all epochs are done"
        except BaseException as error:
            self._reason = f"{type(error).__name__}: {error}"
            raise
        finally:
            self.history.reason = self._reason
            self._tell(TrainingEnded(self._reason, self.history))
        return self.history

    def resume(self, wanted: bool | None) -> None:
        """Take the state of the checkpoint, if it is there and wanted."""
        path = self.checkpoint
        assert path is not None, "it is asked for"
        if wanted is False or not os.path.exists(path):
            return
        if wanted is None:
            how = "resume=True goes on from it, resume=False starts anew and replaces it"
            raise GraphError(f"fit: the checkpoint {path} exists: {how}")
        # The first batch makes the programs that the first training began with, so that a small one
        # cannot come first and be compiled otherwise.
        with closing(self.data.epoch(0)) as batches:
            for batch in islice(batches, 1):
                self.step.rehearse(pair_of(batch))
        cells, facts = self.step.cells(), self.data.describe()
        self.progress = load_checkpoint(path, cells, self.history, facts)

    def _epoch(self) -> None:
        progress = self.progress
        self._samples, self._began = 0, time.perf_counter()
        with closing(self.data.epoch(progress.epoch, progress.batch)) as batches:
            for batch in batches:
                self._one_step(pair_of(batch))
                if self.every and len(self.history.losses) % self.every == 0:
                    self._save()
                if self._reason:
                    return
        if not progress.samples:
            raise GraphError("fit: an epoch has no batch; is the data an iterator that is used up, "
                             "or smaller than one batch?")  # fmt: skip
        self._end_epoch()

    def _one_step(self, batch: Batch) -> None:
        progress, history, size = self.progress, self.history, len(batch[0])
        loss = self.step(batch, len(history.losses) + 1)
        progress.batch += 1
        progress.total += loss * size
        progress.samples += size
        history.losses.append(loss)
        self._samples += size
        if self.callbacks:
            self._tell_step(loss, size)

    def _tell_step(self, loss: float, size: int) -> None:
        progress = self.progress
        seconds = time.perf_counter() - self._began
        self._tell(
            StepDone(
                epoch=progress.epoch + 1,
                batch=progress.batch,
                step=len(self.history.losses),
                loss=loss,
                rate=self._rate(),
                samples=size,
                samples_per_s=self._samples / max(seconds, 1e-9),
                memory_bytes=_memory_bytes(),
            )
        )

    def _end_epoch(self) -> None:
        progress = self.progress
        seconds = time.perf_counter() - self._began
        row = {"epoch": progress.epoch + 1, "loss": progress.total / progress.samples}
        if self.validate is not None:
            measured = self.validate()
            row |= {"val_loss": measured.pop("loss"), **measured}
        rate = self._rate()
        row |= {} if rate is None else {"rate": rate}
        row["samples_per_s"] = self._samples / max(seconds, 1e-9)
        row["seconds"] = progress.seconds + time.perf_counter() - self._began
        self.history.rows.append(row)
        self.progress = Progress(epoch=progress.epoch + 1)
        done = progress.epoch + 1, row, self.history, self.step.model, self.step.optimizer
        self._tell(EpochDone(*done))
        self._save()

    def _save(self) -> None:
        if self.checkpoint is None:
            return
        progress, facts = self.progress, self.data.describe()
        if progress.batch:  # else an epoch has not begun
            seconds = progress.seconds + time.perf_counter() - self._began
            progress = replace(progress, seconds=seconds)
        save_checkpoint(self.checkpoint, self.step.cells(), progress, self.history, facts)
        self._tell(CheckpointSaved(self.checkpoint))

    def _tell(self, event: Event) -> None:
        for callback in self.callbacks:
            answer = callback(event)
            if isinstance(answer, Stop):
                self._reason = self._reason or answer.reason
            elif answer is not None:
                name = getattr(callback, "__name__", repr(callback))
                what = f"fit: callback {name} returned {answer!r:.60}"
                raise ArgumentError(f"{what}; it returns None, or Stop(reason)")

    def _rate(self) -> float | None:
        rate = getattr(self.step.optimizer, "rate", None)
        return None if rate is None else float(rate)


def _check_objects(model: object, optimizer: object, loss: object, callbacks: object) -> None:
    for name, value, kind, example in (
        ("model", model, Module, "Linear(4, 2)"),
        ("optimizer", optimizer, Optimizer, "Adam(1e-3)"),
    ):
        if not isinstance(value, kind):
            what = f"fit: {name}={value!r:.60} is no {kind.__name__}"
            raise ArgumentError(f"{what}; give an object, as {example}")
    functions = callbacks if isinstance(callbacks, (list, tuple)) else [None]
    if not all(map(callable, [loss, *functions])):
        raise ArgumentError(
            f"fit: loss={loss!r:.60}, callbacks={callbacks!r:.60}: give a function of (prediction, "
            "target), as nn.cross_entropy, and a list of functions of an event"
        )


def _check(epochs: int, accumulate: int, nan: str | None, processes: int) -> None:
    for name, number in (("epochs", epochs), ("accumulate", accumulate)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise ArgumentError(f"fit: {name}={number!r:.60}: give a whole number from 1 on")
    if nan not in (None, "stop"):
        raise ArgumentError(f'fit: nan={nan!r:.60}: give "stop", or leave it out')
    if processes != 1:
        raise PartError(
            f"fit: processes={processes!r:.60} needs the part 'distributed', which is not there "
            "yet; one process uses all cores through its backends"
        )


def _check_checkpoint(path: Path | None, steps: int | None, resume: bool | None) -> None:
    """Refuse now what would fail at the end of the first epoch."""
    if path is None:
        if steps is not None or resume:
            what = f"fit: checkpoint_steps={steps}, resume={resume}"
            raise ArgumentError(f"{what}: give the file, checkpoint=")
        return
    if steps is not None and steps < 1:
        raise ArgumentError(f"fit: checkpoint_steps={steps}: give at least 1")
    folder = os.path.dirname(os.fspath(path)) or "."
    if os.path.isdir(path) or not os.path.isdir(folder):
        why = "is a folder" if os.path.isdir(path) else f"the folder {folder} is not there"
        raise ArgumentError(f"fit: checkpoint={os.fspath(path)!r}: {why}; give the name of a file")


def _memory_bytes() -> int:
    """The most that this process has held; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
