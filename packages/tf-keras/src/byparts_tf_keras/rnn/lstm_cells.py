"""Cells with a memory: LSTMs."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from byparts_frontend_tf.api.clip import clip_by_value
from byparts_frontend_tf.api.concat import concat, split
from byparts_frontend_tf.api.initializers import Zeros
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.math.unary import sigmoid, tanh
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras import activations
from byparts_tf_keras.input_spec import InputSpec
from byparts_tf_keras.rnn.cells import LayerRNNCell, depth_of


class LSTMStateTuple(NamedTuple):
    """The state of an LSTM: its memory c, its output h; [batch, units] each."""

    c: Any
    h: Any

    @property
    def dtype(self) -> Any:
        """The dtype of both.

        Raises:
            TypeError: they differ.
        """
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}")
        return self.c.dtype


SYMBOLS = {
    "nn.rnn_cell.LSTMStateTuple": "LSTMStateTuple",
    "contrib.rnn.LSTMStateTuple": "LSTMStateTuple",
}


@symbol("nn.rnn_cell.BasicLSTMCell", "contrib.rnn.BasicLSTMCell")
class BasicLSTMCell(LayerRNNCell):
    """Zaremba et al. 2015: no peepholes, a bias of the forget gate."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: Optional[str] = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units, self._forget_bias = num_units, forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activations.get(activation or tanh)

    @property
    def state_size(self) -> Any:
        """The sizes of c and h; or their sum, for both side by side."""
        units = self._num_units
        return LSTMStateTuple(units, units) if self._state_is_tuple else 2 * units

    @property
    def output_size(self) -> Any:
        """Units."""
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        """W [inputs + units, 4 units], b [4 units]: input, new memory, forget, output."""
        rows, wide = depth_of(inputs_shape) + self._num_units, 4 * self._num_units
        self._kernel = self.add_weight("kernel", [rows, wide])
        self._bias = self.add_weight("bias", [wide], initializer=Zeros())

    def call(self, inputs: Any, state: Any) -> Any:
        """The output h', and the state."""
        c, h = state if self._state_is_tuple else split(state, 2, axis=1)
        gates = matmul(concat([inputs, h], 1), self._kernel) + self._bias
        i, j, f, o = split(gates, 4, axis=1)
        new_c = c * sigmoid(f + self._forget_bias) + sigmoid(i) * self._activation(j)
        new_h = self._activation(new_c) * sigmoid(o)
        both = LSTMStateTuple(new_c, new_h)
        return new_h, both if self._state_is_tuple else concat([new_c, new_h], 1)


@symbol("nn.rnn_cell.LSTMCell", "contrib.rnn.LSTMCell")
class LSTMCell(LayerRNNCell):
    """Sak et al. 2014: peepholes, clipping, and a projection of the output where asked for."""

    peepholes = "fio"  # gates in the order in which their variables are made

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: Optional[float] = None,
        initializer: Any = None,
        num_proj: Optional[int] = None,
        proj_clip: Optional[float] = None,
        num_unit_shards: Any = None,
        num_proj_shards: Any = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: Optional[str] = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._initializer, self._num_proj, self._proj_clip = initializer, num_proj, proj_clip
        self._forget_bias, self._state_is_tuple = forget_bias, state_is_tuple
        self._activation = activations.get(activation or tanh)

    @property
    def state_size(self) -> Any:
        """The sizes of c and h; or their sum, for both side by side."""
        h = self._num_proj or self._num_units
        return LSTMStateTuple(self._num_units, h) if self._state_is_tuple else self._num_units + h

    @property
    def output_size(self) -> Any:
        """The size of the projection, or the units."""
        return self._num_proj or self._num_units

    def build(self, inputs_shape: Any) -> None:
        """Make the weights of `BasicLSTMCell`, peepholes [units], projection [units, num_proj]."""
        units, h = self._num_units, self._num_proj or self._num_units
        rows = depth_of(inputs_shape) + h
        self._kernel = self.add_weight("kernel", [rows, 4 * units], initializer=self._initializer)
        self._bias = self.add_weight("bias", [4 * units], initializer=Zeros())
        if self._use_peepholes:
            self._peepholes = {
                gate: self.add_weight(f"w_{gate}_diag", [units], initializer=self._initializer)
                for gate in self.peepholes
            }
        if self._num_proj is not None:
            self._projection = self.add_weight(
                "projection/kernel", [units, self._num_proj], initializer=self._initializer
            )

    def call(self, inputs: Any, state: Any) -> Any:
        """The output h', and the state."""
        if self._state_is_tuple:
            c, h = state
        else:
            c, h = split(state, [self._num_units, self._num_proj or self._num_units], axis=1)
        gates = matmul(concat([inputs, h], 1), self._kernel) + self._bias
        i, j, f, o = split(gates, 4, axis=1)
        f = f + self._forget_bias
        if self._use_peepholes:
            f, i = f + self._peepholes["f"] * c, i + self._peepholes["i"] * c
        new_c = sigmoid(f) * c + sigmoid(i) * self._activation(j)
        if self._cell_clip is not None:
            new_c = clip_by_value(new_c, -self._cell_clip, self._cell_clip)
        if self._use_peepholes:
            o = o + self._peepholes["o"] * new_c
        new_h = sigmoid(o) * self._activation(new_c)
        if self._num_proj is not None:
            new_h = matmul(new_h, self._projection)
            if self._proj_clip is not None:
                new_h = clip_by_value(new_h, -self._proj_clip, self._proj_clip)
        both = LSTMStateTuple(new_c, new_h)
        return new_h, both if self._state_is_tuple else concat([new_c, new_h], 1)
