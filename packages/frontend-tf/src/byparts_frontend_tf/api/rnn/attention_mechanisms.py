"""Attention mechanisms of `tf.contrib.seq2seq`.

A mechanism scores each row of its memory [batch, length, depth] for a query, and gives the shares.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.casting import cast
from byparts_frontend_tf.api.classes import softmax
from byparts_frontend_tf.api.constants import zeros
from byparts_frontend_tf.api.indexing import where
from byparts_frontend_tf.api.layers.initializers import Constant, Ones, Zeros
from byparts_frontend_tf.api.layers.layers import Dense
from byparts_frontend_tf.api.products import matmul
from byparts_frontend_tf.api.reductions import reduce_sum
from byparts_frontend_tf.api.rnn.cells import batch_of
from byparts_frontend_tf.api.sequences import range as range_of
from byparts_frontend_tf.api.shaping import expand_dims, shape, squeeze
from byparts_frontend_tf.api.unary import rsqrt, square, tanh
from byparts_frontend_tf.api.variables.variable_scope import get_variable, variable_scope
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.dtypes import int32
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol


def length_mask(lengths: Any, most: Any) -> Any:
    """True where a place is before the end of its row: [batch, most]."""
    return range_of(most) < expand_dims(cast(lengths, int32), 1)


@symbol("contrib.seq2seq.AttentionMechanism")
class AttentionMechanism:
    """The memory, and what all mechanisms have in common.

    Args:
        memory: [batch, length, depth].
        memory_sequence_length: how much of each row is there; the rest is zeros, with no share.
        memory_layer: of the memory gives the keys.
        query_layer: of the query.
        probability_fn: of scores gives shares; by default softmax.
        score_mask_value: the score of what is not there.
        name: of the scope.

    Attributes:
        values: the memory.
        keys: the memory as scores read it.
    """

    def __init__(
        self,
        memory: Any,
        memory_sequence_length: Any,
        memory_layer: Any,
        query_layer: Any,
        probability_fn: Optional[Callable[[Any], Any]],
        score_mask_value: Any,
        name: str,
    ) -> None:
        self._probability = probability_fn or softmax
        self._lengths = memory_sequence_length
        self._masked = -np.inf if score_mask_value is None else score_mask_value
        self.query_layer, self.memory_layer = query_layer, memory_layer
        with name_scope(name):
            values = convert_to_tensor(memory)
            self._mask: Any = None
            if memory_sequence_length is not None:
                self._mask = length_mask(memory_sequence_length, shape(values)[1])
                values = values * expand_dims(cast(self._mask, values.dtype), 2)
            self.values = values
            self.keys = values if memory_layer is None else memory_layer(values)
        self.dtype = self.keys.dtype

    @property
    def batch_size(self) -> Any:
        """Rows of the memory."""
        return batch_of(self.keys)

    @property
    def alignments_size(self) -> Any:
        """The length of the memory."""
        return batch_of(self.keys, 1)

    state_size = alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """No shares: zeros [batch, length]."""
        return zeros([batch_size, self.alignments_size], dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        """What it is given with the first query."""
        return self.initial_alignments(batch_size, dtype)

    def __call__(self, query: Any, state: Any = None, previous_alignments: Any = None) -> Any:
        """The shares [batch, length], and what it is given with the next query."""
        score = self.scores(query)
        if self._mask is not None:
            score = where(self._mask, score, score * 0.0 + self._masked)
        alignments = self._probability(score)
        return alignments, alignments

    def scores(self, query: Any) -> Any:
        """[batch, length] for a query [batch, depth]."""
        raise NotImplementedError


@symbol("contrib.seq2seq.BahdanauAttention")
class BahdanauAttention(AttentionMechanism):
    """score = v · tanh(W memory + U query) (Bahdanau et al. 2015).

    Args:
        num_units: of the sum.
        memory: [batch, length, depth].
        memory_sequence_length: how much of each row is there.
        normalize: v is of length g, and a bias is added (Salimans and Kingma 2016).
        probability_fn: of scores gives shares; by default softmax.
        score_mask_value: the score of what is not there.
        dtype: of the variables.
        custom_key_value_fn: not taken.
        name: of the scope.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: Any = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Any = None,
        name: str = "BahdanauAttention",
    ) -> None:
        super().__init__(
            memory,
            memory_sequence_length,
            Dense(num_units, use_bias=False, name="memory_layer", dtype=dtype),
            Dense(num_units, use_bias=False, name="query_layer", dtype=dtype),
            probability_fn,
            score_mask_value,
            name,
        )
        self._num_units, self._normalize = num_units, normalize

    def scores(self, query: Any) -> Any:
        """[batch, length]."""
        with variable_scope(None, "bahdanau_attention", [query]):
            processed = expand_dims(self.query_layer(query), 1)
            v = get_variable("attention_v", [self._num_units], dtype=query.dtype)
            if not self._normalize:
                return reduce_sum(v * tanh(self.keys + processed), [2])
            start = Constant(float(np.sqrt(1.0 / self._num_units)))
            g = get_variable("attention_g", [], dtype=query.dtype, initializer=start)
            b = get_variable(
                "attention_b", [self._num_units], dtype=query.dtype, initializer=Zeros()
            )
            direction = g * v * rsqrt(reduce_sum(square(v)))
            return reduce_sum(direction * tanh(self.keys + processed + b), [2])


@symbol("contrib.seq2seq.LuongAttention")
class LuongAttention(AttentionMechanism):
    """score = (W memory) · query (Luong et al. 2015).

    Args:
        num_units: of the keys, as many as a query has.
        memory: [batch, length, depth].
        memory_sequence_length: how much of each row is there.
        scale: the score is multiplied by a variable.
        probability_fn: of scores gives shares; by default softmax.
        score_mask_value: the score of what is not there.
        dtype: of the variables.
        custom_key_value_fn: not taken.
        name: of the scope.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: Any = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Any = None,
        name: str = "LuongAttention",
    ) -> None:
        super().__init__(
            memory,
            memory_sequence_length,
            Dense(num_units, use_bias=False, name="memory_layer", dtype=dtype),
            None,
            probability_fn,
            score_mask_value,
            name,
        )
        self._scale = scale

    def scores(self, query: Any) -> Any:
        """[batch, length]."""
        depth, units = query.get_shape()[-1], self.keys.get_shape()[-1]
        if depth.value != units.value:
            raise ValueError(
                f"Incompatible or unknown inner dimensions between query and keys. Query {query} "
                f"has {depth}, keys have {units}. Perhaps you need to set num_units to the keys'"
            )
        with variable_scope(None, "luong_attention", [query]):
            score = squeeze(matmul(expand_dims(query, 1), self.keys, transpose_b=True), [1])
            if self._scale:
                score = score * get_variable("attention_g", [], query.dtype, Ones())
            return score
