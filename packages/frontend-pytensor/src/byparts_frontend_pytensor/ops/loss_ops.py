"""Losses: operations that also have `loss(target)`."""

from __future__ import annotations

from functools import partial
from typing import Any

from byparts_frontend_pytensor.network.functions import (
    LOG2_E,
    cross_entropy_error,
    mean_squared_error,
    softmax,
)
from byparts_frontend_pytensor.network.operation import *  # noqa: F403
from byparts_frontend_pytensor.network.operation import Operation
from byparts_frontend_pytensor.network.tensor import Tensor, whole
from byparts_graph_ir import ArgumentError, ShapeError, Value


class Loss(Operation):
    """An operation whose `backward` starts the gradient; subclass with `loss(target)` as well."""

    def loss(self, target_tensor: Any) -> Any:
        """The loss of the last `forward`, or of the earliest one that has no target yet."""
        raise NotImplementedError(f"{type(self).__name__} lacks loss(self, target_tensor)")


class SoftmaxLoss(Loss):
    """Softmax; its loss is the cross entropy in bits, summed over the rows."""

    any_array = True

    def __init__(
        self, name: str = "SoftmaxWithLoss", argument: Any = None, graph: Any = None
    ) -> None:
        super().__init__(name, argument, graph)

    def forward(self, input_tensors: Any) -> Tensor:
        self.register(input_tensors)
        function = partial(softmax, xp=self.xp)
        late = input_tensors.late
        if late is not None and input_tensors._value is None:
            self.output_tensor = Tensor.of(None, self.xp)
            late.function(function, input_tensors, self.output_tensor)
        else:
            self.output_tensor = Tensor.of(function(input_tensors.value), self.xp)
        return self.output_tensor

    def loss(self, target_tensor: Any) -> Any:
        """The cross entropy in bits.

        Args:
            target_tensor: [n], classes; floats that are whole numbers will do.

        Raises:
            ArgumentError: a label is no integer, or no class.
            ShapeError: there are more or fewer labels than rows.
        """
        self.target_tensor = target_tensor
        y = self.output_tensor.value
        self.labels = whole(target_tensor, f"{self.name}: labels")
        if len(y.shape) != 2 or tuple(self.labels.shape) != (y.shape[0],):
            raise ShapeError(
                f"{self.name}: labels of shape {tuple(self.labels.shape)} for outputs of shape "
                f"{tuple(y.shape)}; there is one label for each row"
            )
        if not isinstance(self.labels, Value):
            _check_range(self.name, self.labels, y.shape[1])
            self.labels = self.xp.asarray(self.labels)
        self.batch_size = y.shape[0]
        self.error = cross_entropy_error(y, self.labels, self.xp)
        return self.error

    def backward(self) -> None:
        """Add (softmax - one at the label) * log2 e."""
        xp, y = self.xp, self.output_tensor.value
        grad = y * LOG2_E
        if isinstance(grad, Value):
            grad = grad - LOG2_E * (xp.arange(y.shape[1]) == xp.expand_dims(self.labels, axis=1))
        else:
            grad[xp.arange(self.batch_size), self.labels] -= LOG2_E
        self.input_tensors.add_grad(grad)


class SquareLoss(Loss):
    """The input as it is; its loss is half the sum of squares of the difference."""

    any_array = True

    def __init__(self, name: str = "SquareLoss", argument: Any = None, graph: Any = None) -> None:
        super().__init__(name, argument, graph)

    def forward(self, input_tensors: Any) -> Tensor:
        self.register(input_tensors)
        self.output_tensor = Tensor.of(input_tensors.value * 1, self.xp)
        return self.output_tensor

    def loss(self, target_tensor: Any) -> Any:
        """Half the sum of squares.

        Raises:
            ShapeError: the target has another shape than the input.
        """
        self.target_tensor = target_tensor
        x, t = self.input_tensors.value, target_tensor.value
        if tuple(x.shape) != tuple(t.shape):
            raise ShapeError(
                f"{self.name}: a target of shape {tuple(t.shape)} for an input of shape "
                f"{tuple(x.shape)}; they are one shape"
            )
        return mean_squared_error(x, t)

    def backward(self) -> None:
        """Add input - target."""
        self.input_tensors.add_grad(self.input_tensors.value - self.target_tensor.value)


def _check_range(name: str, labels: Any, classes: int) -> None:
    wrong = labels[(labels < 0) | (labels >= classes)]
    if len(wrong):
        raise ArgumentError(f"{name}: label {wrong[0]}; there are classes 0 to {classes - 1}")
