"""Running means of weights, which predict better than the weights at the end of training."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_eager import Cell
from byparts_graph_ir import ArgumentError
from byparts_nn.module import Module


class Average(Module):
    """An exponential moving average of the parameters of a model (EMA).

    mean' = mean + (weight - mean) * max(1 - decay, 1 / count): the plain mean of the first weights,
    so that it begins at the weights and not at 0.

    Args:
        model: whose parameters.
        decay: how much of the mean stays at each update, in the end.
    """

    hidden_fields = Module.hidden_fields | {"_model", "_means"}

    def __init__(self, model: Module, decay: float = 0.999) -> None:
        if not 0 <= decay < 1:
            raise ArgumentError(f"Average: the decay is {decay}, which is not in [0, 1)")
        self.decay = decay
        self.count: Any = Cell(np.zeros((), np.int64))
        self.__dict__.update(_model=model, _means={})

    def update(self) -> None:
        """Take in the weights as they are now: after each step."""
        self.count = self.count + 1
        part = ops.maximum(1 / ops.cast(self.count, "f32"), 1 - self.decay)
        self.follow()
        for cell, mean in self._means.items():
            mean.value = mean.value + (cell.value - mean.value) * ops.cast(part, cell.type.dtype)

    def follow(self) -> None:
        """Make the means of weights that have none yet: before they are read from a file."""
        for cell in self._model.parameters().values():
            self._means.setdefault(cell, Cell(cell.type))

    @contextmanager
    def swapped(self) -> Iterator[None]:
        """A context in which the model has the means for its weights."""
        weights = {cell: cell.value for cell in self._means}
        for cell, mean in self._means.items():
            cell.value = mean.value
        try:
            yield
        finally:
            for cell, weight in weights.items():
                cell.value = weight

    def parts(self) -> Iterator[tuple[str, Any]]:
        """Fields, then the means: "mean.layers.0.weight"."""
        yield from super().parts()
        yield from ((f"mean.{c.name or i}", m) for i, (c, m) in enumerate(self._means.items()))
