"""Callbacks of Keras: what is told of training, and may stop it."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.program.tf_logging import warning
from byparts_frontend_tf.keras_api.progress import Progbar
from byparts_frontend_tf.keras_api.values import get_value, set_value
from byparts_frontend_tf.symbols import symbol


@symbol("keras.callbacks.Callback")
class Callback:
    """A base class: a subclass says what happens when.

    Attributes:
        model: that is trained.
        params: epochs, steps, samples, verbose, metrics.
    """

    validation_data: Any = None

    def __init__(self) -> None:
        self.model: Any = None
        self.params: dict[str, Any] = {}

    def set_params(self, params: dict[str, Any]) -> None:
        """Hear how the model is trained."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Hear which model is trained."""
        self.model = model

    def on_train_begin(self, logs: Any = None) -> None:
        """Before the first epoch."""

    def on_train_end(self, logs: Any = None) -> None:
        """After the last epoch."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Before an epoch."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """After an epoch."""

    def on_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch."""

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """After a batch."""

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch of training."""
        self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """After a batch of training."""
        self.on_batch_end(batch, logs)

    def on_test_begin(self, logs: Any = None) -> None:
        """Before evaluation."""

    def on_test_end(self, logs: Any = None) -> None:
        """After evaluation."""

    def on_test_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch of evaluation."""

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        """After a batch of evaluation."""

    def on_predict_begin(self, logs: Any = None) -> None:
        """Before prediction."""

    def on_predict_end(self, logs: Any = None) -> None:
        """After prediction."""

    def on_predict_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch of prediction."""

    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
        """After a batch of prediction."""


_SAME = {"on_batch_begin": "on_train_batch_begin", "on_batch_end": "on_train_batch_end"}


class CallbackList:
    """Several callbacks, told one after the other."""

    def __init__(self, callbacks: Any) -> None:
        self.callbacks = list(callbacks)

    def append(self, callback: Any) -> None:
        """Add one at the end."""
        self.callbacks.append(callback)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.callbacks)

    def __getattr__(self, name: str) -> Callable[..., None]:
        if not name.startswith(("on_", "set_")):
            raise AttributeError(name)
        called = _SAME.get(name, name)

        def tell(*arguments: Any) -> None:
            for callback in self.callbacks:
                known = getattr(callback, called, None) or getattr(callback, name, None)
                if known is not None:
                    known(*arguments)

        return tell


@symbol("keras.callbacks.History")
class History(Callback):
    """The values at the end of each epoch."""

    def __init__(self) -> None:
        super().__init__()
        self.epoch: list[int] = []
        self.history: dict[str, list[Any]] = {}

    def on_train_begin(self, logs: Any = None) -> None:
        """Begin anew."""
        self.epoch, self.history = [], {}

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Remember the values."""
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


@symbol("keras.callbacks.BaseLogger")
class BaseLogger(Callback):
    """Accepted: training itself takes means."""

    def __init__(self, stateful_metrics: Any = None) -> None:
        super().__init__()
        self.stateful_metrics = set(stateful_metrics or ())


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
        """One for an evaluation or a prediction."""
        made = cls("steps" if source.by_steps else "samples", names[1:])
        made.set_params({"verbose": verbose, "epochs": 1, "metrics": names, "count": source.count})
        made.begin(source.count)
        return made

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


@symbol("keras.callbacks.LambdaCallback")
class LambdaCallback(Callback):
    """Functions as a callback."""

    def __init__(
        self,
        on_epoch_begin: Any = None,
        on_epoch_end: Any = None,
        on_batch_begin: Any = None,
        on_batch_end: Any = None,
        on_train_begin: Any = None,
        on_train_end: Any = None,
        **given: Any,
    ) -> None:
        super().__init__()
        named = {
            **{"on_epoch_begin": on_epoch_begin, "on_epoch_end": on_epoch_end},
            **{"on_batch_begin": on_batch_begin, "on_batch_end": on_batch_end},
            **{"on_train_begin": on_train_begin, "on_train_end": on_train_end},
            **given,
        }
        self.__dict__.update({k: f for k, f in named.items() if f is not None})


