"""Recurrent networks as functions of all steps: the fused cells of `tf.contrib.rnn`.

Inputs are [time, batch, depth], or a list of steps.  Which operations become one is the business of
the backend, so these are loops over cells.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.constant import zeros
from byparts_frontend_tf.api.gather import gather_nd
from byparts_frontend_tf.api.range import range as range_
from byparts_frontend_tf.api.reverse import reverse, reverse_sequence
from byparts_frontend_tf.api.sequence_mask import sequence_mask
from byparts_frontend_tf.api.stack import stack, unstack
from byparts_frontend_tf.api.transpose import transpose
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_contrib.rnn.contrib_cells import LSTMBlockCell
from byparts_tf_keras.input_spec import InputSpec
from byparts_tf_keras.layers.layer import Layer
from byparts_tf_keras.rnn.cells import batch_of
from byparts_tf_keras.rnn.loops import dynamic_rnn, static_rnn
from byparts_tf_keras.rnn.lstm_cells import LSTMStateTuple


@symbol("contrib.rnn.FusedRNNCell")
class FusedRNNCell(ABC):
    """A base class: a call gives the outputs of all steps and the last state."""

    @abstractmethod
    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """The outputs, and the last state."""


@symbol("contrib.rnn.FusedRNNCellAdaptor")
class FusedRNNCellAdaptor(FusedRNNCell):
    """A cell, applied to one step after the other."""

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False) -> None:
        self._cell, self._dynamic = cell, use_dynamic_rnn

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Run `dynamic_rnn` or `static_rnn`."""
        given = {"sequence_length": sequence_length, "initial_state": initial_state}
        given.update(dtype=dtype, scope=scope)
        listed = isinstance(inputs, list)
        if self._dynamic:
            steps = stack(inputs) if listed else inputs
            outputs, state = dynamic_rnn(self._cell, steps, time_major=True, **given)
            return unstack(outputs) if listed else outputs, state
        outputs, state = static_rnn(self._cell, inputs if listed else unstack(inputs), **given)
        return outputs if listed else stack(outputs), state


@symbol("contrib.rnn.TimeReversedFusedRNN")
class TimeReversedFusedRNN(FusedRNNCell):
    """A fused cell from the last step to the first; of each sequence as far as it is long."""

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """The outputs are in the order of the inputs; the state is that after the first step."""
        given = {"sequence_length": sequence_length, "initial_state": initial_state}
        given.update(dtype=dtype, scope=scope)
        outputs, state = self._cell(_turned(inputs, sequence_length), **given)
        return _turned(outputs, sequence_length), state


def _turned(steps: Any, lengths: Any) -> Any:
    if isinstance(steps, list):
        return steps[::-1]
    return reverse(steps, [0]) if lengths is None else reverse_sequence(steps, lengths, 0, 1)


@symbol("contrib.rnn.LSTMBlockWrapper")
class LSTMBlockWrapper(Layer):
    """A base class of LSTMs that compute all steps: a subclass says `_call_cell`."""

    @property
    def num_units(self) -> int:
        """The size of the state."""
        raise NotImplementedError("Abstract method")

    def _call_cell(self, inputs: Any, cell: Any, output: Any, dtype: Any, lengths: Any) -> Any:
        """The memories and the outputs of all steps, from the first memory and output."""
        raise NotImplementedError("Abstract method")

    def __call__(self, inputs: Any, *arguments: Any, **given: Any) -> Any:
        """The outputs as the inputs are, and the last memory and output."""
        listed = isinstance(inputs, list)
        outputs, state = super().__call__(stack(inputs) if listed else inputs, *arguments, **given)
        return unstack(outputs) if listed else outputs, state

    def call(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
    ) -> Any:
        """The outputs, which are 0 behind the end of a sequence, and the state at its end.

        Raises:
            ValueError: neither a state nor a dtype is given; a state is not two tensors.
        """
        if initial_state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            initial_state = [zeros([batch_of(inputs, 1), self.num_units], dtype)] * 2
        if len(initial_state) != 2:
            raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
        first = [convert_to_tensor(t) for t in initial_state]
        dtype = first[0].dtype if dtype is None else dtype
        if sequence_length is None:
            memories, outputs = self._call_cell(inputs, first[0], first[1], dtype, None)
            return outputs, LSTMStateTuple(memories[-1], outputs[-1])
        lengths = convert_to_tensor(sequence_length)
        memories, outputs = self._call_cell(inputs, first[0], first[1], dtype, lengths)
        mask = sequence_mask(lengths, batch_of(inputs, 0), dtype)
        outputs *= transpose(mask)[:, :, None]
        ends = stack([lengths, range_(batch_of(inputs, 1), dtype=lengths.dtype)], 1)
        pairs = zip(first, (memories, outputs), strict=True)
        last = [gather_nd(concat([start[None], rest], 0), ends) for start, rest in pairs]
        return outputs, LSTMStateTuple(*last)


@symbol("contrib.rnn.LSTMBlockFusedCell")
class LSTMBlockFusedCell(LSTMBlockWrapper):
    """The steps of an `LSTMBlockCell`."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: Optional[float] = None,
        use_peephole: bool = False,
        reuse: Any = None,
        dtype: Any = None,
        name: str = "lstm_fused_cell",
    ) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse)
        self._num_units, self.input_spec = num_units, InputSpec(ndim=3)
        self._made: Callable[..., Any] = lambda scope: LSTMBlockCell(
            num_units, forget_bias, cell_clip, use_peephole, dtype, reuse, name, _scope=scope
        )

    @property
    def num_units(self) -> int:
        """The size of the state."""
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        """The variables of the cell, in the scope of this layer."""
        self._cell = self._made(self._current_scope)
        self._cell.build(inputs_shape)
        self._trainable_weights += self._cell._trainable_weights

    def _call_cell(self, inputs: Any, cell: Any, output: Any, dtype: Any, lengths: Any) -> Any:
        steps = _Both(self._cell)
        return dynamic_rnn(steps, inputs, initial_state=(cell, output), time_major=True)[0]


class _Both:
    """A cell whose output is its whole state."""

    def __init__(self, cell: Any) -> None:
        self._cell, self.output_size = cell, cell.state_size

    def __call__(self, inputs: Any, state: Any) -> Any:
        """The state after this input, twice."""
        _, after = self._cell.call(inputs, state)
        return after, tuple(after)
