"""Cells of `tf.contrib.rnn`: normalized, found by search, convolving; stacks of two directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.concat import concat, split
from byparts_frontend_tf.api.initializers import Constant, Zeros
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.math.unary import sigmoid, tanh
from byparts_frontend_tf.api.nn.activations import bias_add
from byparts_frontend_tf.api.nn.conv3d import convolution
from byparts_frontend_tf.api.nn.dropout import dropout
from byparts_frontend_tf.api.nn.relu import relu
from byparts_frontend_tf.api.variables.variable_scope import get_variable, variable_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_contrib.layers.contrib_norms import layer_norm
from byparts_tf_files.shape import TensorShape
from byparts_tf_keras.rnn.bidirectional import (
    bidirectional_dynamic_rnn,
    static_bidirectional_rnn,
)
from byparts_tf_keras.rnn.cells import GRUCell, LayerRNNCell, RNNCell
from byparts_tf_keras.rnn.lstm_cells import LSTMCell, LSTMStateTuple


@symbol("contrib.rnn.LayerNormBasicLSTMCell")
class LayerNormBasicLSTMCell(RNNCell):
    """An LSTM whose gates and memory are normalized (Ba et al. 2016), with dropout of what is new.

    Semeniuta et al. 2016 drop the candidate memory, and not the state.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: Any = None,
        activation: Any = tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: Any = 1.0,
        dropout_prob_seed: Optional[int] = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._forget_bias, self._activation = num_units, forget_bias, activation
        self._layer_norm, self._gain, self._shift = layer_norm, norm_gain, norm_shift
        self._keep, self._seed = dropout_keep_prob, dropout_prob_seed

    @property
    def state_size(self) -> Any:
        """The sizes of c and h."""
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> Any:
        """Units."""
        return self._num_units

    def _norm(self, x: Any, scope: str) -> Any:
        units = x.get_shape()[-1:]
        with variable_scope(scope):
            get_variable("gamma", units, initializer=Constant(self._gain))
            get_variable("beta", units, initializer=Constant(self._shift))
        return layer_norm(x, reuse=True, scope=scope)

    def call(self, inputs: Any, state: Any) -> Any:
        """The output h', and the state."""
        c, h = state
        joined, wide = concat([inputs, h], 1), 4 * self._num_units
        gates = matmul(joined, get_variable("kernel", [joined.get_shape()[-1], wide]))
        if not self._layer_norm:
            gates = bias_add(gates, get_variable("bias", [wide], initializer=Zeros()))
        i, j, f, o = split(gates, 4, axis=1)
        if self._layer_norm:
            i, j = self._norm(i, "input"), self._norm(j, "transform")
            f, o = self._norm(f, "forget"), self._norm(o, "output")
        new = self._activation(j)
        if not isinstance(self._keep, (int, float)) or self._keep < 1:
            new = dropout(new, self._keep, seed=self._seed)
        new_c = c * sigmoid(f + self._forget_bias) + sigmoid(i) * new
        if self._layer_norm:
            new_c = self._norm(new_c, "state")
        new_h = self._activation(new_c) * sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)


