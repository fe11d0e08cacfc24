"""`tf.contrib.seq2seq`: decoders, and the loop that runs one until all sequences have ended."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple, Optional

from byparts_frontend_tf.api.constant import zeros_like
from byparts_frontend_tf.api.math.binary import logical_or
from byparts_frontend_tf.api.math.reduce import reduce_all
from byparts_frontend_tf.api.math.unary import logical_not
from byparts_frontend_tf.api.tensor_array import TensorArray
from byparts_frontend_tf.api.transpose import transpose
from byparts_frontend_tf.api.variables.variable_scope import variable_scope
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.api.while_loop import while_loop
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.nest import flatten, map_structure
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import int32
from byparts_tf_files.shape import TensorShape


@symbol("contrib.seq2seq.Decoder", "contrib.seq2seq.python.ops.decoder.Decoder")
class Decoder:
    """A base class: the first inputs, and a step."""

    @property
    def batch_size(self) -> Any:
        """The number of sequences that are decoded."""
        raise NotImplementedError

    @property
    def output_size(self) -> Any:
        """The shapes of an output, without the batch."""
        raise NotImplementedError

    @property
    def output_dtype(self) -> Any:
        """The dtypes of an output."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether a step says which sequences are at their end, or which end now."""
        return False

    def initialize(self, name: Optional[str] = None) -> tuple[Any, Any, Any]:
        """Bools that say which sequences are at their end, the first inputs and the first state."""
        raise NotImplementedError

    def step(
        self, time: Any, inputs: Any, state: Any, name: Optional[str] = None
    ) -> tuple[Any, Any, Any, Any]:
        """An output, the state, the next inputs, and which sequences end."""
        raise NotImplementedError

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        """The outputs and the state, when all are there."""
        raise NotImplementedError


class BasicDecoderOutput(NamedTuple):
    """An output of the cell, or of the layer behind it, and a sample of it."""

    rnn_output: Any
    sample_id: Any


BasicDecoderOutput = symbol("contrib.seq2seq.BasicDecoderOutput")(BasicDecoderOutput)  # type: ignore[misc]  # the same class


