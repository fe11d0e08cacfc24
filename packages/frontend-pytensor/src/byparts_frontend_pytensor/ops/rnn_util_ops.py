"""The affine layer of recurrent cells, and what cells have in common."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from byparts_frontend_pytensor.network import functions
from byparts_frontend_pytensor.network.operation import *  # noqa: F403
from byparts_frontend_pytensor.network.tensor import Tensor
from byparts_frontend_pytensor.ops.formula import Formula


class RNNAffine(Formula):
    """Y = f(h U + x W + b) of [h, x]; f is `nonlinear`, such as "Tanh"; `bias` as `Affine`'s."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        rows, width = self.sizes("input_size", "hidden_size")
        bias = self.bias(width)
        self.U = self.graph.get_tensor(f"{self.name}_U", (width, width))
        self.W = self.graph.get_tensor(f"{self.name}_W", (rows, width))
        self.weights = (self.U, self.W, *bias)
        self.takes = f"(n, {width}) and (n, {rows})"
        self.nonlinear: Any = None
        if kind := self.arguments.get("nonlinear"):
            self.nonlinear = self.graph.get_operation(kind, None, f"{self.name}_{kind}")

    def fits(self, *shapes: Any) -> bool:
        return [s[1:] for s in shapes] == [(self.hidden_size,), (self.input_size,)]

    def forward(self, input_tensors: Any) -> Any:
        self.register(input_tensors)
        self.check(input_tensors)
        self.add_tensor = self.output_tensor = Tensor.of(self.sum(*input_tensors), self.xp)
        return (
            self.add_tensor if self.nonlinear is None else self.nonlinear.forward(self.add_tensor)
        )

    def sum(self, h: Tensor, x: Tensor) -> Any:
        """The array h U + x W + b."""
        y = h.value @ self.U.value + x.value @ self.W.value
        return y if self.b is None else y + self.b.value

    def backward(self) -> None:
        h, x = self.input_tensors
        self.spread(h, x, self.add_tensor.grad)

    def spread(self, h: Tensor, x: Tensor, dy: Any) -> None:
        """Add to the gradients of h, x and the parameters, for the gradient of the sum."""
        if self.b is not None:
            self.b.add_grad(functions.total(dy, self.xp, 0))
        for tensor, weight in ((h, self.U), (x, self.W)):
            tensor.add_grad(dy @ weight.value.T)
            if self.xp is np:  # those of all steps are computed together
                self.graph.late.gradient(weight, tensor.value, dy)
            else:
                weight.add_grad(tensor.value.T @ dy)


class Cell(Formula):
    """An operation of states and an input, in a list; a state that is `None` is zeros."""

    states: ClassVar[int] = 1
    bias_option: ClassVar[Any] = {}  # of its parts

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.input_size, self.hidden_size = self.sizes("input_size", "hidden_size")
        self.takes = f"{self.states} of (n, {self.hidden_size}) and (n, {self.input_size})"

    def fits(self, *shapes: Any) -> bool:
        widths = [*[self.hidden_size] * self.states, self.input_size]
        return [s[1:] for s in shapes] == [(width,) for width in widths]

    def part(self, name: str, **options: Any) -> Any:
        """An `RNNAffine` of this cell's sizes and name."""
        sizes = {"input_size": self.input_size, "hidden_size": self.hidden_size}
        argument = {**sizes, **options, **self.bias_option}
        return self.graph.get_operation("RNNAffine", argument, f"{self.name}_{name}")

    def start(self, input_tensors: Any) -> Any:
        """The inputs, registered and checked, with zeros for states that are `None`."""
        x = input_tensors[self.states]
        x.move(self.graph.parameter)
        self.batch_size = x.value.shape[0]
        for i in range(self.states):
            if input_tensors[i] is None:
                zeros = self.xp.zeros((self.batch_size, self.hidden_size), dtype=x.value.dtype)
                input_tensors[i] = Tensor.of(zeros, self.xp)
        self.register(input_tensors)
        self.check(input_tensors)
        return input_tensors
