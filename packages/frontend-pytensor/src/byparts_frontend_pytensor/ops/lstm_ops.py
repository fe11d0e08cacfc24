"""Long short-term memory: c' = forget * c + in * new, h' = out * tanh c'."""

from __future__ import annotations

from typing import Any

from byparts_frontend_pytensor.network import functions
from byparts_frontend_pytensor.network.tensor import Tensor
from byparts_frontend_pytensor.ops.math_ops import *  # noqa: F403
from byparts_frontend_pytensor.ops.rnn_ops import RNN
from byparts_frontend_pytensor.ops.rnn_util_ops import Cell


class RawLSTMCell(Cell):
    """(h', c') of [h, c, x], without biases, with its own backward."""

    states = 2

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        for gate in "fioc":  # forget, in, out, and the new content
            for end, rows in (("h", self.hidden_size), ("i", self.input_size)):
                name = f"W{gate}_{end}"
                shape = (rows, self.hidden_size)
                setattr(self, name, self.graph.get_tensor(f"{self.name}LSTMCell_{name}", shape))

    def forward(self, input_tensors: Any) -> tuple[Tensor, Tensor]:
        self.register(input_tensors)
        self.check(input_tensors)
        own, xp = self.__dict__, self.xp
        h, self.c, x = [t.value for t in input_tensors]
        sums = [h @ own[f"W{gate}_h"].value + x @ own[f"W{gate}_i"].value for gate in "fioc"]
        forget, take, out = [functions.sigmoid(z, xp) for z in sums[:3]]
        new = xp.tanh(sums[3])
        cell = forget * self.c + take * new
        self.gates = (forget, take, out, new, xp.tanh(cell))
        self.cell_state = Tensor.of(cell, xp)
        self.hidden_state = Tensor.of(out * self.gates[4], xp)
        return self.hidden_state, self.cell_state

    def backward(self) -> None:
        forget, take, out, new, bent = self.gates
        h, c, x = self.input_tensors
        dh, own = self.hidden_state.grad, self.__dict__
        dc = self.cell_state.grad + dh * out * (1.0 - bent * bent)
        c.add_grad(dc * forget)
        d = {
            "f": dc * self.c * forget * (1.0 - forget),
            "i": dc * new * take * (1.0 - take),
            "o": dh * bent * out * (1.0 - out),
            "c": dc * take * (1.0 - new * new),
        }
        for tensor, end in ((h, "h"), (x, "i")):
            for gate in "fioc":
                weight = own[f"W{gate}_{end}"]
                weight.add_grad(tensor.value.T @ d[gate])
                tensor.add_grad(d[gate] @ weight.value.T)


class LSTMCell(Cell):
    """(h', c') of [h, c, x], made of four `RNNAffine`.

    The bias of the forget gate starts at 1, so that memory is kept at first.
    """

    states = 2

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.forget_gate = self.part("RNNAffine", "LSTMForget", nonlinear="Sigmoid", bias=1.0)
        self.input_gate = self.part("RNNAffine", "LSTMInput", nonlinear="Sigmoid")
        self.output_gate = self.part("RNNAffine", "LSTMOutput", nonlinear="Sigmoid")
        self.cell_gate = self.part("RNNAffine", "LSTMCell", nonlinear="Tanh")
        self.multiply, self.add, self.tanh = [
            self.graph.get_operation(kind) for kind in ("Multiply", "Add", "Tanh")
        ]

    def forward(self, input_tensors: Any) -> tuple[Tensor, Tensor]:
        self.register(input_tensors)
        h, c, x = self.input_tensors
        forget, take = self.forget_gate.forward([h, x]), self.input_gate.forward([h, x])
        out, new = self.output_gate.forward([h, x]), self.cell_gate.forward([h, x])
        kept, taken = self.multiply.forward([forget, c]), self.multiply.forward([take, new])
        self.cell_state: Tensor = self.add.forward([kept, taken])
        self.hidden_state: Tensor = self.multiply.forward([out, self.tanh.forward(self.cell_state)])
        return self.hidden_state, self.cell_state


class LSTM(RNN):
    """The hidden states of an `LSTMCell` for a list of inputs."""

    cell = LSTMCell
