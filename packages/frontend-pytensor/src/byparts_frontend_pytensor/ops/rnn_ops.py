"""Recurrent networks: h' = tanh(h W + x U)."""

from __future__ import annotations

from typing import Any

from byparts_frontend_pytensor.network.operation import Operation
from byparts_frontend_pytensor.network.tensor import Tensor
from byparts_frontend_pytensor.ops.rnn_util_ops import *  # noqa: F403
from byparts_frontend_pytensor.ops.rnn_util_ops import with_states


class RawRNNCell(Operation):
    """H' = tanh(h W + x U) of a list [h, x], with its own backward; h may be `None`.

    Args:
        name: the parameters are "<name>_U" and "<name>_W".
        argument: `input_size`, `hidden_size`.
        graph: which has the parameters.
    """

    any_array = True

    def __init__(self, name: str = "RawRNNCell", argument: Any = None, graph: Any = None) -> None:
        super().__init__(name, argument, graph)
        self.input_size, self.hidden_size = argument["input_size"], argument["hidden_size"]
        self.U = graph.get_tensor(f"{name}_U", (self.input_size, self.hidden_size))
        self.W = graph.get_tensor(f"{name}_W", (self.hidden_size, self.hidden_size))

    def forward(self, input_tensors: Any) -> Tensor:
        self.register(with_states(self, input_tensors, 1))
        self.prev_state_tensor, self.input_tensor = h, x = self.input_tensors
        state = self.xp.tanh(x.value @ self.U.value + h.value @ self.W.value)
        self.state_tensor = self.output_tensor = Tensor.of(state, self.xp)
        return self.state_tensor

    def backward(self) -> None:
        y = self.state_tensor
        d = y.grad * (1.0 - y.value * y.value)
        for tensor, weight in ((self.prev_state_tensor, self.W), (self.input_tensor, self.U)):
            weight.add_grad(tensor.value.T @ d)
            tensor.add_grad(d @ weight.value.T)


class RNNCell(Operation):
    """H' = tanh(h U + x W + b) of a list [h, x], made of an `RNNAffine`; h may be `None`."""

    def __init__(self, name: str = "RNNCell", argument: Any = None, graph: Any = None) -> None:
        super().__init__(name, argument, graph)
        self.input_size, self.hidden_size = argument["input_size"], argument["hidden_size"]
        sizes = {"input_size": self.input_size, "hidden_size": self.hidden_size}
        affine = {**sizes, "nonlinear": "Tanh"}
        self.rnn_affine = graph.get_operation("RNNAffine", affine, f"{name}_RNNAffine")

    def forward(self, input_tensors: Any) -> Tensor:
        self.register(with_states(self, input_tensors, 1))
        self.state_tensor: Tensor = self.rnn_affine.forward(self.input_tensors)
        return self.state_tensor

    def backward(self) -> None:
        """Do nothing: what it is made of is on the tape."""


class RNN(Operation):
    """The states of a cell for a list of inputs, one after the other.

    Args:
        name: of the cell's parameters; two of one name share them.
        argument: `input_size`, `hidden_size`; `max_num_steps`: inputs after so many are left out.
        graph: which has the parameters.
    """

    cell: Any = RNNCell

    def __init__(self, name: str = "RNN", argument: Any = None, graph: Any = None) -> None:
        super().__init__(name, argument, graph)
        self.input_size, self.hidden_size = argument["input_size"], argument["hidden_size"]
        self.max_num_steps, self.num_steps = argument["max_num_steps"], 0
        self.cells = [self.cell(name, argument, graph)] * self.max_num_steps

    def forward(self, input_tensors: Any) -> list[Tensor]:
        self.register(input_tensors)
        self.state_tensors: list[Tensor] = []
        self.last_state: Any = None
        for cell, x in zip(self.cells, input_tensors, strict=False):
            self.last_state = cell.forward([self.last_state, x])
            self.state_tensors.append(self.last_state)
        self.num_steps = len(self.state_tensors)
        return self.state_tensors

    def backward(self) -> None:
        """Do nothing: what it is made of is on the tape."""
