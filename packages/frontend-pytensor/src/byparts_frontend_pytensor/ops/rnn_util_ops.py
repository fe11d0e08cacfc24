"""The affine layer of recurrent cells, and what cells have in common."""

from __future__ import annotations

from typing import Any, ClassVar

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

    def compute(self, *values: Any) -> Any:
        h, x, u, w, *bias = values
        return h @ u + x @ w + (bias[0] if bias else 0.0)

    def gradients(self, dy: Any, y: Any, *values: Any) -> Any:
        h, x, u, w, *bias = values
        return [dy @ u.T, dy @ w.T, h.T @ dy, x.T @ dy, self.xp.sum(dy, axis=0)][: len(values)]

    def forward(self, input_tensors: Any) -> Any:
        y = super().forward(input_tensors)
        return y if self.nonlinear is None else self.nonlinear.forward(y)


class Cell(Formula):
    """An operation of states and an input, made of others; a state that is `None` is zeros."""

    states: ClassVar[int] = 1

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.input_size, self.hidden_size = self.sizes("input_size", "hidden_size")
        self.takes = f"{self.states} of (n, {self.hidden_size}) and (n, {self.input_size})"

    def fits(self, *shapes: Any) -> bool:
        widths = [*[self.hidden_size] * self.states, self.input_size]
        return [s[1:] for s in shapes] == [(width,) for width in widths]

    def part(self, kind: str, name: str, **more: Any) -> Any:
        """A part with parameters, of this cell's sizes and name."""
        sizes = {"input_size": self.input_size, "hidden_size": self.hidden_size}
        return self.graph.get_operation(kind, {**sizes, **more}, f"{self.name}_{name}")

    def register(self, input_tensors: Any) -> None:
        """Put zeros for states that are `None`, and this use on the tape."""
        input_tensors[self.states].move(self.xp)
        x = input_tensors[self.states].value
        self.batch_size = x.shape[0]
        for i in range(self.states):
            if input_tensors[i] is None:
                zeros = self.xp.zeros((x.shape[0], self.hidden_size), dtype=x.dtype)
                input_tensors[i] = Tensor.of(zeros, self.xp)
        super().register(input_tensors)

    def backward(self) -> None:
        """Do nothing: what it is made of is on the tape."""
