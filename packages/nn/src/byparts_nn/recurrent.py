"""Recurrent layers: one step after the other along time, as one loop of the program.

What the inputs add to each step is one product for all of time; the loop (`scan`) does the rest.
x is [n, time, width], and so are the outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import byparts_opset as ops
from byparts_eager import scan
from byparts_graph_ir import ShapeError, Value
from byparts_nn.initialize import uniform
from byparts_nn.module import Module
from byparts_nn.parameter import Parameter

State = tuple[Value, ...]


class Recurrent(Module):
    """A loop over time: `RNN`, `LSTM` and `GRU`.

    Weights are [in, gates * units] and [units, gates * units], uniform in ±1 / sqrt(units).

    Args:
        width: of the inputs; `None` is found when the layer is first called.
        units: of the outputs.
        reverse: from the last step to the first; outputs stand where their inputs do.
    """

    gates: ClassVar[int]
    states: ClassVar[int] = 1

    def __init__(
        self, width: int | None, units: int, *, reverse: bool = False, dtype: str = "f32"
    ) -> None:
        draw, rows = uniform(-(units**-0.5), units**-0.5), self.gates * units
        self.weight_input: Any = Parameter((width, rows), draw, dtype)
        self.weight_hidden: Any = Parameter((units, rows), draw, dtype)
        self.bias: Any = Parameter((rows,), draw, dtype)
        self.units, self.reverse = units, reverse

    def __call__(self, x: Value) -> Value:
        """[n, time, width] -> [n, time, units]."""
        return self.run(x)[0]

    def run(self, x: Value, state: State | None = None) -> tuple[Value, State]:
        """The outputs [n, time, units], and the state after the last step, to go on from.

        Args:
            x: [n, time, width].
            state: h, and c of an LSTM, of [n, units] each; zeros by default.
        """
        if len(x.type.shape or ()) != 3:
            raise ShapeError(f"{type(self).__name__}: x is {x.type}; it takes [n, time, width]")
        inputs = ops.transpose(ops.matmul(x, self.weight_input) + self.bias, (1, 0, 2))
        if state is None:
            zeros = ops.zeros_like(inputs[0][:, : self.units])
            state = (zeros,) * self.states
        last, outputs = scan(self._step, state, inputs, reverse=self.reverse)
        return ops.transpose(outputs, (1, 0, 2)), last

    def _step(self, state: State, x: Value) -> tuple[State, Value]:
        raise NotImplementedError


class RNN(Recurrent):
    """h' = activation(x @ weight_input + bias + h @ weight_hidden)."""

    gates = 1

    def __init__(
        self,
        width: int | None,
        units: int,
        *,
        activation: Callable[[Value], Value] = ops.tanh,
        reverse: bool = False,
        dtype: str = "f32",
    ) -> None:
        super().__init__(width, units, reverse=reverse, dtype=dtype)
        self.activation = activation

    def _step(self, state: State, x: Value) -> tuple[State, Value]:
        h = self.activation(x + ops.matmul(state[0], self.weight_hidden))
        return (h,), h


class LSTM(Recurrent):
    """Long short-term memory; the gates stand in PyTorch's order: in, forget, new, out.

    c' = forget * c + in * new,  h' = out * tanh(c')
    """

    gates, states = 4, 2

    def _step(self, state: State, x: Value) -> tuple[State, Value]:
        h, c = state
        parts = ops.split(x + ops.matmul(h, self.weight_hidden), (self.units,) * 4, 1)
        take, forget, out = ops.sigmoid(parts[0]), ops.sigmoid(parts[1]), ops.sigmoid(parts[3])
        c = forget * c + take * ops.tanh(parts[2])
        h = out * ops.tanh(c)
        return (h, c), h


class GRU(Recurrent):
    """Gated recurrent unit; the gates stand in PyTorch's order: reset, update, new.

    h' = (1 - update) * new + update * h; the reset gate is applied after the product with h, which
    has a bias of its own.
    """

    gates = 3

    def __init__(
        self, width: int | None, units: int, *, reverse: bool = False, dtype: str = "f32"
    ) -> None:
        super().__init__(width, units, reverse=reverse, dtype=dtype)
        self.bias_hidden: Any = Parameter((3 * units,), uniform(-(units**-0.5), units**-0.5), dtype)

    def _step(self, state: State, x: Value) -> tuple[State, Value]:
        (h,) = state
        sizes = (self.units,) * 3
        of_x = ops.split(x, sizes, 1)
        of_h = ops.split(ops.matmul(h, self.weight_hidden) + self.bias_hidden, sizes, 1)
        reset, update = (ops.sigmoid(a + b) for a, b in zip(of_x[:2], of_h[:2], strict=True))
        new = ops.tanh(of_x[2] + reset * of_h[2])
        h = new + update * (h - new)
        return (h,), h


class Bidirectional(Module):
    """A recurrent layer forwards and another one backwards, their outputs side by side.

    Args:
        forward: outputs [n, time, a].
        backward: one with `reverse=True`, outputs [n, time, b].
    """

    def __init__(self, forward: Recurrent, backward: Recurrent) -> None:
        self.forward, self.backward = forward, backward

    def __call__(self, x: Value) -> Value:
        """[n, time, width] -> [n, time, a + b]."""
        ys: list[Any] = [self.forward(x), self.backward(x)]
        return ops.concat(ys, 2)
