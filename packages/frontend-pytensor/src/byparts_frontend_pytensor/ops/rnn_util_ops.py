"""The affine layer of recurrent cells."""

from __future__ import annotations

from typing import Any

from byparts_frontend_pytensor.network.operation import *  # noqa: F403
from byparts_frontend_pytensor.network.operation import Operation
from byparts_frontend_pytensor.network.tensor import Tensor
from byparts_frontend_pytensor.ops.math_ops import columns, sizes_and_bias


class RNNAffine(Operation):
    """Y = f(h U + x W + b), of a list [h, x].

    Args:
        name: the parameters are "<name>_U", "<name>_W" and "<name>_b".
        argument: `input_size`, `hidden_size`; `bias` as `Affine`'s; `nonlinear`: f, such as "Tanh".
        graph: which has the parameters.
    """

    any_array = True

    def __init__(self, name: str = "RNNAffine", argument: Any = None, graph: Any = None) -> None:
        super().__init__(name, argument, graph)
        self.input_size, self.hidden_size, self.b = sizes_and_bias(self)
        self.U = graph.get_tensor(f"{name}_U", (self.hidden_size, self.hidden_size))
        self.W = graph.get_tensor(f"{name}_W", (self.input_size, self.hidden_size))
        kind = argument.get("nonlinear")
        self.nonlinear = None if kind is None else graph.get_operation(kind, None, f"{name}_{kind}")

    def forward(self, input_tensors: Any) -> Tensor:
        self.register(input_tensors)
        h = columns(self.name, input_tensors[0], self.hidden_size)
        x = columns(self.name, input_tensors[1], self.input_size)
        y = h @ self.U.value + x @ self.W.value
        if self.b is not None:
            y = y + self.b.value
        self.add_tensor = self.output_tensor = Tensor.of(y, self.xp)
        if self.nonlinear is not None:
            self.output_tensor = self.nonlinear.forward(self.add_tensor)
        return self.output_tensor

    def backward(self) -> None:
        (h, x), dy = self.input_tensors, self.add_tensor.grad
        for tensor, weight in ((x, self.W), (h, self.U)):
            tensor.add_grad(dy @ weight.value.T)
            weight.add_grad(tensor.value.T @ dy)
        if self.b is not None:
            self.b.add_grad(dy.sum(0))


def with_states(cell: Any, input_tensors: Any, states: int) -> Any:
    """A list of states and an input, in which a state that is `None` is zeros."""
    x = input_tensors[states].value
    cell.batch_size = x.shape[0]
    for i in range(states):
        if input_tensors[i] is None:
            zeros = cell.xp.zeros((x.shape[0], cell.hidden_size), dtype=x.dtype)
            input_tensors[i] = Tensor.of(zeros, cell.xp)
    return input_tensors
