"""Recurrent networks: h' = tanh(h U + x W + b)."""

from __future__ import annotations

from typing import Any, ClassVar

from byparts_frontend_pytensor.network.tensor import Tensor
from byparts_frontend_pytensor.ops.formula import Formula
from byparts_frontend_pytensor.ops.rnn_util_ops import *  # noqa: F403
from byparts_frontend_pytensor.ops.rnn_util_ops import Cell


class RawRNNCell(Cell):
    """The state tanh(h W + x U) after [h, x], with formulas of its own."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.W = self.graph.get_tensor(f"{self.name}_W", (self.hidden_size, self.hidden_size))
        self.U = self.graph.get_tensor(f"{self.name}_U", (self.input_size, self.hidden_size))
        self.weights = (self.W, self.U)

    def compute(self, *values: Any) -> Any:
        h, x, w, u = values
        return self.xp.tanh(h @ w + x @ u)

    def gradients(self, dy: Any, y: Any, *values: Any) -> Any:
        (h, x, w, u), d = values, dy * (1.0 - y * y)
        return d @ w.T, d @ u.T, h.T @ d, x.T @ d

    backward = Formula.backward


class RNNCell(Cell):
    """The state after [h, x], made of an `RNNAffine`."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.rnn_affine = self.part("RNNAffine", "RNNAffine", nonlinear="Tanh")

    def forward(self, input_tensors: Any) -> Tensor:
        self.register(input_tensors)
        self.state_tensor: Tensor = self.rnn_affine.forward(self.input_tensors)
        return self.state_tensor


class RNN(Formula):
    """The states of a cell for a list of inputs, of which `max_num_steps` are read."""

    cell: ClassVar[Any] = RNNCell

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        *_, self.max_num_steps = self.sizes("input_size", "hidden_size", "max_num_steps")
        self.num_steps = 0
        self.cells = [self.cell(self.name, self.arguments, self.graph)] * self.max_num_steps

    def forward(self, input_tensors: Any) -> list[Tensor]:
        self.register(input_tensors)
        self.state_tensors: list[Tensor] = []
        last: Any = [None] * self.cell.states
        for cell, x in zip(self.cells, input_tensors, strict=False):
            after = cell.forward([*last, x])
            last = after if isinstance(after, tuple) else (after,)
            self.state_tensors.append(last[0])
        self.last_state, self.num_steps = last[0], len(self.state_tensors)
        return self.state_tensors

    def backward(self) -> None:
        """Do nothing: what it is made of is on the tape."""
