"""Sums, products, activations, and the affine layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_frontend_pytensor.network import functions
from byparts_frontend_pytensor.network.late import SMALLEST
from byparts_frontend_pytensor.network.operation import *  # noqa: F403
from byparts_frontend_pytensor.network.tensor import Tensor
from byparts_frontend_pytensor.ops.formula import Formula


class Add(Formula):
    """The sum of a list of tensors."""

    takes = "tensors of one shape"

    def fits(self, *shapes: Any) -> bool:
        return len({*shapes}) == 1

    def compute(self, *values: Any) -> Any:
        return sum(values[1:], values[0] * 1)

    def gradients(self, dy: Any, y: Any, *values: Any) -> Any:
        return [dy * 1 for _ in values]


class Multiply(Formula):
    """The product of two tensors, element by element."""

    takes = "two tensors of one shape"

    def fits(self, *shapes: Any) -> bool:
        return len(shapes) == 2 and shapes[0] == shapes[1]

    def compute(self, *values: Any) -> Any:
        return values[0] * values[1]

    def gradients(self, dy: Any, y: Any, *values: Any) -> Any:
        return dy * values[1], dy * values[0]


class Matmul(Formula):
    """The product of two matrices."""

    takes = "(m, k) and (k, n)"

    def fits(self, *shapes: Any) -> bool:
        return [*map(len, shapes)] == [2, 2] and shapes[0][1] == shapes[1][0]

    def compute(self, *values: Any) -> Any:
        return values[0] @ values[1]

    def gradients(self, dy: Any, y: Any, *values: Any) -> Any:
        return dy @ values[1].T, values[0].T @ dy


class Relu(Formula):
    """X where it is positive, else 0."""

    def compute(self, *values: Any) -> Any:
        return self.xp.where(values[0] > 0, values[0], 0 * values[0])

    def gradients(self, dy: Any, y: Any, *values: Any) -> Any:
        return [self.xp.where(values[0] > 0, dy, 0 * dy)]


class Sigmoid(Formula):
    """1 / (1 + e^-x)."""

    def compute(self, *values: Any) -> Any:
        return functions.sigmoid(values[0], self.xp)

    def gradients(self, dy: Any, y: Any, *values: Any) -> Any:
        return [dy * (1.0 - y) * y]


class Tanh(Formula):
    """The hyperbolic tangent."""

    def compute(self, *values: Any) -> Any:
        return self.xp.tanh(values[0])

    def gradients(self, dy: Any, y: Any, *values: Any) -> Any:
        return [dy * (1.0 - y * y)]


class Affine(Formula):
    """Y = x W + b, of `input_size` and `hidden_size`; `bias` is its first value, or "None"."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        rows, width = self.sizes("input_size", "hidden_size")
        bias = self.bias(width)
        self.W = self.graph.get_tensor(f"{self.name}_W", (rows, width))
        self.weights = (self.W, *bias)
        self.takes = f"(n, {rows}), as Tensor([x]) of one row x"

    def fits(self, *shapes: Any) -> bool:
        return [*map(len, shapes)] == [2] and shapes[0][1] == self.W._value.shape[0]

    def compute(self, *values: Any) -> Any:
        y = values[0] @ values[1]
        if self.b is not None:
            y += values[2]
        return y

    def gradients(self, dy: Any, y: Any, *values: Any) -> Any:
        grads = [dy @ values[1].T, values[0].T @ dy, functions.total(dy, self.xp, 0)]
        return grads[: len(values)]

    def output(self) -> Tensor:
        if not self._is_late():
            return super().output()
        y = Tensor.of(None)
        self.graph.late.product(self, self.tensors[0], y)
        return y

    def backward(self) -> None:
        if not self._is_late():
            super().backward()
        elif self.output_tensor.has_grad:
            x, dy = self.tensors[0], self.output_tensor.grad
            self.graph.late.gradient(self.W, x.value, dy)
            self.graph.late.input(self.W, x, dy)
            if self.b is not None:
                self.b.add_grad(dy.sum(0))

    def _is_late(self) -> bool:
        """Whether the weight is so large that its products are better computed together."""
        weight = self.W._value
        large = type(weight) is np.ndarray and weight.size >= SMALLEST
        return large and self.xp is np and len(self.tensors[0].value) < len(weight)