@symbol("contrib.rnn.NASCell")
class NASCell(LayerRNNCell):
    """The cell that Zoph and Le 2016 found by search."""

    def __init__(
        self,
        num_units: int,
        num_proj: Optional[int] = None,
        use_bias: bool = False,
        reuse: Any = None,
        **named: Any,
    ) -> None:
        super().__init__(_reuse=reuse, **named)
        self._num_units, self._num_proj, self._use_bias = num_units, num_proj, use_bias

    @property
    def state_size(self) -> Any:
        """The sizes of c and h."""
        return LSTMStateTuple(self._num_units, self._num_proj or self._num_units)

    @property
    def output_size(self) -> Any:
        """The size of the projection, or the units."""
        return self._num_proj or self._num_units

    def build(self, inputs_shape: Any) -> None:
        """W of inputs and of h, [..., 8 units]; the projection [units, num_proj]."""
        depth, wide = TensorShape(inputs_shape)[-1].value, 8 * self._num_units
        self._recurrent = self.add_weight("recurrent_kernel", [self.output_size, wide])
        self._kernel = self.add_weight("kernel", [depth, wide])
        if self._use_bias:
            self._bias = self.add_weight("bias", [wide], initializer=Zeros())
        if self._num_proj is not None:
            shape = [self._num_units, self._num_proj]
            self._projection = self.add_weight("projection_weights", shape)

    def call(self, inputs: Any, state: Any) -> Any:
        """The output h', and the state."""
        c, h = state
        of_h = matmul(h, self._recurrent)
        of_h = bias_add(of_h, self._bias) if self._use_bias else of_h
        x, m = split(matmul(inputs, self._kernel), 8, axis=1), split(of_h, 8, axis=1)
        first = sigmoid(x[0] + m[0]) * relu(x[1] + m[1])
        second = tanh(sigmoid(x[2] + m[2]) + relu(x[3] * m[3]))
        third = tanh(tanh(x[4] + m[4]) * sigmoid(x[5] + m[5]))
        fourth = sigmoid(tanh(x[6] + m[6]) + sigmoid(x[7] + m[7]))
        new_c = tanh(tanh(first) + c) * second
        new_h = tanh(new_c * tanh(third + fourth))
        if self._num_proj is not None:
            new_h = matmul(new_h, self._projection)
        return new_h, LSTMStateTuple(new_c, new_h)


@symbol("contrib.rnn.LSTMBlockCell")
class LSTMBlockCell(LSTMCell):
    """`LSTMCell` by another name: fusing is the business of the backend."""

    peepholes = "ifo"

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: Optional[float] = None,
        use_peephole: bool = False,
        dtype: Any = None,
        reuse: Any = None,
        name: str = "lstm_cell",
        **named: Any,
    ) -> None:
        clip = cell_clip if (cell_clip or 0) > 0 else None
        named.update(forget_bias=forget_bias, reuse=reuse, name=name, dtype=dtype)
        super().__init__(num_units, use_peephole, clip, **named)


@symbol("contrib.rnn.GRUBlockCell", "contrib.rnn.GRUBlockCellV2")
class GRUBlockCell(GRUCell):
    """`GRUCell` by another name."""

    def __init__(
        self,
        num_units: Any = None,
        cell_size: Any = None,
        reuse: Any = None,
        name: str = "gru_cell",
        dtype: Any = None,
    ) -> None:
        units = num_units if cell_size is None else cell_size
        super().__init__(units, reuse=reuse, name=name, dtype=dtype)


