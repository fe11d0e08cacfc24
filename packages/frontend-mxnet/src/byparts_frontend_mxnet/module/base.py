"""Training, evaluation and prediction over batches, for all kinds of modules."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from itertools import islice
from typing import Any, Optional

from byparts_frontend_mxnet import initializer as init, metric as metrics, nd
from byparts_frontend_mxnet.callback import BatchEndParam
from byparts_frontend_mxnet.checkpoint import load_arrays, save_arrays
from byparts_frontend_mxnet.context import listed
from byparts_frontend_mxnet.errors import MXNetError


class BaseModule:
    """Something that is bound to shapes, has parameters, and runs forward and backward.

    A subclass has the methods `bind`, `init_params`, `init_optimizer`, `forward`, `backward`,
    `update`, `get_outputs`, `update_metric`, `get_params` and `install_monitor` of `Module`.
    """

    bind: Any
    init_params: Any
    init_optimizer: Any
    forward: Any
    backward: Any
    update: Any
    get_outputs: Any
    update_metric: Any
    get_params: Any
    install_monitor: Any

    def __init__(self, logger: Any = logging) -> None:
        self.logger = logger
        self.binded = self.params_initialized = self.optimizer_initialized = False
        self.for_training = self.inputs_need_grad = False
        self._symbol: Any = None

    @property
    def symbol(self) -> Any:
        """The symbol that it computes."""
        return self._symbol

    def _need(self, **states: bool) -> None:
        missing = [call for call, there in states.items() if not there]
        if missing:
            raise MXNetError(f"{type(self).__name__}: call {' and '.join(missing)} first")

    def forward_backward(self, data_batch: Any) -> None:
        """Outputs and gradients of a batch."""
        self.forward(data_batch, is_train=True)
        self.backward()

    def fit(
        self, train_data: Any, eval_data: Any = None, eval_metric: Any = "acc",
        epoch_end_callback: Any = None, batch_end_callback: Any = None, kvstore: Any = "local",
        optimizer: Any = "sgd", optimizer_params: Any = (("learning_rate", 0.01),),
        eval_end_callback: Any = None, eval_batch_end_callback: Any = None, initializer: Any = None,
        arg_params: Any = None, aux_params: Any = None, allow_missing: bool = False,
        force_rebind: bool = False, force_init: bool = False, begin_epoch: int = 0,
        num_epoch: Optional[int] = None, validation_metric: Any = None, monitor: Any = None,
    ) -> None:  # fmt: skip
        """Train from `begin_epoch` to `num_epoch`; arguments are those of MXNet.

        Raises:
            MXNetError: there is no number of epochs; or a parameter is not in `arg_params`, and
                `allow_missing` is off.
        """
        if num_epoch is None:
            raise MXNetError("fit: num_epoch is missing; write num_epoch=...")
        shapes = train_data.provide_data, train_data.provide_label or None
        self.bind(*shapes, for_training=True, force_rebind=force_rebind)
        if monitor is not None:
            self.install_monitor(monitor)
        start = initializer or init.Uniform(0.01)
        self.init_params(start, arg_params, aux_params, allow_missing, force_init)
        self.init_optimizer(kvstore, optimizer, optimizer_params)
        metric = metrics.create(eval_metric)
        for epoch in range(begin_epoch, num_epoch):
            began = time.time()
            metric.reset()
            for nbatch, batch in enumerate(train_data):
                if monitor is not None:
                    monitor.tic()
                self.forward_backward(batch)
                self.update()
                self.update_metric(metric, batch.label)
                if monitor is not None:
                    monitor.toc_print()
                _tell(batch_end_callback, BatchEndParam(epoch, nbatch, metric, locals()))
            for name, value in metric.get_name_value():
                self.logger.info("Epoch[%d] Train-%s=%f", epoch, name, value)
            self.logger.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - began)
            if epoch_end_callback is not None:
                _tell(epoch_end_callback, epoch, self.symbol, *self.get_params())
            if eval_data is not None:
                judge = validation_metric or eval_metric
                ends = eval_batch_end_callback, eval_end_callback
                for name, value in self.score(eval_data, judge, None, *ends, epoch=epoch):
                    self.logger.info("Epoch[%d] Validation-%s=%f", epoch, name, value)
            train_data.reset()

    def score(
        self, eval_data: Any, eval_metric: Any, num_batch: Optional[int] = None,
        batch_end_callback: Any = None, score_end_callback: Any = None, reset: bool = True,
        epoch: int = 0,
    ) -> list[tuple[str, float]]:  # fmt: skip
        """Names and values of a metric over the batches."""
        metric = metrics.create(eval_metric)
        metric.reset()
        nbatch = 0
        for _, nbatch, batch in self.iter_predict(eval_data, num_batch, reset, cut=False):
            self.update_metric(metric, batch.label)
            _tell(batch_end_callback, BatchEndParam(epoch, nbatch, metric, locals()))
        _tell(score_end_callback, BatchEndParam(epoch, nbatch + 1, metric, locals()))
        return metric.get_name_value()

    def iter_predict(
        self, eval_data: Any, num_batch: Optional[int] = None, reset: bool = True, cut: bool = True
    ) -> Iterator[tuple[list[Any], int, Any]]:
        """Outputs, number and batch, one after the other.

        Args:
            eval_data: batches.
            num_batch: how many; all by default.
            reset: whether `eval_data` starts anew.
            cut: whether outputs are without the samples that pad the last batch.
        """
        self._need(bind=self.binded, init_params=self.params_initialized)
        if reset:
            eval_data.reset()
        for nbatch, batch in enumerate(islice(eval_data, num_batch)):
            self.forward(batch, is_train=False)
            pad = batch.pad if cut else 0
            outputs = self.get_outputs()
            yield [y[: y.shape[0] - pad].copy() if pad else y for y in outputs], nbatch, batch

    def predict(
        self, eval_data: Any, num_batch: Optional[int] = None, merge_batches: bool = True,
        reset: bool = True, always_output_list: bool = False,
    ) -> Any:  # fmt: skip
        """The outputs for all batches, joined; or a list of those of each batch.

        Raises:
            MXNetError: batches have other numbers of outputs, so that they cannot be joined.
        """
        batches = [
            [y.copy() for y in ys] for ys, *_ in self.iter_predict(eval_data, num_batch, reset)
        ]
        if not merge_batches or not batches:
            return batches
        if len({len(ys) for ys in batches}) > 1:
            raise MXNetError("predict: batches of other numbers of outputs; merge_batches=False")
        joined = [nd.concat(*ys, dim=0) for ys in zip(*batches, strict=True)]
        return joined[0] if len(joined) == 1 and not always_output_list else joined

    def set_params(
        self, arg_params: Any, aux_params: Any, allow_missing: bool = False,
        force_init: bool = True, allow_extra: bool = False,
    ) -> None:  # fmt: skip
        """Give the parameters these values."""
        how = (allow_missing, force_init, allow_extra)
        self.init_params(None, arg_params, aux_params, *how)

    def save_params(self, fname: str) -> None:
        """Write parameters and auxiliary states to a file."""
        save_arrays(fname, *self.get_params())

    def load_params(self, fname: str) -> None:
        """Read parameters and auxiliary states from a file."""
        self.set_params(*load_arrays(fname))


def _tell(callbacks: Any, *args: Any) -> None:
    """Call a callback, or each of a list."""
    for callback in listed(callbacks):
        if callback is not None:
            callback(*args)
