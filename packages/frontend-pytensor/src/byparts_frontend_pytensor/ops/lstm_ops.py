"""Long short-term memory: c' = forget * c + take * new, h' = out * tanh c'."""

from __future__ import annotations

from typing import Any, ClassVar

from byparts_frontend_pytensor.network import functions
from byparts_frontend_pytensor.network.tensor import Tensor
from byparts_frontend_pytensor.ops.math_ops import *  # noqa: F403
from byparts_frontend_pytensor.ops.rnn_ops import RNN
from byparts_frontend_pytensor.ops.rnn_util_ops import Cell


class LSTMCell(Cell):
    """(h', c') of [h, c, x]; the forget gate's bias starts at 1, so that it keeps at first."""

    states = 2

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.forget_gate = self.part("LSTMForget", bias=1.0)
        self.input_gate, self.output_gate = self.part("LSTMInput"), self.part("LSTMOutput")
        self.cell_gate = self.part("LSTMCell")
        self.gates = (self.forget_gate, self.input_gate, self.output_gate, self.cell_gate)

    def forward(self, input_tensors: Any) -> tuple[Tensor, Tensor]:
        (h, c, x), xp = self.start(input_tensors), self.xp
        forget, take, out, new = [gate.sum(h, x) for gate in self.gates]
        forget, take, out = [functions.sigmoid(z, xp) for z in (forget, take, out)]
        new = xp.tanh(new)
        cell = forget * c.value + take * new
        self.values = (forget, take, out, new, xp.tanh(cell))
        self.cell_state, self.hidden_state = (
            Tensor.of(cell, xp),
            Tensor.of(out * self.values[4], xp),
        )
        return self.hidden_state, self.cell_state

    def backward(self) -> None:
        forget, take, out, new, bent = self.values
        h, c, x = self.input_tensors
        dh = self.hidden_state.grad
        dc = self.cell_state.grad + dh * out * (1.0 - bent * bent)
        grads = (
            dc * c.value * forget * (1.0 - forget),
            dc * new * take * (1.0 - take),
            dh * bent * out * (1.0 - out),
            dc * take * (1.0 - new * new),
        )
        c.add_grad(dc * forget)
        for gate, grad in zip(self.gates, grads, strict=True):
            gate.spread(h, x, grad)


class RawLSTMCell(LSTMCell):
    """An `LSTMCell` without biases."""

    bias_option: ClassVar[Any] = {"bias": "None"}


class LSTM(RNN):
    """The hidden states of an `LSTMCell` for a list of inputs."""

    cell = LSTMCell
    hidden_states = property(lambda self: self.state_tensors)
    last_hidden = property(lambda self: self.last_states[0])
    last_cell = property(lambda self: self.last_states[1])
