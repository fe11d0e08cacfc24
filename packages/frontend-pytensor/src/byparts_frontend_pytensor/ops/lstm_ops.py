"""Long short-term memory: c' = forget * c + in * new, h' = out * tanh c'."""

from __future__ import annotations

from typing import Any

from byparts_frontend_pytensor.network import functions
from byparts_frontend_pytensor.network.operation import Operation
from byparts_frontend_pytensor.network.tensor import Tensor
from byparts_frontend_pytensor.ops.math_ops import *  # noqa: F403
from byparts_frontend_pytensor.ops.rnn_util_ops import with_states

_GATES = ("f", "i", "o", "c")  # forget, in, out and the new content


class RawLSTMCell(Operation):
    """(h', c') of a list [h, c, x], with its own backward and without biases.

    Args:
        name: the parameters are "<name>LSTMCell_Wf_h", "_Wf_i", and likewise for i, o and c.
        argument: `input_size`, `hidden_size`.
        graph: which has the parameters.
    """

    any_array = True

    def __init__(self, name: str = "RawLSTMCell", argument: Any = None, graph: Any = None) -> None:
        super().__init__(name, argument, graph)
        self.input_size, self.hidden_size = argument["input_size"], argument["hidden_size"]
        for gate in _GATES:
            for end, rows in (("h", self.hidden_size), ("i", self.input_size)):
                key = f"W{gate}_{end}"
                shape = (rows, self.hidden_size)
                setattr(self, key, graph.get_tensor(f"{name}LSTMCell_{key}", shape))

    def forward(self, input_tensors: Any) -> tuple[Tensor, Tensor]:
        self.register(with_states(self, input_tensors, 2))
        xp, own = self.xp, self.__dict__
        self.prev_hidden_state, self.prev_cell_state, self.input_tensor = self.input_tensors
        h, c, x = [t.value for t in self.input_tensors]
        sums = [h @ own[f"W{g}_h"].value + x @ own[f"W{g}_i"].value for g in _GATES]
        forget, take, out = [functions.sigmoid(z, xp) for z in sums[:3]]
        new = xp.tanh(sums[3])
        cell = forget * c + take * new
        self.gates = (forget, take, out, new, xp.tanh(cell))
        self.cell_state = Tensor.of(cell, xp)
        self.hidden_state = Tensor.of(out * self.gates[4], xp)
        return self.hidden_state, self.cell_state

    def backward(self) -> None:
        forget, take, out, new, bent = self.gates
        dh, own = self.hidden_state.grad, self.__dict__
        dc = self.cell_state.grad + dh * out * (1.0 - bent * bent)
        self.prev_cell_state.add_grad(dc * forget)
        d = {
            "f": dc * self.prev_cell_state.value * forget * (1.0 - forget),
            "i": dc * new * take * (1.0 - take),
            "o": dh * bent * out * (1.0 - out),
            "c": dc * take * (1.0 - new * new),
        }
        for end, tensor in (("h", self.prev_hidden_state), ("i", self.input_tensor)):
            for gate in _GATES:
                weight = own[f"W{gate}_{end}"]
                weight.add_grad(tensor.value.T @ d[gate])
                tensor.add_grad(d[gate] @ weight.value.T)


class LSTMCell(Operation):
    """(h', c') of a list [h, c, x], made of four `RNNAffine`; h and c may be `None`.

    The bias of the forget gate starts at 1, so that memory is kept at first.
    """

    def __init__(self, name: str = "LSTMCell", argument: Any = None, graph: Any = None) -> None:
        super().__init__(name, argument, graph)
        self.input_size, self.hidden_size = argument["input_size"], argument["hidden_size"]
        sizes = {"input_size": self.input_size, "hidden_size": self.hidden_size}

        def gate(kind: str, part: str, **more: float) -> Any:
            affine = {**sizes, "nonlinear": kind, **more}
            return graph.get_operation("RNNAffine", affine, f"{name}_LSTM{part}")

        self.forget_gate = gate("Sigmoid", "Forget", bias=1.0)
        self.input_gate = gate("Sigmoid", "Input")
        self.output_gate = gate("Sigmoid", "Output")
        self.cell_gate = gate("Tanh", "Cell")
        self.multiply, self.add, self.tanh = map(graph.get_operation, ("Multiply", "Add", "Tanh"))

    def forward(self, input_tensors: Any) -> tuple[Tensor, Tensor]:
        self.register(with_states(self, input_tensors, 2))
        h, c, x = self.input_tensors
        forget, take = self.forget_gate.forward([h, x]), self.input_gate.forward([h, x])
        out, new = self.output_gate.forward([h, x]), self.cell_gate.forward([h, x])
        kept, taken = self.multiply.forward([forget, c]), self.multiply.forward([take, new])
        self.cell_state: Tensor = self.add.forward([kept, taken])
        self.hidden_state: Tensor = self.multiply.forward([out, self.tanh.forward(self.cell_state)])
        return self.hidden_state, self.cell_state

    def backward(self) -> None:
        """Do nothing: what it is made of is on the tape."""


class LSTM(Operation):
    """The hidden states of a cell for a list of inputs; arguments as `RNN`'s."""

    def __init__(self, name: str = "LSTM", argument: Any = None, graph: Any = None) -> None:
        super().__init__(name, argument, graph)
        self.input_size, self.hidden_size = argument["input_size"], argument["hidden_size"]
        self.max_num_steps, self.num_steps = argument["max_num_steps"], 0
        self.cells = [LSTMCell(name, argument, graph)] * self.max_num_steps

    def forward(self, input_tensors: Any) -> list[Tensor]:
        self.register(input_tensors)
        self.hidden_states: list[Tensor] = []
        self.cell_states: list[Tensor] = []
        self.last_hidden: Any = None
        self.last_cell: Any = None
        for cell, x in zip(self.cells, input_tensors, strict=False):
            step = cell.forward([self.last_hidden, self.last_cell, x])
            self.last_hidden, self.last_cell = step
            self.hidden_states.append(self.last_hidden)
            self.cell_states.append(self.last_cell)
        self.num_steps = len(self.hidden_states)
        return self.hidden_states

    def backward(self) -> None:
        """Do nothing: what it is made of is on the tape."""
