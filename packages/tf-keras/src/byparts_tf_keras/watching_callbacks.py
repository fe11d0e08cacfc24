"""Callbacks of Keras that watch a metric, or set the learning rate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from byparts_frontend_tf.api.logging import warning
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.callbacks import Callback
from byparts_tf_keras.values import get_value, set_value


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
        **kwargs: Any,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("ReduceLROnPlateau does not support a factor >= 1.0.")
        super().__init__(monitor, mode, kwargs.get("epsilon", min_delta))
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
