"""Sums, products, activations, and the affine layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_frontend_pytensor.network import functions
from byparts_frontend_pytensor.network.late import SMALLEST
from byparts_frontend_pytensor.network.operation import *  # noqa: F403
from byparts_frontend_pytensor.network.operation import Operation
from byparts_frontend_pytensor.network.tensor import Tensor
from byparts_graph_ir import ArgumentError, ShapeError


class Add(Operation):
    """The sum of a list of tensors of one shape."""

    any_array = True

    def __init__(self, name: str = "add", argument: Any = None, graph: Any = None) -> None:
        super().__init__(name, argument, graph)

    def forward(self, input_tensors: Any) -> Tensor:
        self.register(input_tensors)
        same_shapes(self.name, input_tensors)
        total = sum([t.value for t in input_tensors[1:]], input_tensors[0].value * 1)
        self.output_tensor = Tensor.of(total, self.xp)
        return self.output_tensor

    def backward(self) -> None:
        for tensor in self.input_tensors:
            tensor.add_grad(self.output_tensor.grad * 1)  # an array of its own


class Multiply(Operation):
    """The product of two tensors of one shape, element by element."""

    any_array = True

    def __init__(self, name: str = "multiply", argument: Any = None, graph: Any = None) -> None:
        super().__init__(name, argument, graph)

    def forward(self, input_tensors: Any) -> Tensor:
        self.register(input_tensors)
        self.x, self.y = same_shapes(self.name, input_tensors, 2)
        self.output_tensor = Tensor.of(self.x.value * self.y.value, self.xp)
        return self.output_tensor

    def backward(self) -> None:
        dy = self.output_tensor.grad
        self.x.add_grad(dy * self.y.value)
        self.y.add_grad(dy * self.x.value)


class Matmul(Operation):
    """The product of two matrices."""

    any_array = True

    def __init__(self, name: str = "matmul", argument: Any = None, graph: Any = None) -> None:
        super().__init__(name, argument, graph)

    def forward(self, input_tensors: Any) -> Tensor:
        self.register(input_tensors)
        self.x, self.y = input_tensors
        x, y = self.x.value, self.y.value
        if len(x.shape) != 2 or len(y.shape) != 2 or x.shape[1] != y.shape[0]:
            raise ShapeError(
                f"{self.name}: a product of shapes {tuple(x.shape)} and {tuple(y.shape)}; "
                "they are (m, k) and (k, n)"
            )
        self.output_tensor = Tensor.of(x @ y, self.xp)
        return self.output_tensor

    def backward(self) -> None:
        dy = self.output_tensor.grad
        self.x.add_grad(dy @ self.y.value.T)
        self.y.add_grad(self.x.value.T @ dy)


class Activation(Operation):
    """A function of each element; a subclass has `function(x)` and `slope(x, y)`."""

    any_array = True

    def __init__(self, name: str = "", argument: Any = None, graph: Any = None) -> None:
        super().__init__(name or type(self).__name__.lower(), argument, graph)

    def function(self, x: Any) -> Any:
        """Y for x."""
        raise NotImplementedError(f"{type(self).__name__} lacks function(self, x)")

    def slope(self, x: Any, y: Any) -> Any:
        """The derivative of y by x."""
        raise NotImplementedError(f"{type(self).__name__} lacks slope(self, x, y)")

    def forward(self, input_tensors: Any) -> Tensor:
        self.register(input_tensors)
        self.output_tensor = Tensor.of(self.function(input_tensors.value), self.xp)
        return self.output_tensor

    def backward(self) -> None:
        x, y = self.input_tensors, self.output_tensor
        x.add_grad(y.grad * self.slope(x.value, y.value))


class Relu(Activation):
    """X where it is positive, else 0."""

    def function(self, x: Any) -> Any:
        return self.xp.where(x > 0, x, 0 * x)

    def slope(self, x: Any, y: Any) -> Any:
        return x > 0 if self.xp is np else self.xp.where(x > 0, 0 * x + 1, 0 * x)


class Sigmoid(Activation):
    """1 / (1 + e^-x)."""

    def function(self, x: Any) -> Any:
        return functions.sigmoid(x, self.xp)

    def slope(self, x: Any, y: Any) -> Any:
        return (1.0 - y) * y


class Tanh(Activation):
    """The hyperbolic tangent."""

    def function(self, x: Any) -> Any:
        return self.xp.tanh(x)

    def slope(self, x: Any, y: Any) -> Any:
        return 1.0 - y * y


class Affine(Operation):
    """Y = x W + b.

    Args:
        name: the parameters are "<name>_W" and "<name>_b".
        argument: `input_size`, `hidden_size`; and `bias`: the first value of b, or "None".
        graph: which has the parameters.
    """

    any_array = True

    def __init__(self, name: str = "affine", argument: Any = None, graph: Any = None) -> None:
        super().__init__(name, argument, graph)
        self.input_size, self.hidden_size, self.b = sizes_and_bias(self)
        self.W = graph.get_tensor(f"{name}_W", (self.input_size, self.hidden_size))

    def forward(self, input_tensors: Any) -> Tensor:
        self.register(input_tensors)
        x = columns(self.name, input_tensors, self.input_size)
        if self._is_late():
            self.output_tensor = Tensor.of(None, self.xp)
            self.graph.late.product(self, input_tensors, self.output_tensor)
            return self.output_tensor
        y = x @ self.W.value
        if self.b is not None:
            y = y + self.b.value
        self.output_tensor = Tensor.of(y, self.xp)
        return self.output_tensor

    def backward(self) -> None:
        x, dy = self.input_tensors, self.output_tensor.grad
        if self._is_late():
            self.graph.late.gradients(self, x, self.output_tensor)
            return
        x.add_grad(dy @ self.W.value.T)
        self.W.add_grad(x.value.T @ dy)
        if self.b is not None:
            self.b.add_grad(dy.sum(0))

    def _is_late(self) -> bool:
        weight = self.W._value
        return (
            self.xp is np
            and isinstance(weight, np.ndarray)
            and weight.size >= SMALLEST
            and self.input_tensors.value.shape[0] < weight.shape[0]
        )


def sizes_and_bias(layer: Any) -> tuple[int, int, Tensor | None]:
    """The sizes of a layer's argument, and its bias, which is made if it has one."""
    argument = layer.arguments
    if isinstance(argument, (list, tuple)) and len(argument) == 2:  # as in the first tutorials
        argument = {"input_size": argument[0], "hidden_size": argument[1]}
    if not isinstance(argument, dict) or not {"input_size", "hidden_size"} <= {*argument}:
        raise ArgumentError(
            f"{layer.name}: its argument is {argument!r}; {type(layer).__name__} takes "
            "{'input_size': 64, 'hidden_size': 10}"
        )
    if layer.graph is None:
        raise ArgumentError(
            f"{layer.name}: a {type(layer).__name__} has parameters, which a graph keeps; make it "
            "with graph.get_operation"
        )
    bias = argument.get("bias")
    tensor = None
    if bias not in ("None", False):
        tensor = layer.graph.get_tensor(f"{layer.name}_b", (argument["hidden_size"],))
        if isinstance(bias, float):
            tensor.value = tensor.value * 0 + bias
    return argument["input_size"], argument["hidden_size"], tensor


def columns(name: str, tensor: Any, width: int) -> Any:
    """The value of a tensor, which has to be a matrix of this width."""
    value = tensor.value
    if len(value.shape) != 2 or value.shape[1] != width:
        raise ShapeError(
            f"{name}: an input of shape {tuple(value.shape)}; it takes (n, {width}), as "
            "Tensor([x]) of one row x"
        )
    return value


def same_shapes(name: str, tensors: Any, count: int | None = None) -> Any:
    """The tensors, which have to be of one shape, and so many."""
    shapes = [tuple(t.value.shape) for t in tensors]
    if len({*shapes}) != 1 or count not in (None, len(shapes)):
        wanted = f"{count} tensors" if count else "a list of tensors"
        raise ShapeError(f"{name}: inputs of shapes {shapes}; it takes {wanted} of one shape")
    return tensors


