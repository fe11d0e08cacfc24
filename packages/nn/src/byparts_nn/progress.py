"""Shows how a training goes: a bar on a terminal or in a notebook, else a line for each epoch.

The bar is that of tqdm or of rich, whichever is installed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, Union

from byparts_graph_ir import ArgumentError
from byparts_nn.events import Callback, EpochDone, Event, StepDone, TrainingEnded, TrainingStarted
from byparts_nn.history import shown

Log = Union[str, Callable[[str], object], None]

_EVERY_S = 10.0  # a line within a long epoch
_UNITS = {"samples_per_s": "samples/s", "seconds": "s"}


def logger(log: Log) -> Callback | None:
    """The callback that shows a training: `log` is "auto", `None`, or takes lines of text.

    Raises:
        ArgumentError: it is something else.
    """
    if log is None or callable(log):
        return _lines(log) if callable(log) else None
    if log != "auto":
        raise ArgumentError(f'fit: log={log!r:.60}: give "auto", None, or a function of a line')
    return (_bar() if _is_shown() else None) or _lines(print)


def _is_shown() -> bool:
    """Whether a bar can move: on a terminal, or in a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _lines(write: Callable[[str], object]) -> Callback:
    """A line at the end of each epoch, and every ten seconds within."""
    written, epochs = time.monotonic(), 0

    def show(event: Event) -> None:
        nonlocal written, epochs
        if isinstance(event, TrainingStarted):
            epochs = event.epochs
        elif isinstance(event, EpochDone):
            write(f"epoch {event.epoch}/{epochs}: {in_words(event.row)}")
            written = time.monotonic()
        elif isinstance(event, StepDone) and time.monotonic() - written > _EVERY_S:
            write(f"epoch {event.epoch}/{epochs}, batch {event.batch}: {state_of(event)}")
            written = time.monotonic()
        elif isinstance(event, TrainingEnded) and event.reason != "all epochs are done":
            write(f"stopped: {event.reason}")

    return show


def in_words(row: Any) -> str:
    """A row of the history: "loss 0.5, rate 0.001, 1,234 samples/s, 0.2 s"."""
    words = []
    for name, value in row.items():
        if name in _UNITS:
            digits = f"{value:,.0f}" if name == "samples_per_s" else f"{value:.1f}"
            words.append(f"{digits} {_UNITS[name]}")
        elif name != "epoch":
            words.append(f"{name} {shown(value)}")
    return ", ".join(words)


def state_of(event: StepDone) -> str:
    """A step, for the end of a bar."""
    rate = "" if event.rate is None else f", rate {event.rate:.3g}"
    memory = f", {event.memory_bytes / 2**20:,.0f} MB" if event.memory_bytes else ""
    return f"loss {shown(event.loss)}{rate}, {event.samples_per_s:,.0f} samples/s{memory}"


def _bar() -> Callback | None:
    try:
        return _tqdm_bar(import_module("tqdm.auto").tqdm)
    except ImportError:
        pass
    try:
        return _rich_bar(import_module("rich.progress").Progress)
    except ImportError:
        return None


def _tqdm_bar(make: Any) -> Callback:
    bar: Any = None
    started: Any = None

    def show(event: Event) -> None:
        nonlocal bar, started
        if isinstance(event, TrainingStarted):
            started = event
        elif isinstance(event, StepDone):
            if bar is None:
                name = f"epoch {event.epoch}/{started.epochs}"
                bar = make(total=started.steps, initial=event.batch - 1, desc=name, unit="batch")
            bar.set_postfix_str(state_of(event), refresh=False)
            bar.update()
        elif bar is not None and isinstance(event, (EpochDone, TrainingEnded)):
            if isinstance(event, EpochDone):
                bar.set_postfix_str(in_words(event.row))
            bar.close()
            bar = None

    return show


def _rich_bar(make: Any) -> Callback:
    bars: Any = make()
    task: Any = None
    started: Any = None

    def show(event: Event) -> None:
        nonlocal task, started
        if isinstance(event, TrainingStarted):
            started = event
            bars.start()
        elif isinstance(event, StepDone):
            name = f"epoch {event.epoch}/{started.epochs}: {state_of(event)}"
            if task is None:
                task = bars.add_task(name, total=started.steps)
            bars.update(task, completed=event.batch, description=name)
        elif isinstance(event, EpochDone) and task is not None:
            name = f"epoch {event.epoch}/{started.epochs}: {in_words(event.row)}"
            bars.update(task, total=1, completed=1, description=name)
            task = None
        elif isinstance(event, TrainingEnded):
            bars.stop()

    return show
