"""Helpers that read what a decoder gave, with a probability (Bengio et al. 2015)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.constant import fill, zeros_like
from byparts_frontend_tf.api.random.random import multinomial, random_uniform
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.nest import map_structure
from byparts_frontend_tf.symbols import symbol
from byparts_tf_contrib.rnn.helpers import TrainingHelper, embedding_function
from byparts_tf_files.dtypes import bool_, int32


@symbol("contrib.seq2seq.ScheduledEmbeddingTrainingHelper")
class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Reads a sample of its own with a probability, else the given inputs (Bengio et al. 2015)."""

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        embedding: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: Optional[int] = None,
        scheduling_seed: Optional[int] = None,
        name: Optional[str] = None,
    ) -> None:
        super().__init__(inputs, sequence_length, time_major, name)
        self._embedding_fn = embedding_function(embedding)
        self._probability, self._seeds = sampling_probability, (seed, scheduling_seed)

    def sample(self, time: Any, outputs: Any, state: Any, name: Optional[str] = None) -> Any:
        """A draw, or -1 where the given input is read."""
        drawn = reshape(multinomial(outputs, 1, self._seeds[0], output_dtype=int32), [-1])
        chosen = random_uniform([self.batch_size], seed=self._seeds[1]) < self._probability
        return where(chosen, drawn, fill([self.batch_size], -1))

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: Optional[str] = None
    ) -> Any:
        """The given inputs, or embedded samples."""
        finished, inputs, state = super().next_inputs(time, outputs, state, sample_ids)
        own = sample_ids > -1
        embedded = self._embedding_fn(where(own, sample_ids, zeros_like(sample_ids)))
        return finished, where(own, embedded, inputs), state


@symbol("contrib.seq2seq.ScheduledOutputTrainingHelper")
class ScheduledOutputTrainingHelper(TrainingHelper):
    """Reads its own output with a probability, else the given inputs (Bengio et al. 2015).

    Args:
        inputs, sequence_length, time_major: as of `TrainingHelper`.
        sampling_probability: of reading the output.
        seed: of the draws.
        next_inputs_fn: of outputs gives inputs.
        auxiliary_inputs: joined to both, step after step.
        name: accepted.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: Optional[int] = None,
        next_inputs_fn: Optional[Callable[[Any], Any]] = None,
        auxiliary_inputs: Any = None,
        name: Optional[str] = None,
    ) -> None:
        self._auxiliary: Any = None
        if auxiliary_inputs is not None:
            inputs = map_structure(lambda x, y: concat([x, y], -1), inputs, auxiliary_inputs)
            more = TrainingHelper(auxiliary_inputs, sequence_length, time_major)
            self._auxiliary = more._input_tas
        super().__init__(inputs, sequence_length, time_major, name)
        self._probability, self._seed, self._next = sampling_probability, seed, next_inputs_fn

    def sample(self, time: Any, outputs: Any, state: Any, name: Optional[str] = None) -> Any:
        """1 where the output is read."""
        return cast(random_uniform([self.batch_size], seed=self._seed) < self._probability, int32)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: Optional[str] = None
    ) -> Any:
        """The given inputs, or outputs."""
        finished, given, state = super().next_inputs(time, outputs, state, sample_ids)
        own = outputs if self._next is None else self._next(outputs)
        if self._auxiliary is not None:
            more = map_structure(lambda a: a.read(time + 1), self._auxiliary)
            own = map_structure(lambda x, y: concat([x, y], -1), own, more)
        chosen = cast(sample_ids, bool_)
        return finished, map_structure(lambda x, y: where(chosen, x, y), own, given), state
