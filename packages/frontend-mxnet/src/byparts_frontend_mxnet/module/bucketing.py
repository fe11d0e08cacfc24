"""`BucketingModule`: a module for each bucket of batches, with the same parameters."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_mxnet.errors import MXNetError
from byparts_frontend_mxnet.io import DataBatch
from byparts_frontend_mxnet.module.base import BaseModule
from byparts_frontend_mxnet.module.module import Module


class BucketingModule(BaseModule):
    """Modules by bucket.

    Args:
        sym_gen: takes the key of a bucket; gives symbol, names of data, names of labels.
        default_bucket_key: of the module that is bound first: the largest, whose symbol has all
            parameters.
        logger: gets the lines of `fit`.
        context: a device or a list.
        options: of each `Module`.
    """

    def __init__(
        self, sym_gen: Callable[[Any], Any], default_bucket_key: Any = None, logger: Any = logging,
        context: Any = None, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(logger)
        if default_bucket_key is None:
            raise MXNetError("BucketingModule: default_bucket_key is missing")
        self._sym_gen, self._default_bucket_key = sym_gen, default_bucket_key
        self._options = {"logger": logger, "context": context, **options}
        self._buckets: dict[Any, Module] = {}
        self._curr: Any = self._made(default_bucket_key)
        self._bound_how: dict[str, Any] = {}

    def _made(self, key: Any) -> Module:
        generated = self._sym_gen(key)
        parts = generated if isinstance(generated, (list, tuple)) else (generated,)
        return Module(*parts, **self._options)

    @property
    def symbol(self) -> Any:
        return self._curr.symbol

    @property
    def _first(self) -> Module:
        return self._buckets[self._default_bucket_key]

    def __getattr__(self, name: str) -> Any:
        """Names, shapes, parameters and outputs are those of the current bucket."""
        if name.startswith("_") or (not hasattr(Module, name) and name not in _SHOWN):
            raise AttributeError(f"BucketingModule has no {name!r}")
        return getattr(self.__dict__["_curr"], name)

    def bind(
        self, data_shapes: Any, label_shapes: Any = None, for_training: bool = True,
        inputs_need_grad: bool = False, force_rebind: bool = False, shared_module: Any = None,
        grad_req: Any = "write",
    ) -> None:  # fmt: skip
        """Bind the module of the default bucket; see `Module.bind`."""
        if self.binded and not force_rebind:
            return
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        how = {"for_training": for_training, "inputs_need_grad": inputs_need_grad}
        self._bound_how = {**how, "grad_req": grad_req}
        old = self._buckets.get(self._default_bucket_key)
        first = old or (self._curr if not self._buckets else self._made(self._default_bucket_key))
        first.bind(data_shapes, label_shapes, force_rebind=force_rebind, **self._bound_how)
        self._buckets = {self._default_bucket_key: first}
        self._curr, self.binded = first, True

    def switch_bucket(self, bucket_key: Any, data_shapes: Any, label_shapes: Any = None) -> None:
        """Take the module of a bucket, which is made and bound when it is first needed."""
        self._need(bind=self.binded)
        if bucket_key not in self._buckets:
            module = self._made(bucket_key)
            module.bind(data_shapes, label_shapes, shared_module=self._first, **self._bound_how)
            self._buckets[bucket_key] = module
        self._curr = self._buckets[bucket_key]
        self._curr.params_initialized = self.params_initialized
        if self.optimizer_initialized and not self._curr.optimizer_initialized:
            self._curr.borrow_optimizer(self._first)

    def init_params(self, *args: Any, **keywords: Any) -> None:
        """Give the parameters their first values; see `Module.init_params`."""
        self._need(bind=self.binded)
        self._first.init_params(*args, **keywords)
        self.params_initialized = True

    def get_params(self) -> tuple[Any, Any]:
        return self._first.get_params()

    def init_optimizer(self, *args: Any, **keywords: Any) -> None:
        """Choose what changes the parameters; see `Module.init_optimizer`."""
        self._first.init_optimizer(*args, **keywords)
        self.optimizer_initialized = True

    def forward(self, data_batch: Any, is_train: Optional[bool] = None) -> None:
        self._need(bind=self.binded, init_params=self.params_initialized)
        shapes = data_batch.provide_data, data_batch.provide_label
        self.switch_bucket(data_batch.bucket_key, *shapes)
        self._curr.forward(data_batch, is_train)

    def install_monitor(self, mon: Any) -> None:
        for module in self._buckets.values():
            module.install_monitor(mon)


_SHOWN = ("data_names", "label_names", "data_shapes", "label_shapes")


class SequentialModule(BaseModule):
    """Modules one after the other, the outputs of each being the data of the next."""

    META_TAKE_LABELS, META_AUTO_WIRING = "take_labels", "auto_wiring"

    def __init__(self, logger: Any = logging) -> None:
        super().__init__(logger)
        self._modules: list[tuple[Any, dict[str, bool]]] = []

    def add(self, module: Any, **meta: bool) -> SequentialModule:
        """Put a module behind the last one; `take_labels=True` if labels go to it."""
        self._modules.append((module, meta))
        return self

    def bind(
        self, data_shapes: Any, label_shapes: Any = None, for_training: bool = True,
        inputs_need_grad: bool = False, force_rebind: bool = False, **options: Any,
    ) -> None:  # fmt: skip
        """Bind all of them; see `Module.bind`."""
        shapes, self.for_training = data_shapes, for_training
        for i, (module, meta) in enumerate(self._modules):
            labels = label_shapes if meta.get("take_labels") else None
            named = zip(module.data_names, shapes, strict=True)
            shapes = [(name, tuple(s[1])) for name, s in named]
            need = for_training and (inputs_need_grad or i > 0)
            module.bind(shapes, labels, for_training, need, force_rebind, **options)
            shapes = module.output_shapes
        self.binded = True

    def init_params(self, initializer: Any = None, *params: Any, **keywords: Any) -> None:
        """Give the parameters their first values; see `Module.init_params`."""
        keywords = {**keywords, "allow_extra": True}
        for module, _ in self._modules:
            module.init_params(initializer, *params, **keywords)
        self.params_initialized = True

    def get_params(self) -> tuple[Any, Any]:
        arg: dict[str, Any] = {}
        aux: dict[str, Any] = {}
        for module, _ in self._modules:
            a, b = module.get_params()
            arg, aux = {**arg, **a}, {**aux, **b}
        return arg, aux

    def init_optimizer(self, *args: Any, **keywords: Any) -> None:
        """Choose what changes the parameters; see `Module.init_optimizer`."""
        for module, _ in self._modules:
            module.init_optimizer(*args, **keywords)
        self.optimizer_initialized = True

    def forward(self, data_batch: Any, is_train: Optional[bool] = None) -> None:
        data = data_batch.data
        for module, meta in self._modules:
            module.forward(
                DataBatch(data, data_batch.label if meta.get("take_labels") else None), is_train
            )
            data = module.get_outputs()

    def backward(self, out_grads: Any = None) -> None:
        for i, (module, _) in reversed(list(enumerate(self._modules))):
            module.backward(out_grads)
            out_grads = module.get_input_grads() if i else None

    def update(self) -> None:
        for module, _ in self._modules:
            module.update()

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        outputs: list[Any] = self._modules[-1][0].get_outputs(merge_multi_context)
        return outputs

    def update_metric(self, eval_metric: Any, labels: Any) -> None:
        for module, meta in self._modules:
            if meta.get("take_labels"):
                module.update_metric(eval_metric, labels)
