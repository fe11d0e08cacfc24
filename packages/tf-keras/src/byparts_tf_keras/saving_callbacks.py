"""Callbacks that write files: checkpoints, and summaries for TensorBoard."""

from __future__ import annotations

import os
from typing import Any

import byparts_frontend_tf as tf
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.summaries import histogram_summary
from byparts_tf_keras.callbacks import Callback
from byparts_tf_keras.values import batch_get_value
from byparts_tf_keras.watching_callbacks import Watching


@symbol("keras.callbacks.ModelCheckpoint")
class ModelCheckpoint(Watching):
    """Saves the model, or its weights, after epochs.

    Args:
        filepath: of the file; may have `{epoch:02d}` and the names of values.
        monitor: the value that is watched, where only the best is saved.
        verbose: 1 prints what is done.
        save_best_only: whether it is saved only where the value got better.
        save_weights_only: whether the weights are saved, not the model.
        mode: min, max, or auto.
        save_freq: "epoch", or after how many examples.
        given: period: after how many epochs; load_weights_on_restart.
    """

    def __init__(
        self,
        filepath: Any,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: Any = "epoch",
        **kwargs: Any,
    ) -> None:
        super().__init__(monitor, mode)
        self.filepath, self.verbose = os.fspath(filepath), verbose
        self.save_best_only, self.save_weights_only = save_best_only, save_weights_only
        self.save_freq, self.period = save_freq, kwargs.pop("period", 1)
        kwargs.pop("load_weights_on_restart", None)
        if kwargs:
            raise TypeError(f"ModelCheckpoint takes no {sorted(kwargs)}")
        self._epochs = self._examples = self._epoch = 0

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Remember which epoch it is."""
        self._epoch = epoch

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Save after so many examples."""
        if isinstance(self.save_freq, int):
            self._examples += (logs or {}).get("size", 1)
            if self._examples >= self.save_freq:
                self._examples = 0
                self._save(self._epoch, logs or {})

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Save after so many epochs."""
        self._epochs += 1
        if self.save_freq == "epoch" and self._epochs >= self.period:
            self._epochs = 0
            self._save(epoch, logs or {})

    def _save(self, epoch: int, logs: dict[str, Any]) -> None:
        path = self.filepath.format(epoch=epoch + 1, **logs)
        begin = f"\nEpoch {epoch + 1:05d}: "
        if self.save_best_only:
            current = self.value_in(logs)
            if current is None:
                return
            if not self.better(current):
                if self.verbose > 0:
                    print(f"{begin}{self.monitor} did not improve from {self.best:0.5f}")
                return
            if self.verbose > 0:
                print(
                    f"{begin}{self.monitor} improved from {self.best:0.5f} to {current:0.5f}, "
                    f"saving model to {path}"
                )
            self.best = current
        elif self.verbose > 0:
            print(f"{begin}saving model to {path}")
        if self.save_weights_only:
            self.model.save_weights(path, overwrite=True)
        else:
            self.model.save(path, overwrite=True)


@symbol("keras.callbacks.TensorBoard")
class TensorBoard(Callback):
    """Writes event files for TensorBoard: values of epochs, histograms of weights, the graph.

    Args:
        log_dir: the folder.
        histogram_freq: after how many epochs histograms of weights are written; 0: never.
        batch_size: accepted.
        write_graph: whether the graph is written.
        write_grads, write_images: accepted.
        update_freq: "epoch", "batch", or after how many examples values are written.
        given: embeddings and profiling: accepted.
    """

    def __init__(
        self,
        log_dir: Any = "./logs",
        histogram_freq: int = 0,
        batch_size: int = 32,
        write_graph: bool = True,
        write_grads: bool = False,
        write_images: bool = False,
        embeddings_freq: int = 0,
        embeddings_layer_names: Any = None,
        embeddings_metadata: Any = None,
        embeddings_data: Any = None,
        update_freq: Any = "epoch",
        profile_batch: int = 2,
    ) -> None:
        super().__init__()
        self.log_dir, self.histogram_freq = os.fspath(log_dir), histogram_freq
        self.write_graph, self.update_freq = write_graph, update_freq
        self._step = self._examples = 0
        self.writer: Any = None

    def on_train_begin(self, logs: Any = None) -> None:
        """Open the file."""
        graph = tf.get_default_graph() if self.write_graph else None
        self.writer = tf.summary.FileWriter(self.log_dir, graph)

    def _write(self, values: dict[str, Any], step: int) -> None:
        for name, value in values.items():
            summary = tf.Summary()
            summary.value.add(tag=name, simple_value=float(value))
            self.writer.add_summary(summary, step)
        self.writer.flush()

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Write values after so many examples."""
        logs = logs or {}
        self._step += 1
        self._examples += logs.get("size", 1)
        wanted = 1 if self.update_freq == "batch" else self.update_freq
        if wanted != "epoch" and self._examples >= wanted:
            self._examples = 0
            named = {f"batch_{k}": v for k, v in logs.items() if k not in ("batch", "size")}
            self._write(named, self._step)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Write the values of the epoch."""
        named = {f"epoch_{k}": v for k, v in (logs or {}).items()}
        self._write(named, epoch)
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            self._histograms(epoch)

    def _histograms(self, epoch: int) -> None:
        weights = self.model.weights
        for weight, value in zip(weights, batch_get_value(weights), strict=True):
            summary = histogram_summary(weight.name.replace(":", "_"), value)
            self.writer.add_summary(summary, epoch)

    def on_train_end(self, logs: Any = None) -> None:
        """Close the file."""
        self.writer.close()
