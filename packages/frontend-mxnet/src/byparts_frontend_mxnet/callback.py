"""Callbacks of training: speed, checkpoints, metrics."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from byparts_frontend_mxnet.checkpoint import save_checkpoint


class BatchEndParam(NamedTuple):
    """Arguments of a callback at the end of a batch."""

    epoch: int
    nbatch: int
    eval_metric: Any
    locals: Any


class Speedometer:
    """Logs samples a second and the metric, every `frequent` batches.

    Args:
        batch_size: samples in a batch.
        frequent: how many batches lie between two lines.
        auto_reset: whether the metric starts anew after each line.
    """

    def __init__(self, batch_size: int, frequent: int = 50, auto_reset: bool = True) -> None:
        self.batch_size, self.frequent, self.auto_reset = batch_size, frequent, auto_reset
        self._last, self._since = 0, 0.0

    def __call__(self, param: BatchEndParam) -> None:
        """Count a batch; maybe log."""
        if param.nbatch < self._last or not self._since:  # the first batch of an epoch
            self._since = time.time()
        elif param.nbatch % self.frequent == 0:
            seconds = time.time() - self._since
            speed = self.frequent * self.batch_size / max(seconds, 1e-9)
            pairs = param.eval_metric.get_name_value() if param.eval_metric is not None else []
            values = "".join(f"\t{name}={value:f}" for name, value in pairs)
            where = f"Epoch[{param.epoch}] Batch [{param.nbatch}]"
            logging.info("%s\tSpeed: %.2f samples/sec%s", where, speed, values)
            if pairs and self.auto_reset:
                param.eval_metric.reset()
            self._since = time.time()
        self._last = param.nbatch


class ProgressBar:
    """Writes a bar of `length` letters that is full after `total` batches."""

    def __init__(self, total: int, length: int = 80) -> None:
        self.total, self.bar_len = total, length

    def __call__(self, param: BatchEndParam) -> None:
        """Write the bar."""
        full = round(self.bar_len * param.nbatch / self.total)
        percent = -(-100 * param.nbatch // self.total)
        sys.stdout.write(f"[{'=' * full}{'-' * (self.bar_len - full)}] {percent}%\r")


def log_train_metric(period: int, auto_reset: bool = False) -> Callable[[BatchEndParam], None]:
    """A callback that logs the metric every `period` batches."""

    def log(param: BatchEndParam) -> None:
        if param.nbatch % period == 0 and param.eval_metric is not None:
            for name, value in param.eval_metric.get_name_value():
                where = f"Iter[{param.epoch}] Batch[{param.nbatch}]"
                logging.info("%s Train-%s=%f", where, name, value)
            if auto_reset:
                param.eval_metric.reset()

    return log


def every(period: int, save: Callable[..., None]) -> Callable[..., None]:
    """A callback at the end of an epoch that calls `save(number, symbol, ...)` every `period`."""

    def end(epoch: int, *args: Any) -> None:
        if (epoch + 1) % max(1, int(period)) == 0:
            save(epoch + 1, *args)

    return end


def do_checkpoint(prefix: str, period: int = 1) -> Callable[..., None]:
    """A callback at the end of an epoch that saves symbol and parameters every `period` epochs."""
    return every(period, partial(save_checkpoint, prefix))


def module_checkpoint(
    module: Any, prefix: str, period: int = 1, save_optimizer_states: bool = False
) -> Callable[..., None]:
    """A callback at the end of an epoch that saves a module every `period` epochs."""

    def save(number: int, *_: Any) -> None:
        module.save_checkpoint(prefix, number, save_optimizer_states)

    return every(period, save)


class LogValidationMetricsCallback:
    """Logs the metrics of the evaluation at the end of an epoch."""

    def __call__(self, param: BatchEndParam) -> None:
        """Log them."""
        for name, value in param.eval_metric.get_name_value():
            logging.info("Epoch[%d] Validation-%s=%f", param.epoch, name, value)
