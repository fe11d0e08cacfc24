"""`contrib.seq2seq.BeamSearchDecoder`: the likeliest sequences, several at a time."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.constant import zeros
from byparts_frontend_tf.api.gather import gather
from byparts_frontend_tf.api.math.binary import equal, logical_or
from byparts_frontend_tf.api.math.reduce import reduce_max
from byparts_frontend_tf.api.math.unary import logical_not
from byparts_frontend_tf.api.nn.embedding import embedding_lookup
from byparts_frontend_tf.api.nn.softmax import log_softmax, top_k
from byparts_frontend_tf.api.one_hot import one_hot
from byparts_frontend_tf.api.range import range as range_of
from byparts_frontend_tf.api.reshape import expand_dims, reshape
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.tensor_array import TensorArray
from byparts_frontend_tf.api.where import where_v2
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.nest import flatten, map_structure
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_contrib.rnn.decoding import Decoder
from byparts_tf_files.dtypes import bool_, int32, int64
from byparts_tf_files.shape import TensorShape


class BeamSearchDecoderState(NamedTuple):
    """State of beams: that of the cell, log chances, which have ended, how long they are."""

    cell_state: Any
    log_probs: Any
    finished: Any
    lengths: Any
    accumulated_attention_probs: Any


class BeamSearchDecoderOutput(NamedTuple):
    """Output of beams: scores, the tokens of this step, and which beams they continue."""

    scores: Any
    predicted_ids: Any
    parent_ids: Any


class FinalBeamSearchDecoderOutput(NamedTuple):
    """The tokens [batch, time, beam], best beam first, and the outputs of the steps."""

    predicted_ids: Any
    beam_search_decoder_output: Any


def _followed(ids: Any, parents: Any, lengths: Any, end: Any) -> Any:
    time, batch, _ = ids.shape
    sequences = np.full_like(ids, end)
    for b in range(batch):
        last = min(time, int(lengths[b])) - 1
        beams = np.arange(ids.shape[2])
        for t in range(last, -1, -1):
            sequences[t, b] = ids[t, b, beams]
            beams = parents[t, b, beams]
        ended = np.cumsum(sequences[:, b] == end, 0) > 0
        sequences[:, b][ended] = end
    return sequences


GATHER_TREE = Kind("GatherTree", host=_followed, shape=like_first, gradient=False)


@symbol("contrib.seq2seq.gather_tree")
def gather_tree(
    step_ids: Any,
    parent_ids: Any,
    max_sequence_lengths: Any,
    end_token: Any,
    name: Optional[str] = None,
) -> Tensor:
    """The sequences [time, batch, beam] that end in each beam, followed back from the last step."""
    tensors = [
        convert_to_tensor(t) for t in (step_ids, parent_ids, max_sequence_lengths, end_token)
    ]
    return GATHER_TREE(*tensors, name=name)


@symbol("contrib.seq2seq.BeamSearchDecoder")
class BeamSearchDecoder(Decoder):
    """Keeps the `beam_width` likeliest beginnings of each sequence.

    Args:
        cell: a cell.
        embedding: a table, or a function of tokens.
        start_tokens: [batch].
        end_token: a number.
        initial_state: of the cell, each row `beam_width` times (`tile_batch`).
        beam_width: how many.
        output_layer: of an output, which gives logits.
        length_penalty_weight: of scores log chance / ((5 + length) / 6)^weight.

    Raises:
        ValueError: tokens are of another rank.
    """

    def __init__(
        self,
        cell: Any,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        initial_state: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: float = 0.0,
        coverage_penalty_weight: float = 0.0,
        reorder_tensor_arrays: bool = True,
    ) -> None:
        if coverage_penalty_weight:
            raise NotImplementedError("BeamSearchDecoder: coverage_penalty_weight is not here")
        self._cell, self._layer, self._width = cell, output_layer, int(beam_width)
        self._embed = (
            embedding if callable(embedding) else lambda ids: embedding_lookup(embedding, ids)
        )
        self._tokens = convert_to_tensor(start_tokens, int32, "start_tokens")
        self._end = convert_to_tensor(end_token, int32, "end_token")
        if self._tokens.shape.ndims != 1 or self._end.shape.ndims != 0:
            raise ValueError("start_tokens must be a vector, and end_token a scalar")
        self._penalty = length_penalty_weight
        known = self._tokens.shape[0].value
        self._batch: Any = shape_of(self._tokens)[0] if known is None else known
        self._start = map_structure(self._split, initial_state)

    def _split(self, t: Any) -> Any:
        """[batch * beams, ...] as [batch, beams, ...]; what has no batch stays."""
        if isinstance(t, TensorArray) or t.shape.ndims == 0:
            return t
        return self._with_axes(t, [self._batch, self._width], t.shape[1:])

    def _merge(self, t: Any) -> Any:
        """[batch, beams, ...] as [batch * beams, ...]."""
        if isinstance(t, TensorArray) or t.shape.ndims == 0:
            return t
        return self._with_axes(t, [self._batch * self._width], t.shape[2:])

    def _with_axes(self, t: Any, first: list[Any], rest: TensorShape) -> Any:
        dims = rest.as_list()
        skipped = len(t.shape) - len(dims)
        tail = dims if None not in dims else shape_of(t)[skipped:]
        shaped = reshape(t, concat([first, tail], 0) if tail != [] else first)
        shaped.set_shape([d if isinstance(d, int) else None for d in first] + dims)
        return shaped

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        return self._batch

    @property
    def tracks_own_finished(self) -> bool:
        """Beams change their places."""
        return True

    @property
    def output_size(self) -> Any:
        """A number for each beam."""
        wide = TensorShape([self._width])
        return BeamSearchDecoderOutput(wide, wide, wide)

    @property
    def output_dtype(self) -> Any:
        """Scores are of the dtype of the cell's state."""
        dtype = next(t.dtype for t in flatten(self._start) if t.dtype.is_floating)
        return BeamSearchDecoderOutput(dtype.base_dtype, int32, int32)

    def initialize(self, name: Optional[str] = None) -> tuple[Any, Any, Any]:
        """Start with a single live beam of each sequence."""
        dtype = self.output_dtype.scores
        first = zeros([self._batch], int32)
        alive = one_hot(
            first,
            self._width,
            on_value=dtype.as_numpy_dtype(0),
            off_value=dtype.as_numpy_dtype(-np.inf),
            dtype=dtype,
        )
        finished = one_hot(first, self._width, on_value=False, off_value=True, dtype=bool_)
        lengths = zeros([self._batch, self._width], int64)
        tokens = expand_dims(self._tokens, 1) + zeros([self._batch, self._width], int32)
        seen = convert_to_tensor(())
        return (
            finished,
            self._embed(tokens),
            BeamSearchDecoderState(self._start, alive, finished, lengths, seen),
        )

    def _scores(self, chances: Any, lengths: Any) -> Any:
        if not isinstance(self._penalty, Tensor) and self._penalty == 0:
            return chances
        return chances / ((5.0 + cast(lengths, chances.dtype)) / 6.0) ** self._penalty

    def step(
        self, time: Any, inputs: Any, state: Any, name: Optional[str] = None
    ) -> tuple[Any, Any, Any, Any]:
        """The best continuations of all beams."""
        with name_scope(name, "BeamSearchDecoderStep"):
            merged = map_structure(self._merge, state.cell_state)
            output, after = self._cell(self._merge(inputs), merged)
            logits = self._split(output if self._layer is None else self._layer(output))
            outputs, new, ids = self._continued(logits, map_structure(self._split, after), state)
            return outputs, new, self._embed(ids), new.finished

    def _continued(self, logits: Any, after: Any, state: Any) -> tuple[Any, Any, Any]:
        words = logits.shape[-1].value
        count = shape_of(logits)[-1] if words is None else words
        of = logits.dtype.as_numpy_dtype
        ended = one_hot(self._end, count, of(0), of(logits.dtype.min), dtype=logits.dtype)
        steps = where_v2(expand_dims(state.finished, 2), ended, log_softmax(logits))
        chances = expand_dims(state.log_probs, 2) + steps
        more = one_hot(self._end, count, on_value=np.int64(0), off_value=np.int64(1), dtype=int64)
        alive = cast(logical_not(state.finished), int64)
        lengths = expand_dims(state.lengths, 2) + more * expand_dims(alive, 2)
        flat = reshape(self._scores(chances, lengths), [self._batch, -1])
        scores, places = top_k(flat, self._width)
        scores.set_shape([None, self._width])
        beams, ids = places // count, places % count
        was = self._of_beams(state.finished, beams)
        cells = map_structure(lambda t: self._of_beams(t, beams), after)
        both = expand_dims(range_of(self._batch), 1) * (self._width * count) + places
        new = BeamSearchDecoderState(
            cells,
            gather(reshape(chances, [-1]), both),
            logical_or(was, equal(ids, self._end)),
            self._of_beams(state.lengths, beams) + cast(logical_not(was), int64),
            state.accumulated_attention_probs,
        )
        return BeamSearchDecoderOutput(scores, ids, beams), new, ids

    def _of_beams(self, t: Any, beams: Any) -> Any:
        """The rows of these beams, of each sequence."""
        if isinstance(t, TensorArray) or t.shape.ndims == 0:
            return t
        places = expand_dims(range_of(self._batch), 1) * self._width + beams
        picked = gather(self._merge(t), places)
        picked.set_shape(t.shape)
        return picked

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        """The sequences of each beam."""
        longest = cast(reduce_max(final_state.lengths, 1), int32)
        ids = gather_tree(outputs.predicted_ids, outputs.parent_ids, longest, self._end)
        return FinalBeamSearchDecoderOutput(ids, outputs), final_state


SYMBOLS = {
    f"contrib.seq2seq.{name}": name
    for name in (
        "BeamSearchDecoderState",
        "BeamSearchDecoderOutput",
        "FinalBeamSearchDecoderOutput",
    )
}