@symbol("contrib.rnn.ConvLSTMCell")
class ConvLSTMCell(RNNCell):
    """An LSTM of rows, images or volumes, whose products are convolutions (Shi et al. 2015).

    Raises:
        ValueError: the shape of inputs has another number of axes.
    """

    def __init__(
        self,
        conv_ndims: int,
        input_shape: Any,
        output_channels: int,
        kernel_shape: Any,
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Any = None,
        name: str = "conv_lstm_cell",
    ) -> None:
        super().__init__(name=name)
        dims = [int(d) for d in TensorShape(input_shape)]
        if conv_ndims != len(dims) - 1:
            raise ValueError(f"Invalid input_shape {dims} for conv_ndims={conv_ndims}.")
        self._space, self._channels, self._kernel = dims[:-1], output_channels, list(kernel_shape)
        self._use_bias, self._skip, self._forget_bias = use_bias, skip_connection, forget_bias
        self._input_channels = dims[-1]

    @property
    def state_size(self) -> Any:
        """The shapes of c and h."""
        shape = TensorShape([*self._space, self._channels])
        return LSTMStateTuple(shape, shape)

    @property
    def output_size(self) -> Any:
        """The shape of h, with the inputs where they are skipped through."""
        more = self._input_channels if self._skip else 0
        return TensorShape([*self._space, self._channels + more])

    def call(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """The output h', and the state."""
        c, h = state
        joined, wide = concat([inputs, h], -1), 4 * self._channels
        shape = [*self._kernel, joined.get_shape()[-1], wide]
        gates = convolution(joined, get_variable("kernel", shape), "SAME")
        if self._use_bias:
            gates = gates + get_variable("biases", [wide], initializer=Zeros())
        i, j, f, o = split(gates, 4, axis=-1)
        new_c = sigmoid(f + self._forget_bias) * c + sigmoid(i) * tanh(j)
        new_h = tanh(new_c) * sigmoid(o)
        output = concat([new_h, inputs], -1) if self._skip else new_h
        return output, LSTMStateTuple(new_c, new_h)


@symbol("contrib.rnn.Conv1DLSTMCell")
class Conv1DLSTMCell(ConvLSTMCell):
    """`ConvLSTMCell` of rows."""

    def __init__(self, name: str = "conv_1d_lstm_cell", **named: Any) -> None:
        super().__init__(1, name=name, **named)


@symbol("contrib.rnn.Conv2DLSTMCell")
class Conv2DLSTMCell(ConvLSTMCell):
    """`ConvLSTMCell` of images."""

    def __init__(self, name: str = "conv_2d_lstm_cell", **named: Any) -> None:
        super().__init__(2, name=name, **named)


@symbol("contrib.rnn.Conv3DLSTMCell")
class Conv3DLSTMCell(ConvLSTMCell):
    """`ConvLSTMCell` of volumes."""

    def __init__(self, name: str = "conv_3d_lstm_cell", **named: Any) -> None:
        super().__init__(3, name=name, **named)


def _check_cells(cells_fw: Any, cells_bw: Any) -> None:
    for cells, what in ((cells_fw, "cells_fw"), (cells_bw, "cells_bw")):
        if not isinstance(cells, (list, tuple)):
            raise ValueError(f"{what} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")


def _of_layer(states: Any, i: int) -> Any:
    return None if states is None else states[i]


@symbol("contrib.rnn.stack_bidirectional_dynamic_rnn")
def stack_bidirectional_dynamic_rnn(
    cells_fw: Sequence[Any],
    cells_bw: Sequence[Any],
    inputs: Any,
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    parallel_iterations: Any = None,
    time_major: bool = False,
    scope: Any = None,
    swap_memory: bool = False,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Layers of two directions, each of which reads both of the one below.

    Raises:
        ValueError: there are not as many cells in each direction.
    """
    _check_cells(cells_fw, cells_bw)
    states: list[tuple[Any, Any]] = []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for i, cells in enumerate(zip(cells_fw, cells_bw, strict=True)):
            with variable_scope(f"cell_{i}"):
                outputs, last = bidirectional_dynamic_rnn(
                    *cells,
                    inputs,
                    sequence_length,
                    _of_layer(initial_states_fw, i),
                    _of_layer(initial_states_bw, i),
                    dtype,
                    time_major=time_major,
                )
                inputs = concat(outputs, 2)
            states.append(last)
    return inputs, tuple([s[0] for s in states]), tuple([s[1] for s in states])


@symbol("contrib.rnn.stack_bidirectional_rnn")
def stack_bidirectional_rnn(
    cells_fw: Sequence[Any],
    cells_bw: Sequence[Any],
    inputs: Any,
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Run cells as `stack_bidirectional_dynamic_rnn`, on a list of inputs."""
    _check_cells(cells_fw, cells_bw)
    states: list[tuple[Any, Any]] = []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for i, cells in enumerate(zip(cells_fw, cells_bw, strict=True)):
            with variable_scope(f"cell_{i}"):
                inputs, forwards, backwards = static_bidirectional_rnn(
                    *cells,
                    inputs,
                    _of_layer(initial_states_fw, i),
                    _of_layer(initial_states_bw, i),
                    dtype,
                    sequence_length,
                )
            states.append((forwards, backwards))
    return inputs, tuple([s[0] for s in states]), tuple([s[1] for s in states])
