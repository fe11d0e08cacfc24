"""Recurrent networks: h' = tanh(h U + x W + b)."""

from __future__ import annotations

from typing import Any, ClassVar

from byparts_frontend_pytensor.network.tensor import Tensor
from byparts_frontend_pytensor.ops.formula import Formula
from byparts_frontend_pytensor.ops.rnn_util_ops import *  # noqa: F403
from byparts_frontend_pytensor.ops.rnn_util_ops import Cell


class RNNCell(Cell):
    """The state after [h, x]."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.rnn_affine = self.part("RNNAffine")

    def forward(self, input_tensors: Any) -> Tensor:
        h, x = self.start(input_tensors)
        state = self.xp.tanh(self.rnn_affine.sum(h, x))
        self.state_tensor = self.output_tensor = Tensor.of(state, self.xp)
        return self.state_tensor

    def backward(self) -> None:
        y = self.state_tensor
        self.rnn_affine.spread(*self.input_tensors, y.grad * (1.0 - y.value * y.value))


class RawRNNCell(RNNCell):
    """An `RNNCell` without bias."""

    bias_option: ClassVar[Any] = {"bias": "None"}


class RNN(Formula):
    """The states of a cell for a list of inputs, of which `max_num_steps` are read."""

    cell: ClassVar[Any] = RNNCell
    num_steps = 0

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        *_, self.max_num_steps = self.sizes("input_size", "hidden_size", "max_num_steps")
        self.cells = [self.cell(self.name, self.arguments, self.graph)] * self.max_num_steps

    def forward(self, input_tensors: Any) -> list[Tensor]:
        self.register(input_tensors)
        self.state_tensors: list[Tensor] = []
        last: Any = [None] * self.cell.states
        for cell, x in zip(self.cells, input_tensors, strict=False):
            after = cell.forward([*last, x])
            last = after if isinstance(after, tuple) else (after,)
            self.state_tensors.append(last[0])
        self.last_states, self.num_steps = last, len(self.state_tensors)
        self.last_state = last[0]
        return self.state_tensors

    def backward(self) -> None:
        """Do nothing: its cells are on the tape."""