@symbol("contrib.seq2seq.BasicDecoder")
class BasicDecoder(Decoder):
    """A cell, a helper, and a layer behind the cell.

    Args:
        cell: a cell.
        helper: says what is read next.
        initial_state: of the cell.
        output_layer: of an output, before it is sampled.
    """

    def __init__(
        self, cell: Any, helper: Any, initial_state: Any, output_layer: Any = None
    ) -> None:
        self._cell, self._helper, self._layer = cell, helper, output_layer
        self._start = initial_state

    @property
    def batch_size(self) -> Any:
        """The number of sequences, which the helper knows."""
        return self._helper.batch_size

    @property
    def output_size(self) -> Any:
        """The size of the layer, or of the cell, and of a sample."""
        size = self._cell.output_size
        if self._layer is not None:
            inside = TensorShape([None, *TensorShape(size).as_list()])
            size = self._layer.compute_output_shape(inside)[1:]
        return BasicDecoderOutput(TensorShape(size), self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> Any:
        """The dtype of the state, and of a sample."""
        return BasicDecoderOutput(flatten(self._start)[0].dtype, self._helper.sample_ids_dtype)

    def initialize(self, name: Optional[str] = None) -> tuple[Any, Any, Any]:
        """The first values of the helper, and the first state."""
        return (*self._helper.initialize(), self._start)

    def step(
        self, time: Any, inputs: Any, state: Any, name: Optional[str] = None
    ) -> tuple[Any, Any, Any, Any]:
        """A step of the cell, sampled."""
        with name_scope(name, "BasicDecoderStep"):
            outputs, after = self._cell(inputs, state)
            if self._layer is not None:
                outputs = self._layer(outputs)
            samples = self._helper.sample(time=time, outputs=outputs, state=after)
            finished, following, after = self._helper.next_inputs(
                time=time, outputs=outputs, state=after, sample_ids=samples
            )
        return BasicDecoderOutput(outputs, samples), after, following, finished


@symbol("contrib.seq2seq.dynamic_decode")
def dynamic_decode(
    decoder: Any,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: Any = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: Any = None,
    **given: Any,
) -> tuple[Any, Any, Any]:
    """All outputs of a decoder, its last state, and how many steps each sequence has.

    Args:
        decoder: a `Decoder`.
        output_time_major: whether outputs are [time, batch, ...], or [batch, time, ...].
        impute_finished: whether outputs behind the end are zeros, and states stay as they are.
        maximum_iterations: the most steps; by default until all sequences are at their end.
        parallel_iterations: accepted.
        swap_memory: accepted.
        scope: of the variables; by default decoder.
        given: for the decoder.

    Raises:
        TypeError: it is no decoder.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with variable_scope(scope, "decoder"):
        loop = _Decoding(decoder, impute_finished, maximum_iterations)
        outputs, state, lengths = loop.run()
        with suppress(NotImplementedError):
            outputs, state = decoder.finalize(outputs, state, lengths)
        if not output_time_major:
            outputs = map_structure(_batch_first, outputs)
    return outputs, state, lengths


class _Decoding:
    """The loop of `dynamic_decode`."""

    def __init__(self, decoder: Any, impute: bool, most: Any) -> None:
        self._decoder, self._impute = decoder, impute
        self._most = None if most is None else convert_to_tensor(most, int32)

    def run(self) -> tuple[Any, Any, Any]:
        """The outputs [time, batch, ...], the last state, the lengths."""
        finished, inputs, state = self._decoder.initialize()
        finished = convert_to_tensor(finished)
        arrays = map_structure(self._array, self._decoder.output_size, self._decoder.output_dtype)
        lengths = zeros_like(finished, int32)
        made = while_loop(
            lambda time, arrays, state, inputs, finished, lengths: logical_not(
                reduce_all(finished)
            ),
            self._step,
            (0, arrays, state, inputs, finished, lengths),
            maximum_iterations=self._most,
        )
        return map_structure(lambda a: a.stack(), made[1]), made[2], made[5]

    def _array(self, size: Any, dtype: Any) -> TensorArray:
        batch = self._decoder.batch_size
        dims = TensorShape(size).as_list()
        return TensorArray(
            dtype,
            0,
            dynamic_size=True,
            element_shape=TensorShape([batch if isinstance(batch, int) else None, *dims]),
        )

    def _step(
        self, time: Any, arrays: Any, state: Any, inputs: Any, finished: Any, lengths: Any
    ) -> tuple[Any, ...]:
        output, after, following, ends = self._decoder.step(time, inputs, state)
        if not self._decoder.tracks_own_finished:
            ends = logical_or(ends, finished)
        lengths = where(finished, lengths, zeros_like(lengths) + (time + 1))
        if self._impute:
            output = map_structure(lambda o: where(finished, zeros_like(o), o), output)
            after = map_structure(lambda new, old: _kept(finished, new, old), after, state)
        arrays = map_structure(lambda a, o: a.write(time, o), arrays, output)
        return time + 1, arrays, after, following, ends, lengths


def _kept(finished: Any, new: Any, old: Any) -> Any:
    """The state before, of sequences that are at their end."""
    if isinstance(old, TensorArray) or new.get_shape().ndims == 0:
        return new
    new.set_shape(old.get_shape())
    return where(finished, old, new)


@symbol(
    "python.ops.rnn._transpose_batch_time",
    "contrib.seq2seq.python.ops.decoder._transpose_batch_time",
)
def _batch_first(x: Any) -> Any:
    """The first two axes exchanged, of what has two."""
    rank = x.get_shape().ndims
    return x if rank is None or rank < 2 else transpose(x, [1, 0, *range(2, rank)])
