"""`FeedForward`, the interface of 2016; and checkpoints by their names of then."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from byparts_frontend_mxnet import initializer as init, io, symbol as sym
from byparts_frontend_mxnet.callback import BatchEndParam as BatchEndParam
from byparts_frontend_mxnet.checkpoint import (
    load_checkpoint as load_checkpoint,
    save_checkpoint as save_checkpoint,
)
from byparts_frontend_mxnet.module import BucketingModule, Module

Arrays = dict[str, Any]


class FeedForward:
    """A network that is trained by `fit` and asked by `predict`; `mod.Module` is the newer one.

    Args:
        symbol: the network, whose label is the argument that ends with "label"; or a function
            that gives one for the key of a bucket.
        numpy_batch_size: of arrays that are given for data.
        options: of the optimizer, as `learning_rate`; the others are those of `Module.fit`.
    """

    def __init__(
        self, symbol: Any, ctx: Any = None, num_epoch: Optional[int] = None,
        epoch_size: Optional[int] = None, optimizer: Any = "sgd", initializer: Any = None,
        numpy_batch_size: int = 128, arg_params: Optional[Arrays] = None,
        aux_params: Optional[Arrays] = None, allow_extra_params: bool = False, begin_epoch: int = 0,
        **options: Any,
    ) -> None:  # fmt: skip
        self.symbol, self.ctx, self.num_epoch = symbol, ctx, num_epoch
        self.optimizer, self.initializer = optimizer, initializer or init.Uniform(0.01)
        self.numpy_batch_size, self.begin_epoch = numpy_batch_size, begin_epoch
        self.arg_params, self.aux_params, self.options = arg_params, aux_params, options
        self.epoch_size = epoch_size

    def _module(self, data: Any) -> Any:
        names = [d[0] for d in data.provide_data]
        given = [d[0] for d in data.provide_label or ()]
        if isinstance(self.symbol, sym.Symbol):
            return Module(self.symbol, names, given or self._labels(), context=self.ctx)
        generate: Any = self.symbol  # a symbol for each bucket
        how = {"default_bucket_key": data.default_bucket_key, "context": self.ctx}
        return BucketingModule(lambda key: (generate(key), names, given), **how)

    def _labels(self) -> list[str]:
        return [n for n in self.symbol.list_arguments() if n.endswith("label")]

    def _data(self, x: Any, y: Any = None, train: bool = False) -> Any:
        if isinstance(x, io.DataIter) or hasattr(x, "provide_data"):
            return io.ResizeIter(x, self.epoch_size) if train and self.epoch_size else x
        y = np.zeros(len(x)) if y is None else y
        size = min(len(x), self.numpy_batch_size)
        label = (self._labels() or ["softmax_label"])[0]
        return io.NDArrayIter(x, y, size, train, label_name=label)

    def fit(self, X: Any, y: Any = None, eval_data: Any = None, **keywords: Any) -> None:  # noqa: N803
        """Train; the keywords are those of `Module.fit`."""
        data = self._data(X, y, train=True)
        if isinstance(eval_data, (tuple, list)):
            eval_data = self._data(*eval_data)
        self.module = self._module(data)
        options = {"learning_rate": 0.01, **self.options}
        how = {"optimizer": self.optimizer, "optimizer_params": options, **keywords}
        how |= {"arg_params": self.arg_params, "aux_params": self.aux_params}
        how |= {"begin_epoch": self.begin_epoch, "num_epoch": self.num_epoch}
        how |= {"allow_missing": True, "initializer": self.initializer}
        self.module.fit(data, eval_data, **how)
        self.arg_params, self.aux_params = self.module.get_params()

    def _bound(self, data: Any) -> Any:
        module = self._module(data)
        module.bind(data.provide_data, data.provide_label or None, for_training=False)
        module.set_params(self.arg_params or {}, self.aux_params or {})
        return module

    def predict(self, X: Any, num_batch: Optional[int] = None) -> Any:  # noqa: N803
        """The outputs, as NumPy arrays."""
        data = self._data(X)
        outputs = self._bound(data).predict(data, num_batch, always_output_list=True)
        arrays = [y.asnumpy() for y in outputs]
        return arrays[0] if len(arrays) == 1 else arrays

    def score(
        self,
        X: Any,  # noqa: N803
        y: Any = None,
        eval_metric: Any = "acc",
        num_batch: Any = None,
    ) -> float:
        """The value of a metric."""
        data = self._data(X, y)
        value: float = self._bound(data).score(data, eval_metric, num_batch)[0][1]
        return value

    def save(self, prefix: str, epoch: Optional[int] = None) -> None:
        """Write a checkpoint."""
        number = self.num_epoch if epoch is None else epoch
        save_checkpoint(
            prefix, number or 0, self.symbol, self.arg_params or {}, self.aux_params or {}
        )

    @staticmethod
    def load(prefix: str, epoch: int, ctx: Any = None, **keywords: Any) -> FeedForward:
        """The network of a checkpoint."""
        symbol, arg, aux = load_checkpoint(prefix, epoch)
        how = {"arg_params": arg, "aux_params": aux, "begin_epoch": epoch, **keywords}
        return FeedForward(symbol, ctx, **how)

    @staticmethod
    def create(symbol: Any, X: Any, y: Any = None, **keywords: Any) -> FeedForward:  # noqa: N803
        """A network that has been trained; keywords of the class, and those of `fit`."""
        fits = ("eval_data", "eval_metric", "epoch_end_callback", "batch_end_callback", "kvstore")
        own = {k: v for k, v in keywords.items() if k not in fits}
        model = FeedForward(symbol, **own)
        model.fit(X, y, **{k: v for k, v in keywords.items() if k in fits})
        return model
