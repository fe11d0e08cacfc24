"""`tf.contrib.seq2seq`: helpers, which say what a decoder reads next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.constant import fill, zeros_like
from byparts_frontend_tf.api.identity import identity
from byparts_frontend_tf.api.math.binary import equal, greater_equal
from byparts_frontend_tf.api.math.reduce import argmax
from byparts_frontend_tf.api.nn.embedding import embedding_lookup
from byparts_frontend_tf.api.random.random import multinomial
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.tensor_array import TensorArray
from byparts_frontend_tf.api.transpose import transpose
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.nest import flatten, map_structure
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import int32
from byparts_tf_files.shape import TensorShape
from byparts_tf_keras.rnn.cells import batch_of


@symbol("contrib.seq2seq.Helper")
class Helper:
    """A base class: the first inputs, samples of outputs, the next inputs."""

    @property
    def batch_size(self) -> Any:
        """The number of sequences that are decoded."""
        raise NotImplementedError("batch_size has not been implemented")

    @property
    def sample_ids_shape(self) -> Any:
        """The shape of a sample."""
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of a sample."""
        return int32

    def initialize(self, name: Optional[str] = None) -> tuple[Any, Any]:
        """Bools that say which sequences are at their end, and the first inputs."""
        raise NotImplementedError

    def sample(self, time: Any, outputs: Any, state: Any, name: Optional[str] = None) -> Any:
        """Samples of outputs."""
        return argmax(outputs, axis=-1, output_type=int32)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: Optional[str] = None
    ) -> tuple[Any, Any, Any]:
        """Bools that say which sequences are then at their end, the next inputs and the state."""
        raise NotImplementedError


