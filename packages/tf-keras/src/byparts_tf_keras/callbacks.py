"""Callbacks of Keras: what is told of training, and may stop it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

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
        **kwargs: Any,
    ) -> None:
        super().__init__()
        named = {
            **{"on_epoch_begin": on_epoch_begin, "on_epoch_end": on_epoch_end},
            **{"on_batch_begin": on_batch_begin, "on_batch_end": on_batch_end},
            **{"on_train_begin": on_train_begin, "on_train_end": on_train_end},
            **kwargs,
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
