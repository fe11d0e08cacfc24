"""One step of a model in three ways: as it is written, recorded, and compiled.

Recorded, the operations of `ops` are the ops that they are made of, and an `Operation` of one's own
is one op, with its class's `backward` as the gradient.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import byparts_eager as bp
from byparts_frontend_pytensor.network.tensor import LongTensor, Tensor
from byparts_graph_ir import ArgumentError

MODES = ("eager", "recorded", "compiled")


class Step:
    """`forward`, `loss` and `backward` of a model as one function; an optimizer does the rest.

    Args:
        model: has `forward` and `loss`, and a graph of NumPy arrays: itself, or as `model.graph`.
        mode: "eager" runs it as it is written, "recorded" on arrays that record the graph, whose
            gradient is taken; "compiled" as programs of that graph, `compiled.programs`.
        backends: of the programs.
    """

    def __init__(self, model: Any, mode: str = "eager", backends: Any = ("numpy",)) -> None:
        self.model, self.graph, self.mode = model, getattr(model, "graph", model), mode
        if mode not in MODES:
            raise ArgumentError(f"mode is {mode!r}; it is {' or '.join(map(repr, MODES))}")
        if mode != "eager" and self.graph.parameter.xp is not np:
            raise ArgumentError(f"a graph that is {mode} has parameters of NumPy: give it no xp")
        self._differentiated: Any = bp.value_and_grad(self._loss)
        self.compiled = bp.compile(self._differentiated, backends=backends)

    def __call__(self, input_tensors: Any, target_tensors: Any) -> float:
        """The loss of what `forward` and `loss` take; gradients are added to the parameters'."""
        if self.mode == "eager":
            self.model.forward(input_tensors)
            loss = self.model.loss(target_tensors)
            self.graph.backward()
            return float(loss)
        parameters = self.graph.parameter.tensor_dict
        function = self.compiled if self.mode == "compiled" else self._differentiated
        weights = {name: bp.asarray(tensor.value) for name, tensor in parameters.items()}
        loss, grads = function(weights, _array(input_tensors), _array(target_tensors))
        for name, tensor in parameters.items():
            tensor.add_grad(np.array(grads[name]))
        return float(loss)

    def _loss(self, weights: Any, inputs: Any, targets: Any) -> Any:
        with _recording(self.graph, weights):
            self.model.forward(_tensor(inputs))
            return self.model.loss(_tensor(targets))


@contextmanager
def _recording(graph: Any, weights: Any) -> Iterator[None]:
    parameter = graph.parameter
    graph.clear()
    values = {name: tensor.value for name, tensor in parameter.tensor_dict.items()}
    graph.recording, parameter.xp = True, bp
    try:
        for name, tensor in parameter.tensor_dict.items():
            tensor.value = weights[name]
        yield
    finally:
        graph.recording, parameter.xp = False, np
        graph.clear()
        for name, value in values.items():
            parameter.tensor_dict[name].value = value


def _array(given: Any) -> Any:
    if isinstance(given, (Tensor, LongTensor)):
        return (type(given) is LongTensor, bp.asarray(given.value))
    return bp.asarray(np.asarray(given, np.int64))


def _tensor(given: Any) -> Any:
    if not isinstance(given, tuple):
        return [given[i] for i in range(given.shape[0])]
    integers, array = given
    return LongTensor(array) if integers else Tensor.of(array, bp)
