"""`tf.contrib.seq2seq`: the memory that attention mechanisms read, and what they have in common.

Attributes have TensorFlow's names, because programs derive mechanisms of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.constant import ones_like, zeros
from byparts_frontend_tf.api.nn.softmax import softmax
from byparts_frontend_tf.api.range import range as range_of
from byparts_frontend_tf.api.reshape import expand_dims
from byparts_frontend_tf.api.shape import shape
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.nest import map_structure
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import int32
from byparts_tf_keras.rnn.cells import batch_of

INSIDE = "contrib.seq2seq.python.ops.attention_wrapper"


def length_mask(lengths: Any, most: Any) -> Any:
    """True where a place is before the end of its row: [batch, most]."""
    return range_of(most) < expand_dims(cast(lengths, int32), 1)


@symbol(f"{INSIDE}._prepare_memory")
def prepare_memory(
    memory: Any, memory_sequence_length: Any, check_inner_dims_defined: bool = True
) -> Any:
    """The memory, with zeros behind the end of each row.

    Raises:
        ValueError: an extent behind the first two is not known.
    """
    tensors = map_structure(lambda m: convert_to_tensor(m, name="memory"), memory)

    def masked(m: Any) -> Any:
        dims = m.get_shape()
        if check_inner_dims_defined and not dims[2:].is_fully_defined():
            raise ValueError(f"Expected memory {m.name} to have fully defined inner dims: {dims}")
        if memory_sequence_length is None:
            return m
        mask = cast(length_mask(memory_sequence_length, shape(m)[1]), m.dtype)
        for _ in range(dims.ndims - 2):
            mask = expand_dims(mask, -1)
        return m * mask

    return map_structure(masked, tensors)


@symbol(f"{INSIDE}._maybe_mask_score")
def maybe_mask_score(score: Any, memory_sequence_length: Any, score_mask_value: Any) -> Any:
    """The score, with another value behind the end of each row."""
    if memory_sequence_length is None:
        return score
    mask = length_mask(memory_sequence_length, shape(score)[1])
    return where(mask, score, score_mask_value * ones_like(score))


@symbol("contrib.seq2seq.AttentionMechanism")
class AttentionMechanism:
    """Sizes and states that all attention mechanisms have."""

    @property
    def alignments_size(self) -> Any:
        """The length of the memory."""
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        """The size of the state that the mechanism is given with the next query."""
        raise NotImplementedError


@symbol(f"{INSIDE}._BaseAttentionMechanism")
class BaseAttentionMechanism(AttentionMechanism):
    """The memory, and what mechanisms that score it have in common.

    Args:
        query_layer: of the query.
        memory: [batch, length, depth].
        probability_fn: of scores and the state before gives shares.
        memory_sequence_length: how much of each row is there; the rest is zeros, with no share.
        memory_layer: of the memory gives the keys.
        check_inner_dims_defined: whether the depth has to be known.
        score_mask_value: the score of what is not there.
        custom_key_value_fn: of keys and values gives others.
        name: of the scope.

    Raises:
        TypeError: the probability is no function.
    """

    def __init__(
        self,
        query_layer: Any,
        memory: Any,
        probability_fn: Callable[[Any, Any], Any],
        memory_sequence_length: Any = None,
        memory_layer: Any = None,
        check_inner_dims_defined: bool = True,
        score_mask_value: Any = None,
        custom_key_value_fn: Any = None,
        name: Optional[str] = None,
    ) -> None:
        if not callable(probability_fn):
            raise TypeError(f"probability_fn must be callable, saw type: {type(probability_fn)}")
        self._query_layer, self._memory_layer = query_layer, memory_layer
        least = -np.inf if score_mask_value is None else score_mask_value

        def masked(score: Any, before: Any) -> Any:
            return probability_fn(maybe_mask_score(score, memory_sequence_length, least), before)

        self._probability_fn = masked
        with name_scope(name, "BaseAttentionMechanismInit"):
            values = prepare_memory(memory, memory_sequence_length, check_inner_dims_defined)
            keys = values if memory_layer is None else memory_layer(values)
            if custom_key_value_fn is not None:
                keys, values = custom_key_value_fn(keys, values)
            self._values, self._keys = values, keys
            self._batch_size, self._alignments_size = batch_of(keys), batch_of(keys, 1)
        self.dtype = keys.dtype.base_dtype

    def _of_scores_alone(self, probability_fn: Any) -> Callable[[Any, Any], Any]:
        """The function as one of scores and the state before."""
        function = probability_fn or softmax
        return lambda score, _: function(score)

    @property
    def memory_layer(self) -> Any:
        """The layer that was given for the memory."""
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        """The layer that was given for queries."""
        return self._query_layer

    @property
    def values(self) -> Any:
        """The memory."""
        return self._values

    @property
    def keys(self) -> Any:
        """The memory as scores read it."""
        return self._keys

    @property
    def batch_size(self) -> Any:
        """Rows of the memory."""
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        """The length of the memory."""
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        """The size of the shares, which are the state."""
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """No shares: zeros [batch, length]."""
        return zeros([batch_size, self._alignments_size], dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        """The state that the mechanism is given with the first query."""
        return self.initial_alignments(batch_size, dtype)
