"""`PythonLossModule`: a loss whose gradient is a function of Python, at the end of modules."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, Optional

from byparts_frontend_mxnet import nd
from byparts_frontend_mxnet.module.base import BaseModule


class PythonLossModule(BaseModule):
    """Scores go through, and `grad_func` tells their gradient; last in a `SequentialModule`.

    Args:
        name: of the output, which is `name + "_output"`.
        data_names: the name of the scores.
        label_names: names of the labels.
        logger: gets the lines of `fit`.
        grad_func: takes scores and labels; gives the gradient by the scores, of either library.
    """

    def __init__(
        self, name: str = "pyloss", data_names: Sequence[str] = ("data",),
        label_names: Sequence[str] = ("softmax_label",), logger: Any = logging,
        grad_func: Optional[Callable[[Any, Any], Any]] = None,
    ) -> None:  # fmt: skip
        super().__init__(logger)
        self._name, self.data_names, self.label_names = name, list(data_names), list(label_names)
        self._grad_func = grad_func
        self._scores: Any = None
        self._labels: Any = None
        self._grad: Any = None

    def bind(self, data_shapes: Any, label_shapes: Any = None, *_: Any, **__: Any) -> None:
        self.output_shapes = [(f"{self._name}_output", data_shapes[0][1])]
        self.binded = True

    def init_params(self, *_: Any, **__: Any) -> None:
        self.params_initialized = True

    def init_optimizer(self, *_: Any, **__: Any) -> None:
        self.optimizer_initialized = True

    def get_params(self) -> tuple[Any, Any]:
        return {}, {}

    def forward(self, data_batch: Any, is_train: Optional[bool] = None) -> None:
        self._scores = data_batch.data[0]
        self._labels = data_batch.label[0] if data_batch.label else None

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        return [self._scores]

    def backward(self, out_grads: Any = None) -> None:
        """Call `grad_func`; a subclass may do this otherwise."""
        if self._grad_func is None:
            raise NotImplementedError("PythonLossModule: give grad_func=, or override backward")
        grad = self._grad_func(self._scores, self._labels)
        self._grad = grad if isinstance(grad, nd.NDArray) else nd.array(grad)

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """The gradient by the scores."""
        return [self._grad]

    def update(self) -> None: ...

    def update_metric(self, eval_metric: Any, labels: Any) -> None:
        eval_metric.update(labels, self.get_outputs())

    def install_monitor(self, mon: Any) -> None: ...
