"""`tf.contrib.seq2seq`: attention mechanisms.

A mechanism scores each row of its memory [batch, length, depth] for a query, and gives the shares.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_frontend_tf.api.initializers import Constant, Ones, Zeros
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.api.math.unary import rsqrt, square, tanh
from byparts_frontend_tf.api.reshape import expand_dims, squeeze
from byparts_frontend_tf.api.variables.variable_scope import get_variable, variable_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_contrib.rnn.attention_memory import INSIDE, BaseAttentionMechanism
from byparts_tf_keras.layers.layers import Dense


@symbol(f"{INSIDE}._bahdanau_score")
def bahdanau_score(
    processed_query: Any,
    keys: Any,
    attention_v: Any,
    attention_g: Any = None,
    attention_b: Any = None,
) -> Any:
    """v · tanh(keys + query), [batch, length]; with g, v is of length g and b is added."""
    query = expand_dims(processed_query, 1)
    if attention_g is None or attention_b is None:
        return reduce_sum(attention_v * tanh(keys + query), [2])
    direction = attention_g * attention_v * rsqrt(reduce_sum(square(attention_v)))
    return reduce_sum(direction * tanh(keys + query + attention_b), [2])


@symbol(f"{INSIDE}._luong_score")
def luong_score(query: Any, keys: Any, scale: Any) -> Any:
    """keys · query, [batch, length], times `scale` unless it is `None`.

    Raises:
        ValueError: they are not of one depth.
    """
    depth, units = query.get_shape()[-1], keys.get_shape()[-1]
    if depth.value != units.value:
        raise ValueError(
            f"Incompatible or unknown inner dimensions between query and keys. Query {query} "
            f"has {depth}, keys have {units}. Perhaps you need to set num_units to the keys'"
        )
    score = squeeze(matmul(expand_dims(query, 1), keys, transpose_b=True), [1])
    return score if scale is None else scale * score


def _dense(units: int, name: str, dtype: Any) -> Any:
    return Dense(units, use_bias=False, name=name, dtype=dtype)


@symbol("contrib.seq2seq.BahdanauAttention")
class BahdanauAttention(BaseAttentionMechanism):
    """score = v · tanh(W memory + U query) (Bahdanau et al. 2015).

    Args:
        num_units: of the sum.
        memory: [batch, length, depth].
        memory_sequence_length: how much of each row is there.
        normalize: v is of length g, and a bias is added (Salimans and Kingma 2016).
        probability_fn: of scores gives shares; by default softmax.
        score_mask_value: the score of what is not there.
        dtype: of the variables.
        custom_key_value_fn: of keys and values gives others.
        name: of the scope.
    """

    _scope = "bahdanau_attention"

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
            query_layer=_dense(num_units, "query_layer", dtype),
            memory_layer=_dense(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=self._of_scores_alone(probability_fn),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units, self._normalize, self._name = num_units, normalize, name

    def __call__(self, query: Any, state: Any) -> Any:
        """The shares [batch, length], and what it is given with the next query."""
        with variable_scope(None, self._scope, [query]):
            alignments = self._probability_fn(self._score(query), state)
        return alignments, alignments

    def _score(self, query: Any) -> Any:
        processed = self.query_layer(query) if self.query_layer else query
        dtype, units = query.dtype, [self._num_units]
        v, g, b = get_variable("attention_v", units, dtype=dtype), None, None
        if self._normalize:
            start = Constant(float(np.sqrt(1.0 / self._num_units)))
            g = get_variable("attention_g", [], dtype=dtype, initializer=start)
            b = get_variable("attention_b", units, dtype=dtype, initializer=Zeros())
        return bahdanau_score(processed, self._keys, v, g, b)


@symbol("contrib.seq2seq.LuongAttention")
class LuongAttention(BaseAttentionMechanism):
    """score = (W memory) · query (Luong et al. 2015).

    Args:
        num_units: of the keys, as many as a query has.
        memory: [batch, length, depth].
        memory_sequence_length: how much of each row is there.
        scale: the score is multiplied by a variable.
        probability_fn: of scores gives shares; by default softmax.
        score_mask_value: the score of what is not there.
        dtype: of the variables.
        custom_key_value_fn: of keys and values gives others.
        name: of the scope.
    """

    _scope = "luong_attention"

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
            query_layer=None,
            memory_layer=_dense(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=self._of_scores_alone(probability_fn),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units, self._scale, self._name = num_units, scale, name

    def __call__(self, query: Any, state: Any) -> Any:
        """The shares [batch, length], and what it is given with the next query."""
        with variable_scope(None, self._scope, [query]):
            alignments = self._probability_fn(self._score(query), state)
        return alignments, alignments

    def _score(self, query: Any) -> Any:
        scale = get_variable("attention_g", [], query.dtype, Ones()) if self._scale else None
        return luong_score(query, self._keys, scale)
