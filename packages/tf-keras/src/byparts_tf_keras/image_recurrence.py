"""Recurrent layers whose states are images: ConvLSTM2D."""

from __future__ import annotations

from typing import Any

import byparts_frontend_tf as tf
from byparts_frontend_tf.api.arguments import sizes
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras import activations
from byparts_tf_keras.convolutions import extent
from byparts_tf_keras.input_spec import InputSpec
from byparts_tf_keras.recurrent import RNN
from byparts_tf_keras.recurrent_cells import GIVEN, with_open_forget_gate
from byparts_tf_keras.weighted import Weighted


class ConvLSTM2DCell(Weighted):
    """An LSTM whose products are convolutions; gates are i, f, c, o.  Channels are last."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        unit_forget_bias: bool = True,
        options: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.filters, self.kernel_size = int(filters), sizes(kernel_size, 2, "kernel_size")
        self.strides, self.padding = sizes(strides, 2, "strides"), padding
        self.activation = activations.get(activation)
        self.recurrent_activation = activations.get(recurrent_activation)
        self.use_bias, self.unit_forget_bias = use_bias, unit_forget_bias
        self._options({**GIVEN, **(options or {})})
        self.state_size: Any = None

    def build(self, input_shape: Any) -> None:
        """Kernels of inputs and states, and biases; that of the forget gate begins as 1."""
        _, height, width, channels = tf.TensorShape(input_shape).as_list()
        n = self.filters
        rows = zip((height, width), self.kernel_size, self.strides, strict=True)
        image = tf.TensorShape([*[extent(e, k, s, self.padding) for e, k, s in rows], n])
        self.state_size = [image, image]
        self.kernel = self._weight("kernel", (*self.kernel_size, channels, 4 * n))
        self.recurrent_kernel = self._weight(
            "recurrent_kernel", (*self.kernel_size, n, 4 * n), "recurrent"
        )
        kept = self.bias_initializer
        if self.unit_forget_bias:
            self.bias_initializer = with_open_forget_gate(kept, n)
        self.bias = self._weight("bias", (4 * n,)) if self.use_bias else None
        self.bias_initializer, self.built = kept, True

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        """(output, states)."""
        h, c = states
        x = tf.nn.conv2d(inputs, self.kernel, [1, *self.strides, 1], self.padding.upper())
        x = tf.nn.bias_add(x, self.bias) if self.use_bias else x
        x = x + tf.nn.conv2d(h, self.recurrent_kernel, [1, 1, 1, 1], "SAME")
        i, f, new, o = tf.split(x, 4, axis=-1)
        c = self.recurrent_activation(f) * c + self.recurrent_activation(i) * self.activation(new)
        h = self.recurrent_activation(o) * self.activation(c)
        return h, [h, c]


@symbol("keras.layers.ConvLSTM2D")
class ConvLSTM2D(RNN):
    """Shi and others 2015: an LSTM over sequences of images, channels last."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: Any = None,
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        unit_forget_bias: bool = True,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        **kwargs: Any,
    ) -> None:
        if data_format == "channels_first":
            raise NotImplementedError("ConvLSTM2D: channels are last")
        options = {k: kwargs.pop(k) for k in GIVEN if k in kwargs}
        cell = ConvLSTM2DCell(
            filters,
            kernel_size,
            strides,
            padding,
            activation,
            recurrent_activation,
            use_bias,
            unit_forget_bias,
            options,
            name="cell",
        )
        cell.state_size = [filters, filters]  # until it is built
        super().__init__(cell, return_sequences, return_state, go_backwards, stateful, **kwargs)
        self.filters, self.kernel_size, self.strides = filters, cell.kernel_size, cell.strides
        self.padding, self.data_format = padding, "channels_last"
        self.input_spec = [InputSpec(ndim=5)]
