"""Cells of recurrent layers: one step of a simple network, a GRU, an LSTM."""

from __future__ import annotations

from typing import Any

import byparts_frontend_tf as tf
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras import activations
from byparts_tf_keras.training_phase import in_train_phase
from byparts_tf_keras.weighted import Weighted

GIVEN: dict[str, Any] = {
    "kernel_initializer": "glorot_uniform",
    "recurrent_initializer": "orthogonal",
    "bias_initializer": "zeros",
    "kernel_regularizer": None,
    "recurrent_regularizer": None,
    "bias_regularizer": None,
    "kernel_constraint": None,
    "recurrent_constraint": None,
    "bias_constraint": None,
}


class Cell(Weighted):
    """A step of `gates` gates; what the three kinds have in common."""

    gates = 1
    kernel: Any
    recurrent_kernel: Any
    bias: Any

    def _begin_cell(
        self, units: int, activation: Any, use_bias: bool, dropout: Any, recurrent_dropout: Any
    ) -> None:
        self.units, self.use_bias = int(units), use_bias
        self.activation = activations.get(activation)
        self.dropout, self.recurrent_dropout = dropout, recurrent_dropout
        self.state_size: Any = self.units
        self.output_size = self.units
        self.reset_dropout_mask()

    def reset_dropout_mask(self) -> None:
        """Draw new masks with the next step."""
        self._masks: dict[str, Any] = {}

    reset_recurrent_dropout_mask = reset_dropout_mask

    def build(self, input_shape: Any) -> None:
        """Kernels of inputs and states, and biases."""
        inputs = tf.TensorShape(input_shape).as_list()[-1]
        width = self.units * self.gates
        self.kernel = self._weight("kernel", (inputs, width))
        self.recurrent_kernel = self._weight("recurrent_kernel", (self.units, width), "recurrent")
        self.bias = self._weight("bias", self._bias_shape()) if self.use_bias else None
        self.built = True

    def _bias_shape(self) -> tuple[int, ...]:
        return (self.units * self.gates,)

    def _dropped(self, x: Any, which: str, rate: Any, training: Any) -> list[Any]:
        """The tensor for each gate, with masks that are the same for all steps."""
        if not isinstance(rate, (int, float)) or not 0 < rate < 1:
            return [x] * self.gates
        if which not in self._masks:
            ones = tf.ones_like(x)
            self._masks[which] = [
                in_train_phase(lambda: tf.nn.dropout(ones, rate=rate), lambda: ones, training)
                for _ in range(self.gates)
            ]
        return [x * m for m in self._masks[which]]

    def _parts(self, weight: Any) -> list[Any]:
        """The columns of a weight for each gate."""
        return [weight[..., i * self.units : (i + 1) * self.units] for i in range(self.gates)]

    def _products(self, xs: list[Any], weight: Any) -> list[Any]:
        """x W for each gate."""
        if all(x is xs[0] for x in xs):
            return self._parts(tf.matmul(xs[0], weight))
        return [tf.matmul(x, w) for x, w in zip(xs, self._parts(weight), strict=True)]

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        """Zeros."""
        return zero_states(self, inputs, batch_size, dtype)


def with_open_forget_gate(start: Any, units: int) -> Any:
    """The initializer of the biases of i, f, c, o: 1 for f, by `start` for the others."""

    def first(shape: Any, dtype: Any = None, **_: Any) -> Any:
        ends = start([units], dtype=dtype), start([2 * units], dtype=dtype)
        return tf.concat([ends[0], tf.ones([units], dtype), ends[1]], 0)

    return first