@symbol("contrib.seq2seq.CustomHelper")
class CustomHelper(Helper):
    """A helper of three functions, named as its methods are."""

    def __init__(
        self,
        initialize_fn: Callable[..., Any],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any],
        sample_ids_shape: Any = None,
        sample_ids_dtype: Any = None,
    ) -> None:
        self._functions = initialize_fn, sample_fn, next_inputs_fn
        self._shape, self._dtype = TensorShape(sample_ids_shape or []), sample_ids_dtype or int32
        self._batch: Any = None

    @property
    def batch_size(self) -> Any:
        """The number of sequences, known from the first inputs."""
        if self._batch is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch

    @property
    def sample_ids_shape(self) -> Any:
        """The shape of samples that was given."""
        return self._shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples that was given."""
        return self._dtype

    def initialize(self, name: Optional[str] = None) -> tuple[Any, Any]:
        """By the first function."""
        finished, inputs = self._functions[0]()
        self._batch = batch_of(convert_to_tensor(finished))
        return finished, inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: Optional[str] = None) -> Any:
        """By the second one."""
        return self._functions[1](time=time, outputs=outputs, state=state)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: Optional[str] = None
    ) -> Any:
        """By the third one."""
        return self._functions[2](time=time, outputs=outputs, state=state, sample_ids=sample_ids)


@symbol("contrib.seq2seq.TrainingHelper")
class TrainingHelper(Helper):
    """Reads given inputs, step after step.

    Args:
        inputs: [batch, time, ...], in any structure.
        sequence_length: how many steps each sequence has.
        time_major: whether inputs are [time, batch, ...].
        name: accepted.
    """

    def __init__(
        self, inputs: Any, sequence_length: Any, time_major: bool = False, name: Any = None
    ) -> None:
        self._sequence_length = convert_to_tensor(sequence_length, name="sequence_length")
        if self._sequence_length.get_shape().ndims not in (None, 1):
            raise ValueError(f"Expected sequence_length to be a vector: {self._sequence_length}")
        steps = map_structure(convert_to_tensor, inputs)
        if not time_major:
            steps = map_structure(_time_first, steps)
        self._zero_inputs = map_structure(lambda x: zeros_like(x[0]), steps)
        self._input_tas = map_structure(_rows, steps)

    @property
    def sequence_length(self) -> Any:
        """The lengths of sequences that were given."""
        return self._sequence_length

    @property
    def batch_size(self) -> Any:
        """The number of sequences: of their lengths."""
        return batch_of(self._sequence_length)

    def initialize(self, name: Optional[str] = None) -> tuple[Any, Any]:
        """The first step."""
        return equal(self._sequence_length, 0), map_structure(lambda a: a.read(0), self._input_tas)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: Optional[str] = None
    ) -> Any:
        """The next step; zeros behind the last one."""
        following = time + 1
        inputs = map_structure(lambda a: a.read(following), self._input_tas)
        return greater_equal(following, self._sequence_length), inputs, state


def _time_first(x: Any) -> Any:
    rank = x.get_shape().ndims
    return transpose(x, [1, 0, *range(2, rank)])


@symbol("contrib.seq2seq.python.ops.helper._unstack_ta")
def _rows(inp: Any) -> TensorArray:
    """The steps as an array, and one of zeros behind them, which is read and not used."""
    x = convert_to_tensor(inp)
    padded = concat([x, zeros_like(x[:1]) if batch_of(x) != 0 else x], 0)
    size = batch_of(padded)
    array = TensorArray(x.dtype.base_dtype, size, element_shape=x.get_shape()[1:])
    return array.unstack(padded)


def embedding_function(embedding: Any) -> Callable[[Any], Any]:
    """The rows of symbols, of a table of them; a function is one already."""
    if callable(embedding):
        return embedding  # type: ignore[no-any-return]  # a function
    return lambda ids: embedding_lookup(embedding, ids)


@symbol("contrib.seq2seq.GreedyEmbeddingHelper")
class GreedyEmbeddingHelper(Helper):
    """Reads the most likely symbol, embedded.

    Args:
        embedding: [symbols, depth], or a function of symbols.
        start_tokens: the first symbols [batch].
        end_token: ends a sequence.
    """

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any) -> None:
        self._embedding_fn = embedding_function(embedding)
        self._start_tokens = convert_to_tensor(start_tokens, int32, "start_tokens")
        self._end_token = convert_to_tensor(end_token, int32, "end_token")
        if self._start_tokens.get_shape().ndims != 1:
            raise ValueError("start_tokens must be a vector")
        if self._end_token.get_shape().ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._start_inputs = self._embedding_fn(self._start_tokens)

    @property
    def batch_size(self) -> Any:
        """The number of sequences: of first symbols."""
        return batch_of(self._start_tokens)

    def initialize(self, name: Optional[str] = None) -> tuple[Any, Any]:
        """The first symbols."""
        return fill([self.batch_size], False), self._start_inputs

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: Optional[str] = None
    ) -> Any:
        """The samples."""
        return equal(sample_ids, self._end_token), self._embedding_fn(sample_ids), state


@symbol("contrib.seq2seq.SampleEmbeddingHelper")
class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Reads a draw of the symbols, embedded; `softmax_temperature` divides the logits."""

    def __init__(
        self,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        softmax_temperature: Any = None,
        seed: Optional[int] = None,
    ) -> None:
        super().__init__(embedding, start_tokens, end_token)
        self._temperature, self._seed = softmax_temperature, seed

    def sample(self, time: Any, outputs: Any, state: Any, name: Optional[str] = None) -> Any:
        """A draw."""
        logits = outputs if self._temperature is None else outputs / self._temperature
        return reshape(multinomial(logits, 1, self._seed, output_dtype=int32), [-1])


@symbol("contrib.seq2seq.InferenceHelper")
class InferenceHelper(Helper):
    """Samples and ends by functions.

    Args:
        sample_fn: of outputs gives samples.
        sample_shape: of a sample.
        sample_dtype: of a sample.
        start_inputs: the first inputs.
        end_fn: of samples says which sequences end.
        next_inputs_fn: of samples gives inputs; by default the samples.
    """

    def __init__(
        self,
        sample_fn: Callable[[Any], Any],
        sample_shape: Any,
        sample_dtype: Any,
        start_inputs: Any,
        end_fn: Callable[[Any], Any],
        next_inputs_fn: Optional[Callable[[Any], Any]] = None,
    ) -> None:
        self._sample, self._end, self._next = sample_fn, end_fn, next_inputs_fn or identity
        self._shape, self._dtype = TensorShape(sample_shape), sample_dtype
        self._start_inputs = convert_to_tensor(start_inputs, name="start_inputs")

    @property
    def batch_size(self) -> Any:
        """The number of sequences, known from the first inputs."""
        return batch_of(flatten(self._start_inputs)[0])

    @property
    def sample_ids_shape(self) -> Any:
        """The shape of samples that was given."""
        return self._shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples that was given."""
        return self._dtype

    def initialize(self, name: Optional[str] = None) -> tuple[Any, Any]:
        """The first inputs."""
        return fill([self.batch_size], False), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: Optional[str] = None) -> Any:
        """By the function."""
        return self._sample(outputs)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: Optional[str] = None
    ) -> Any:
        """By the functions."""
        return self._end(sample_ids), self._next(sample_ids), state
