"""Recurrent layers of Keras with cells of theirs: SimpleRNN, GRU, LSTM."""

from __future__ import annotations

from typing import Any

from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.layer import Layer
from byparts_tf_keras.penalties import serialize as serialize_penalty
from byparts_tf_keras.recurrent import RNN
from byparts_tf_keras.recurrent_cells import (
    GRUCell,
    LSTMCell,
    SimpleRNNCell,
)

_RNN = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll", "time_major")
_LAYER = (
    *("name", "trainable", "dtype", "input_shape", "batch_input_shape", "batch_size", "weights"),
    *("activity_regularizer", "input_dim", "input_length", "dynamic"),
)


class _OfCell(RNN):
    """A layer that makes its cell of its own arguments."""

    kind: Any = None

    def __init__(self, units: int, *arguments: Any, **kwargs: Any) -> None:
        outer = {k: kwargs.pop(k) for k in (*_RNN, *_LAYER) if k in kwargs}
        cell = type(self).kind(units, *arguments, name="cell", **kwargs)
        super().__init__(cell, **outer)

    def __getattr__(self, name: str) -> Any:
        cell = self.__dict__.get("cell")
        if cell is not None and not name.startswith("_") and name in cell.__dict__:
            return cell.__dict__[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def get_config(self) -> dict[str, Any]:
        """Arguments that make an equal layer: its own and those of its cell."""
        config = Layer.get_config(self)
        config.pop("cell", None)
        config.pop("units", None)
        inner = self.cell.get_config()
        for key in ("name", "trainable", "dtype"):
            inner.pop(key)
        penalty = {"activity_regularizer": serialize_penalty(self.activity_regularizer)}
        return {**config, **{k: getattr(self, k) for k in _RNN}, **inner, **penalty}


@symbol("keras.layers.SimpleRNN")
class SimpleRNN(_OfCell):
    """A network whose output is fed back."""

    kind = SimpleRNNCell


@symbol("keras.layers.GRU")
class GRU(_OfCell):
    """A layer of gated recurrent units."""

    kind = GRUCell


@symbol("keras.layers.LSTM")
class LSTM(_OfCell):
    """A layer of long short-term memory."""

    kind = LSTMCell


@symbol("keras.layers.CuDNNLSTM")
class CuDNNLSTM(LSTM):
    """An `LSTM` with the activations of NVIDIA's."""

    def __init__(self, units: int, **kwargs: Any) -> None:
        super().__init__(units, recurrent_activation="sigmoid", **kwargs)


@symbol("keras.layers.CuDNNGRU")
class CuDNNGRU(GRU):
    """A `GRU` with the activations of NVIDIA's, and the reset gate after the product."""

    def __init__(self, units: int, **kwargs: Any) -> None:
        super().__init__(units, recurrent_activation="sigmoid", reset_after=True, **kwargs)
