"""`SGD`: every parameter once, of an embedding the rows that were used."""

from __future__ import annotations

import logging as logging
from typing import Any

from byparts_frontend_pytensor.network.parameter import *  # noqa: F403
from byparts_frontend_pytensor.network.parameter import Parameter
from byparts_graph_ir import ArgumentError


class Optimizer:
    """Subclass with `change(tensor)`, which changes a value by its gradient; `lr`: step size."""

    def __init__(self, parameter: Parameter, lr: float = 0.01) -> None:
        if not lr > 0:
            raise ArgumentError(f"lr is {lr}; a step size is more than 0, such as 0.01")
        self.parameter, self.lr = parameter, lr

    def change(self, tensor: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} lacks change(self, tensor)")

    def step(self) -> None:
        """Change each tensor that has a gradient, once."""
        for tensor in self.parameter.changed():
            self.change(tensor)

    def zero_grad(self) -> None:
        """Clear all gradients, and forget which rows were used."""
        self.parameter.clear_grads()
        self.parameter.clear_temp_tensor()

    def update(self) -> None:
        """`step`, then `zero_grad`."""
        self.step()
        self.zero_grad()


class SGD(Optimizer):
    """Stochastic gradient descent: value -= lr * gradient."""

    def change(self, tensor: Any) -> None:
        if tensor.late is not None and tensor.late.subtract(tensor, self.lr):
            return
        value = tensor.value
        value -= self.lr * tensor.grad
        tensor.value = value
