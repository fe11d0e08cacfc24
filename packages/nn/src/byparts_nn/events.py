"""Events that `fit` tells its callbacks, and the answer that they may give.

A callback is a function of one event.  It returns `None`, or `Stop(reason)` to end the training:

    def impatient(event):
        if isinstance(event, StepDone) and event.loss < 0.1:
            return Stop("the loss is below 0.1")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Optional, Union

from byparts_nn.history import History


@dataclass(frozen=True)
class TrainingStarted:
    """Training begins, or goes on from a checkpoint.

    Attributes:
        model: the module.
        optimizer: what changes it.
        epochs: how many there will be.
        steps: of an epoch; `None`: not known before.
        history: of the epochs that are done.
    """

    model: Any
    optimizer: Any
    epochs: int
    steps: Optional[int]
    history: History


@dataclass(frozen=True)
class StepDone:
    """A step was done.

    Attributes:
        epoch: its number, from 1 on.
        batch: how many batches of the epoch are done.
        step: how many steps are done in all.
        loss: of this batch.
        rate: of the optimizer, if it has one.
        samples: in this batch.
        samples_per_s: since the epoch began here.
        memory_bytes: the most that the process has held; 0 where the system does not tell.
    """

    epoch: int
    batch: int
    step: int
    loss: float
    rate: Optional[float]
    samples: int
    samples_per_s: float
    memory_bytes: int


@dataclass(frozen=True)
class EpochDone:
    """An epoch was done and validated.

    Attributes:
        epoch: its number, from 1 on.
        row: that of the history: name -> number.
        history: with that row.
        model: the module.
        optimizer: what changes it.
    """

    epoch: int
    row: Mapping[str, float]
    history: History
    model: Any
    optimizer: Any


@dataclass(frozen=True)
class CheckpointSaved:
    """A checkpoint is on the disk, at `path`."""

    path: str


@dataclass(frozen=True)
class TrainingEnded:
    """Training ends: after its epochs, by a callback, or by an error; `reason` says which."""

    reason: str
    history: History


Event = Union[TrainingStarted, StepDone, EpochDone, CheckpointSaved, TrainingEnded]


@dataclass(frozen=True)
class Stop:
    """The answer of a callback that ends the training after this event."""

    reason: str


Callback = Callable[[Event], Optional[Stop]]


def early_stopping(
    column: str = "val_loss",
    *,
    patience: int = 3,
    least_change: float = 0.0,
    larger_is_better: bool = False,
) -> Callback:
    """A callback that stops when a column of the history has not improved for some epochs.

    The decision follows from the history alone, so a resumed training decides the same.

    Args:
        column: as in the history: "val_loss", "loss", or the name of a metric.
        patience: epochs without improvement that are allowed.
        least_change: a change by less than this is no improvement.
        larger_is_better: for accuracies and the like.
    """
    sign = -1.0 if larger_is_better else 1.0

    def decide(event: Event) -> Stop | None:
        if not isinstance(event, (TrainingStarted, EpochDone)) or not len(event.history):
            return None
        best, since = float("inf"), 0
        for value in event.history.column(column):
            improved = sign * value < best - least_change
            best, since = (sign * value, 0) if improved else (best, since + 1)
        if since < patience:
            return None
        return Stop(f"{column} has not improved on {sign * best:.6g} for {since} epochs")

    return decide
