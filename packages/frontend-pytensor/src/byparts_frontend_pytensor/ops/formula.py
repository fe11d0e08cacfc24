"""`Formula`: an operation that is two formulas of arrays, its value and its gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_frontend_pytensor.network.operation import Operation
from byparts_frontend_pytensor.network.tensor import Tensor
from byparts_graph_ir import ArgumentError, ShapeError


class Formula(Operation):
    """Subclass with `compute(*values)` and `gradients(dy, y, *values)`, one array for each value.

    Values are those of the inputs, then of `weights`.  `fits(*shapes)` and `takes` say which
    shapes the inputs may have; the arrays that `gradients` gives are kept, so each is a new one.
    """

    any_array = True
    takes = "one tensor"
    weights: tuple[Tensor, ...] = ()
    tensors: list[Tensor]
    input_size: int
    hidden_size: int

    def fits(self, *shapes: tuple[int, ...]) -> bool:
        return len(shapes) == 1

    def compute(self, *values: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} lacks compute(self, *values)")

    def gradients(self, dy: Any, y: Any, *values: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} lacks gradients(self, dy, y, *values)")

    def forward(self, input_tensors: Any) -> Any:
        self.register(input_tensors)
        self.check(input_tensors)
        self.output_tensor = self.output()
        return self.output_tensor

    def output(self) -> Tensor:
        """The output for `tensors`."""
        return Tensor.of(self.compute(*[t.value for t in self.tensors]), self.xp)

    def check(self, input_tensors: Any) -> None:
        """Find the tensors, and raise a `ShapeError` unless their shapes fit."""
        inputs = input_tensors if isinstance(input_tensors, (list, tuple)) else [input_tensors]
        if self.xp is not np:
            for tensor in inputs:
                tensor.move(self.graph.parameter)
        shapes = [t.shape for t in inputs]
        if not self.fits(*shapes):
            given = " and ".join(map(str, shapes))
            raise ShapeError(f"{self.name}: inputs of shape {given}; it takes {self.takes}")
        self.tensors = [*inputs, *self.weights]

    def backward(self) -> None:
        y, values = self.output_tensor, [t.value for t in self.tensors]
        for tensor, grad in zip(
            self.tensors, self.gradients(y.grad, y.value, *values), strict=True
        ):
            tensor.add_grad(grad)

    def sizes(self, *keys: str) -> Any:
        """Numbers of the argument, which a layer also has as attributes."""
        given = self.arguments
        if isinstance(given, (list, tuple)):  # as in the first tutorials
            given = dict(zip(keys, given, strict=False))
        if self.graph is None or not isinstance(given, dict) or not {*keys} <= {*given}:
            raise ArgumentError(
                f"{self.name}: argument {self.arguments!r}; make it with graph.get_operation("
                f"{type(self).__name__!r}, {{{', '.join(f'{k!r}: 10' for k in keys)}}})"
            )
        self.arguments = given
        self.__dict__.update({key: given[key] for key in keys})
        return [given[key] for key in keys]

    def bias(self, width: int) -> tuple[Tensor, ...]:
        """The bias, if the argument does not say "None"; a float is its first value."""
        start, self.b = self.arguments.get("bias"), None
        if start == "None":
            return ()
        self.b = self.graph.get_tensor(f"{self.name}_b", (width,))
        if isinstance(start, float):
            self.b.value = self.b.value * 0 + start
        return (self.b,)
