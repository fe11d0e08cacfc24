"""Losses: operations that also have `loss(target)`."""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_frontend_pytensor.network import functions
from byparts_frontend_pytensor.network.operation import *  # noqa: F403
from byparts_frontend_pytensor.network.operation import Operation
from byparts_frontend_pytensor.network.tensor import Tensor, whole
from byparts_frontend_pytensor.ops.formula import Formula
from byparts_graph_ir import ArgumentError, ShapeError, Value


class Loss(Operation):
    """An operation whose `backward` starts the gradient; subclass with `loss(target)` as well."""

    target_tensor: Any = None

    def loss(self, target_tensor: Any) -> Any:
        """The loss of the last `forward`, or of the earliest one that has no target yet."""
        raise NotImplementedError(f"{type(self).__name__} lacks loss(self, target_tensor)")


class SoftmaxLoss(Formula, Loss):
    """Softmax; its loss is the cross entropy in bits, summed over the rows."""

    takes = "(n, classes)"

    def fits(self, *shapes: Any) -> bool:
        return [*map(len, shapes)] == [2]

    def compute(self, *values: Any) -> Any:
        return functions.softmax(values[0], self.xp)

    def check(self, input_tensors: Any) -> None:
        if input_tensors._value is not None:
            super().check(input_tensors)

    def output(self) -> Tensor:
        x = self.input_tensors
        if x._value is not None:
            return super().output()
        y = Tensor.of(None)  # of a product that waits
        x.late.then(functions.softmax, x, y)
        return y

    def loss(self, target_tensor: Any) -> Any:
        """The cross entropy in bits of classes [n]; floats that are whole numbers will do.

        Raises:
            ArgumentError: a label is no integer, or no class.
            ShapeError: there are more or fewer labels than rows.
        """
        self.target_tensor, y = target_tensor, self.output_tensor.value
        labels = whole(target_tensor, f"{self.name}: labels")
        if tuple(labels.shape) != (y.shape[0],):
            raise ShapeError(
                f"{self.name}: labels of shape {tuple(labels.shape)} for outputs of shape "
                f"{tuple(y.shape)}; there is one label for each row"
            )
        if not isinstance(labels, Value):
            for label in labels.tolist():
                if not 0 <= label < y.shape[1]:
                    known = f"there are classes 0 to {y.shape[1] - 1}"
                    raise ArgumentError(f"{self.name}: label {label}; {known}")
            labels = self.xp.asarray(labels)
        self.labels, self.batch_size = labels, y.shape[0]
        self.error = functions.cross_entropy_error(y, labels, self.xp)
        return self.error

    def backward(self) -> None:
        """Add (softmax - one at the label) * log2 e."""
        xp: Any = self.xp
        grad: Any = self.output_tensor.value * functions.LOG2_E
        if isinstance(grad, Value):  # an array that never changes
            ones = xp.arange(self.output_tensor.value.shape[1]) == xp.expand_dims(
                self.labels, axis=1
            )
            grad = xp.where(ones, grad - functions.LOG2_E, grad)
        else:
            grad[xp.arange(self.batch_size), self.labels] -= functions.LOG2_E
        self.input_tensors.add_grad(grad)


class SquareLoss(Formula, Loss):
    """The input as it is; its loss is half the sum of squares of its difference to the target."""

    def compute(self, *values: Any) -> Any:
        return values[0] * 1

    def loss(self, target_tensor: Any) -> Any:
        """Half the sum of squares.

        Raises:
            ShapeError: the target has another shape than the input.
        """
        self.target_tensor = target_tensor
        if self.xp is not np:
            target_tensor.move(self.graph.parameter)
        x, t = self.input_tensors.value, target_tensor.value
        if tuple(x.shape) != tuple(t.shape):
            raise ShapeError(
                f"{self.name}: a target of shape {tuple(t.shape)} for an input of shape "
                f"{tuple(x.shape)}; they are of one shape"
            )
        return functions.mean_squared_error(x, t, self.xp)

    def backward(self) -> None:
        """Add input - target."""
        self.input_tensors.add_grad(self.input_tensors.value - self.target_tensor.value)