@symbol("keras.callbacks.TerminateOnNaN")
class TerminateOnNaN(Callback):
    """Stops where the loss is no number."""

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Look at the loss."""
        loss = (logs or {}).get("loss")
        if loss is not None and not np.isfinite(loss):
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


class Watching(Callback):
    """Watches whether a value gets better.

    Args:
        monitor: the name of the value.
        mode: min, max, or auto: what has "acc" in its name is to grow.
        min_delta: what is no improvement.
    """

    def __init__(self, monitor: str, mode: str, min_delta: float = 0.0) -> None:
        super().__init__()
        grows = mode == "max" or (
            mode not in ("min", "max") and ("acc" in monitor or monitor.startswith("fmeasure"))
        )
        self.monitor, self.mode, self.min_delta = monitor, mode, abs(min_delta)
        self._grows = grows
        self.best: Any = None
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget the best value."""
        self.best = -np.inf if self._grows else np.inf

    def better(self, value: Any) -> bool:
        """Whether the value is better than the best."""
        if self._grows:
            return bool(np.greater(value - self.min_delta, self.best))
        return bool(np.less(value + self.min_delta, self.best))

    def value_in(self, logs: Any) -> Any:
        """The value that is watched; `None` and a warning if there is none."""
        value = (logs or {}).get(self.monitor)
        if value is None:
            warning(
                f"{type(self).__name__} conditioned on metric `{self.monitor}` which is not "
                f"available. Available metrics are: {','.join(logs or {})}"
            )
        return value


@symbol("keras.callbacks.EarlyStopping")
class EarlyStopping(Watching):
    """Stops when a value has not got better for `patience` epochs."""

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: int = 0,
        mode: str = "auto",
        baseline: Any = None,
        restore_best_weights: bool = False,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        self.patience, self.verbose, self.baseline = patience, verbose, baseline
        self.restore_best_weights, self.best_weights = restore_best_weights, None
        self.wait = self.stopped_epoch = 0

    def on_train_begin(self, logs: Any = None) -> None:
        """Begin anew."""
        self.wait = self.stopped_epoch = 0
        self.begin_anew()
        if self.baseline is not None:
            self.best = self.baseline

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Look at the value."""
        current = self.value_in(logs)
        if current is None:
            return
        if self.better(current):
            self.best, self.wait = current, 0
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            return
        self.wait += 1
        if self.wait >= self.patience:
            self.stopped_epoch, self.model.stop_training = epoch, True
            if self.restore_best_weights and self.best_weights is not None:
                if self.verbose > 0:
                    print("Restoring model weights from the end of the best epoch.")
                self.model.set_weights(self.best_weights)

    def on_train_end(self, logs: Any = None) -> None:
        """Print where it stopped."""
        if self.stopped_epoch > 0 and self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1:05d}: early stopping")


@symbol("keras.callbacks.ReduceLROnPlateau")
class ReduceLROnPlateau(Watching):
    """Reduces the learning rate when a value has not got better for `patience` epochs."""

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
        **given: Any,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("ReduceLROnPlateau does not support a factor >= 1.0.")
        super().__init__(monitor, mode, given.get("epsilon", min_delta))
        self.factor, self.patience, self.verbose = factor, patience, verbose
        self.cooldown, self.min_lr = cooldown, min_lr
        self.cooldown_counter = self.wait = 0

    def on_train_begin(self, logs: Any = None) -> None:
        """Begin anew."""
        self.begin_anew()
        self.cooldown_counter = self.wait = 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Look at the value."""
        logs = {} if logs is None else logs
        logs["lr"] = get_value(self.model.optimizer.lr)
        current = self.value_in(logs)
        if current is None:
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self.better(current):
            self.best, self.wait = current, 0
        elif self.cooldown_counter <= 0:
            self.wait += 1
            if self.wait >= self.patience:
                self._reduce(epoch)

    def _reduce(self, epoch: int) -> None:
        old = float(get_value(self.model.optimizer.lr))
        if old > self.min_lr:
            new = max(old * self.factor, self.min_lr)
            set_value(self.model.optimizer.lr, new)
            if self.verbose > 0:
                print(
                    f"\nEpoch {epoch + 1:05d}: ReduceLROnPlateau reducing learning rate to {new}."
                )
            self.cooldown_counter, self.wait = self.cooldown, 0


@symbol("keras.callbacks.LearningRateScheduler")
class LearningRateScheduler(Callback):
    """Sets the learning rate of each epoch by a function of its number (and the rate)."""

    def __init__(self, schedule: Callable[..., float], verbose: int = 0) -> None:
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Set the rate."""
        if not hasattr(self.model.optimizer, "lr"):
            raise ValueError('Optimizer must have a "lr" attribute.')
        try:
            rate = self.schedule(epoch, float(get_value(self.model.optimizer.lr)))
        except TypeError:  # a function of the epoch
            rate = self.schedule(epoch)
        if not isinstance(rate, (float, np.float32, np.float64)):
            raise ValueError('The output of the "schedule" function should be float.')
        set_value(self.model.optimizer.lr, rate)
        if self.verbose > 0:
            print(
                f"\nEpoch {epoch + 1:05d}: LearningRateScheduler reducing learning rate to {rate}."
            )

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Report the rate."""
        if logs is not None:
            logs["lr"] = get_value(self.model.optimizer.lr)


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

    def __init__(self, *arguments: Any, **given: Any) -> None:
        raise NotImplementedError("RemoteMonitor is not here: write a Callback that sends")