def zero_states(cell: Any, inputs: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros for each state of a cell, [batch, size]."""
    if inputs is not None:
        batch_size, dtype = tf.shape(inputs)[0], inputs.dtype
    sizes = cell.state_size

    def zeros(size: Any) -> Any:
        dims = [size] if isinstance(size, int) else tf.TensorShape(size).as_list()
        made = tf.zeros(tf.stack([batch_size, *dims]), dtype)
        made.set_shape([batch_size if isinstance(batch_size, int) else None, *dims])
        return made

    return [zeros(s) for s in sizes] if isinstance(sizes, (list, tuple)) else zeros(sizes)


def _one(states: Any) -> Any:
    return states[0] if isinstance(states, (list, tuple)) else states


@symbol("keras.layers.SimpleRNNCell")
class SimpleRNNCell(Cell):
    """h' = activation(x W + h U + b)."""

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: Any = 0.0,
        recurrent_dropout: Any = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._options(locals())
        self._begin_cell(units, activation, use_bias, dropout, recurrent_dropout)

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        """(output, states)."""
        before = _one(states)
        x = self._dropped(inputs, "inputs", self.dropout, training)[0]
        h = self._dropped(before, "states", self.recurrent_dropout, training)[0]
        outputs = tf.matmul(x, self.kernel)
        if self.use_bias:
            outputs = tf.nn.bias_add(outputs, self.bias)
        outputs = self.activation(outputs + tf.matmul(h, self.recurrent_kernel))
        return outputs, [outputs]


@symbol("keras.layers.GRUCell")
class GRUCell(Cell):
    """Cho and others 2014; the reset gate is applied before the product, or after."""

    gates = 3

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: Any = 0.0,
        recurrent_dropout: Any = 0.0,
        implementation: int = 1,
        reset_after: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._options(locals())
        self._begin_cell(units, activation, use_bias, dropout, recurrent_dropout)
        self.recurrent_activation = activations.get(recurrent_activation)
        self.implementation, self.reset_after = implementation, reset_after

    def _bias_shape(self) -> tuple[int, ...]:
        return (2, 3 * self.units) if self.reset_after else (3 * self.units,)

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        """(output, states)."""
        before = _one(states)
        xs = self._dropped(inputs, "inputs", self.dropout, training)
        hs = self._dropped(before, "states", self.recurrent_dropout, training)
        z_x, r_x, h_x = self._products(xs, self.kernel)
        if self.use_bias:
            bias = self.bias[0] if self.reset_after else self.bias
            z_x, r_x, h_x = [x + b for x, b in zip((z_x, r_x, h_x), self._parts(bias), strict=True)]
        if self.reset_after:
            z_h, r_h, h_h = self._products(hs, self.recurrent_kernel)
            if self.use_bias:
                z_h, r_h, h_h = [
                    h + b for h, b in zip((z_h, r_h, h_h), self._parts(self.bias[1]), strict=True)
                ]
        else:
            u_z, u_r, u_h = self._parts(self.recurrent_kernel)
            z_h, r_h = tf.matmul(hs[0], u_z), tf.matmul(hs[1], u_r)
        z, r = self.recurrent_activation(z_x + z_h), self.recurrent_activation(r_x + r_h)
        inner = r * h_h if self.reset_after else tf.matmul(r * hs[2], u_h)
        outputs = z * before + (1.0 - z) * self.activation(h_x + inner)
        return outputs, [outputs]


@symbol("keras.layers.LSTMCell")
class LSTMCell(Cell):
    """Hochreiter and Schmidhuber 1997; gates are i, f, c, o."""

    gates = 4

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: Any = 0.0,
        recurrent_dropout: Any = 0.0,
        implementation: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._options(locals())
        self._begin_cell(units, activation, use_bias, dropout, recurrent_dropout)
        self.recurrent_activation = activations.get(recurrent_activation)
        self.implementation, self.unit_forget_bias = implementation, unit_forget_bias
        self.state_size = [self.units, self.units]

    def build(self, input_shape: Any) -> None:
        """Kernels of inputs and states, and biases; that of the forget gate begins as 1."""
        kept = self.bias_initializer
        if self.unit_forget_bias and self.use_bias:
            self.bias_initializer = with_open_forget_gate(kept, self.units)
        super().build(input_shape)
        self.bias_initializer = kept

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        """(output, states)."""
        h, c = states
        xs = self._dropped(inputs, "inputs", self.dropout, training)
        hs = self._dropped(h, "states", self.recurrent_dropout, training)
        outputs = self._products(xs, self.kernel)
        if self.use_bias:
            outputs = [x + b for x, b in zip(outputs, self._parts(self.bias), strict=True)]
        more = self._products(hs, self.recurrent_kernel)
        i, f, new, o = [a + b for a, b in zip(outputs, more, strict=True)]
        c = self.recurrent_activation(f) * c + self.recurrent_activation(i) * self.activation(new)
        h = self.recurrent_activation(o) * self.activation(c)
        return h, [h, c]
