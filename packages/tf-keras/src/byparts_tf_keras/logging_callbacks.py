"""Callbacks of Keras that tell how training goes: a bar, a table, a server."""

from __future__ import annotations

import csv
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.callbacks import Callback
from byparts_tf_keras.progress import Progbar


@symbol("keras.callbacks.ProgbarLogger")
class ProgbarLogger(Callback):
    """Prints a bar for each epoch."""

    def __init__(self, count_mode: str = "samples", stateful_metrics: Any = None) -> None:
        super().__init__()
        self.use_steps = count_mode == "steps"
        self.stateful_metrics = set(stateful_metrics or ())
        self.progbar: Optional[Progbar] = None
        self.seen = 0

    @classmethod
    def of(cls, source: Any, names: list[str], verbose: int) -> ProgbarLogger:
        """A logger of an evaluation or a prediction."""
        bar = cls("steps" if source.by_steps else "samples", names[1:])
        bar.set_params({"verbose": verbose, "epochs": 1, "metrics": names, "count": source.count})
        bar.begin(source.count)
        return bar

    def begin(self, target: Optional[int]) -> None:
        """Begin a bar."""
        self.seen = 0
        self.progbar = Progbar(
            target,
            verbose=self.params["verbose"],
            stateful_metrics=list(self.stateful_metrics),
            unit_name="step" if self.use_steps else "sample",
        )

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Print which epoch it is."""
        if self.params["verbose"] and self.params["epochs"] > 1:
            print(f"Epoch {epoch + 1}/{self.params['epochs']}")
        self.begin(self.params["steps" if self.use_steps else "samples"])

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Print how far it is."""
        logs, bar = logs or {}, self.progbar
        self.seen += 1 if self.use_steps else logs.get("size", 0)
        if bar is not None and self.params["verbose"]:
            values = [(n, logs[n]) for n in self.params["metrics"] if n in logs]
            if bar.target is None or self.seen < bar.target:
                bar.update(self.seen, values)
            self._last = values

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Print the values of the epoch."""
        bar = self.progbar
        if bar is not None and self.params["verbose"]:
            if bar.target is None:
                bar.target = self.seen
            bar._values.clear()
            values = [(n, (logs or {})[n]) for n in self.params["metrics"] if n in (logs or {})]
            bar.update(self.seen, values)


@symbol("keras.callbacks.CSVLogger")
class CSVLogger(Callback):
    """Writes the values of each epoch into a file, a line for each."""

    def __init__(self, filename: str, separator: str = ",", append: bool = False) -> None:
        super().__init__()
        self.filename, self.sep, self.append = str(filename), separator, append
        self._writer: Any = None

    def on_train_begin(self, logs: Any = None) -> None:
        """Open the file."""
        self._file = open(self.filename, "a" if self.append else "w", newline="")  # noqa: SIM115  # for all epochs
        self._known = self.append and self._file.tell() > 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Write a line."""
        logs = logs or {}
        if self._writer is None:
            names = ["epoch", *sorted(logs)]
            self._writer = csv.DictWriter(
                self._file, names, delimiter=self.sep, lineterminator="\n", extrasaction="ignore"
            )
            if not self._known:
                self._writer.writeheader()
        row = {k: _listed(v) for k, v in logs.items()}
        self._writer.writerow({"epoch": epoch, **row})
        self._file.flush()

    def on_train_end(self, logs: Any = None) -> None:
        """Close the file."""
        self._file.close()
        self._writer = None


def _listed(value: Any) -> Any:
    return value if np.ndim(value) == 0 else f'"[{", ".join(map(str, value))}]"'


@symbol("keras.callbacks.RemoteMonitor")
class RemoteMonitor(Callback):
    """Refused: nothing is sent anywhere.

    Raises:
        NotImplementedError: always.
    """

    def __init__(self, *arguments: Any, **kwargs: Any) -> None:
        raise NotImplementedError("RemoteMonitor is not here: write a Callback that sends")
