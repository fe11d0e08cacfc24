"""`keras.layers.RNN`: a cell along time."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

import byparts_frontend_tf as tf
from byparts_frontend_tf.graph.nest import flatten
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.input_spec import InputSpec
from byparts_tf_keras.layer import Layer
from byparts_tf_keras.network_config import layer_of, serialize
from byparts_tf_keras.recurrence import rnn
from byparts_tf_keras.recurrent_cells import (
    zero_states,
)
from byparts_tf_keras.stacked_cells import StackedRNNCells, cell_training
from byparts_tf_keras.state import track_variable
from byparts_tf_keras.values import batch_set_value


@symbol("keras.layers.RNN")
class RNN(Layer):
    """A cell, applied to one step after the other.

    Args:
        cell: has `call(inputs, states)` and `state_size`; or a list of such.
        return_sequences: whether the outputs of all steps are given, not the last.
        return_state: whether the last states are given, too.
        go_backwards: whether the last step is the first.
        stateful: whether states go on from batch to batch.
        unroll: whether each step is operations of its own.
        time_major: whether time is the first axis.
    """

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        time_major: bool = False,
        **kwargs: Any,
    ) -> None:
        if isinstance(cell, (list, tuple)):
            cell = StackedRNNCells(cell)
        if not hasattr(cell, "call") or not hasattr(cell, "state_size"):
            raise ValueError(
                f"`cell` should have a `call` method and a `state_size` attribute: it is {cell}"
            )
        super().__init__(**kwargs)
        self.cell = cell
        self.return_sequences, self.return_state = return_sequences, return_state
        self.go_backwards, self.stateful = go_backwards, stateful
        self.unroll, self.time_major = unroll, time_major
        self.supports_masking, self.input_spec = True, [InputSpec(ndim=3)]
        self._states: Any = None

    # Steps and states

    def build(self, input_shape: Any) -> None:
        """Make the weights of the cell."""
        shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        dims = tf.TensorShape(shape).as_list()
        if isinstance(self.cell, Layer) and not self.cell.built:
            if self.cell._dtype is None:
                self.cell._dtype = self._dtype
            self.cell.build(tf.TensorShape([dims[1 if self.time_major else 0], *dims[2:]]))
            self.cell.built = True
        if self.stateful and self._states is None:
            self._make_states(dims[1 if self.time_major else 0])
        self.built = True

    @property
    def states(self) -> Any:
        """The states that go on from batch to batch."""
        return self._states

    def _sizes(self) -> list[Any]:
        return flatten(self.cell.state_size)

    def _make_states(self, batch: Optional[int]) -> None:
        if batch is None:
            raise ValueError(
                "If a RNN is stateful, it needs to know its batch size. Specify the batch size of "
                "your input tensors: \n- If using a Sequential model, specify the batch size by "
                "passing a `batch_input_shape` argument to your first layer.\n- If using the "
                "functional API, specify the batch size by passing a `batch_shape` argument to "
                "your Input layer."
            )
        variables = []
        for size in self._sizes():
            dims = [size] if isinstance(size, int) else tf.TensorShape(size).as_list()
            v = tf.Variable(tf.zeros([batch, *dims], self._dtype), trainable=False, name="state")
            track_variable(v)
            variables.append(v)
        self.__dict__["_states"] = variables

    def _own_variables(self, trainable: bool) -> list[Any]:
        kept = self.__dict__.pop("_states")
        variables = super()._own_variables(trainable)
        self.__dict__["_states"] = kept
        return variables

    def reset_states(self, states: Any = None) -> None:
        """Begin the states anew, as zeros or as these arrays."""
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        if self._states is None:
            return
        listed = [None] * len(self._states) if states is None else flatten(states)
        batch_set_value(
            [
                (v, np.zeros(v.shape.as_list(), np.float32) if s is None else s)
                for v, s in zip(self._states, listed, strict=True)
            ]
        )

    def get_initial_state(self, inputs: Any) -> Any:
        """Zeros for the batch of these inputs."""
        first = flatten(inputs)[0]
        if self.time_major:
            first = tf.transpose(first, [1, 0, *range(2, len(first.dims))])
        if hasattr(self.cell, "get_initial_state"):
            return flatten(self.cell.get_initial_state(first))
        return flatten(zero_states(self.cell, first, None, None))

    # Calling it

    def __call__(
        self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any
    ) -> Any:
        """The outputs; states and constants are inputs, too."""
        more = [*_listed(initial_state), *_listed(constants)]
        if constants is not None:
            self._constants = len(_listed(constants))
        if more and all(isinstance(t, Tensor) for t in more):
            return super().__call__([*_listed(inputs), *more], **kwargs)
        if initial_state is not None:
            kwargs["initial_state"] = initial_state
        return super().__call__(inputs, **kwargs)

    def _split(self, inputs: Any, initial_state: Any) -> tuple[Any, list[Any], list[Any]]:
        """(inputs, states, constants)."""
        constants: list[Any] = []
        if isinstance(inputs, (list, tuple)):
            first, *rest = inputs
            count = getattr(self, "_constants", 0)
            constants = rest[len(rest) - count :] if count else []
            inputs, rest = first, rest[: len(rest) - count]
            initial_state = rest or initial_state
        if initial_state is None and self.stateful:
            initial_state = [tf.identity(v) for v in self._states]
        if initial_state is None:
            initial_state = self.get_initial_state(inputs)
        states = flatten(initial_state)
        if len(states) != len(self._sizes()):
            raise ValueError(
                f"Layer has {len(self._sizes())} states but was passed {len(states)} initial "
                "states."
            )
        return inputs, states, constants

    def call(
        self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None
    ) -> Any:
        """The outputs of the last step or of all, and the states if they are wanted."""
        inputs, states, constants = self._split(inputs, initial_state)
        mask = mask[0] if isinstance(mask, list) else mask
        if hasattr(self.cell, "reset_dropout_mask"):
            self.cell.reset_dropout_mask()
        told = cell_training(self.cell, training)
        count = len(self._sizes())
        single = count == 1 and not isinstance(self.cell.state_size, (list, tuple))

        def step(x: Any, given: list[Any]) -> tuple[Any, Any]:
            own: Any = given[:count]
            more = {"constants": constants} if constants else {}
            if single and not hasattr(self.cell, "gates") and _wants_tensor(self.cell):
                own = own[0]
            output, after = self.cell.call(x, own, **told, **more)
            return output, flatten(after)

        last, outputs, after = rnn(
            step,
            inputs,
            states,
            go_backwards=self.go_backwards,
            mask=mask,
            unroll=self.unroll,
            time_major=self.time_major,
        )
        if self.stateful:
            pairs = zip(self._states, after, strict=True)
            self.add_update([tf.assign(v, s).op for v, s in pairs], inputs=True)
        output = outputs if self.return_sequences else last
        return [output, *after] if self.return_state else output

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the inputs, where there are steps."""
        mask = mask[0] if isinstance(mask, list) else mask
        own = mask if self.return_sequences else None
        return [own, *[None] * len(self._sizes())] if self.return_state else own

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the outputs, and of the states if they are given."""
        shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        dims = tf.TensorShape(shape).as_list()
        sizes = [s if isinstance(s, int) else list(s)[-1] for s in self._sizes()]
        size = getattr(self.cell, "output_size", sizes[0])
        outputs = [*dims[:2], size] if self.return_sequences else [dims[0], size]
        if not self.return_state:
            return tf.TensorShape(outputs)
        return [tf.TensorShape(outputs), *[tf.TensorShape([dims[0], s]) for s in sizes]]

    def get_config(self) -> dict[str, Any]:
        """Arguments that make an equal layer; the cell as data."""
        config = super().get_config()
        if "cell" in config:
            config["cell"] = serialize(self.cell)
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """An equal one, with new weights."""
        if isinstance(config.get("cell"), dict):
            config = {**config, "cell": layer_of(config["cell"], custom_objects)}
        return cls(**config)


def _wants_tensor(cell: Any) -> bool:
    return hasattr(cell, "zero_state")  # one of tf.nn.rnn_cell: its state is a tensor


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]
