"""Monotonic attention (Raffel et al. 2017): shares that only move on through the memory."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.clip import clip_by_value
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.constant import ones, zeros
from byparts_frontend_tf.api.initializers import Constant
from byparts_frontend_tf.api.map_fn import scan
from byparts_frontend_tf.api.math.cumsum import cumprod, cumsum
from byparts_frontend_tf.api.math.unary import exp, log, sigmoid
from byparts_frontend_tf.api.one_hot import one_hot
from byparts_frontend_tf.api.random.random import random_normal
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.shape import shape
from byparts_frontend_tf.api.transpose import transpose
from byparts_frontend_tf.api.variables.variable_scope import get_variable
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_contrib.rnn.attention_mechanisms import BahdanauAttention, LuongAttention
from byparts_tf_contrib.rnn.attention_memory import INSIDE, BaseAttentionMechanism
from byparts_tf_files.dtypes import int32
from byparts_tf_keras.rnn.cells import batch_of


@symbol("contrib.seq2seq.safe_cumprod")
def safe_cumprod(x: Any, *arguments: Any, **given: Any) -> Any:
    """`cumprod` of numbers in [0, 1], by the sum of their logarithms."""
    x = convert_to_tensor(x)
    least = float(np.finfo(x.dtype.as_numpy_dtype).tiny)
    return exp(cumsum(log(clip_by_value(x, least, 1.0)), *arguments, **given))


@symbol("contrib.seq2seq.monotonic_attention")
def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> Any:
    """The shares [batch, length], of the probability to stop at each place and the shares before.

    Args:
        p_choose_i: [batch, length].
        previous_attention: [batch, length].
        mode: "recursive" (exact), "parallel" (may be inexact) or "hard" (all are 0 or 1).

    Raises:
        ValueError: there is no such mode.
    """
    p = convert_to_tensor(p_choose_i, name="p_choose_i")
    before = convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        return _recursive(p, before)
    if mode == "parallel":
        going_on = safe_cumprod(1 - p, axis=1, exclusive=True)
        return p * going_on * cumsum(before / clip_by_value(going_on, 1e-10, 1.0), axis=1)
    if mode == "hard":
        p = p * cumsum(before, axis=1)
        return p * cumprod(1 - p, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def _recursive(p: Any, before: Any) -> Any:
    rows = batch_of(p)
    going_on = concat([ones([rows, 1], p.dtype), 1 - p[:, :-1]], 1)
    arrived = scan(
        lambda x, yz: reshape(yz[0] * x + yz[1], [rows]),
        [transpose(going_on), transpose(before)],
        zeros([rows], p.dtype),
    )
    return p * transpose(arrived)


@symbol(f"{INSIDE}._monotonic_probability_fn")
def monotonic_probability(
    score: Any, previous_alignments: Any, sigmoid_noise: float, mode: str, seed: Any = None
) -> Any:
    """The shares [batch, length] by the scores, to which noise may be added."""
    if sigmoid_noise > 0:
        noise = random_normal(shape(score), dtype=score.dtype, seed=seed)
        score = score + sigmoid_noise * noise
    p = cast(score > 0, score.dtype) if mode == "hard" else sigmoid(score)
    return monotonic_attention(p, previous_alignments, mode)


@symbol(f"{INSIDE}._BaseMonotonicAttentionMechanism")
class BaseMonotonicAttentionMechanism(BaseAttentionMechanism):
    """A mechanism that begins at the first row of the memory."""

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """All on the first row."""
        return one_hot(zeros([batch_size], int32), self._alignments_size, dtype=dtype)


class _Monotonic(BaseMonotonicAttentionMechanism):
    """A part of a mechanism, mixed into it so that attention only moves on."""

    _noise: tuple[float, Any, str, float]  # how much, its seed, the mode, the first bias

    def _of_scores_alone(self, probability_fn: Any) -> Any:
        noise, seed, mode, _ = self._noise
        return partial(monotonic_probability, sigmoid_noise=noise, mode=mode, seed=seed)

    def _score(self, query: Any) -> Any:
        score = super()._score(query)  # type: ignore[misc]  # of the mechanism it is mixed into
        start = Constant(float(self._noise[-1]))
        return score + get_variable("attention_score_bias", [], score.dtype, start)


@symbol("contrib.seq2seq.BahdanauMonotonicAttention")
class BahdanauMonotonicAttention(_Monotonic, BahdanauAttention):
    """`BahdanauAttention` that only moves on.

    Args:
        num_units, memory, memory_sequence_length, normalize, score_mask_value: as there.
        sigmoid_noise: how much noise is added to scores, in training.
        sigmoid_noise_seed: of the noise.
        score_bias_init: of a variable that is added to scores.
        mode: of `monotonic_attention`.
        dtype: of the variables.
        name: of the scope.
    """

    _scope = "bahdanau_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: Any = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "BahdanauMonotonicAttention",
    ) -> None:
        self._noise = sigmoid_noise, sigmoid_noise_seed, mode, score_bias_init
        lengths, masked = memory_sequence_length, score_mask_value
        super().__init__(num_units, memory, lengths, normalize, None, masked, dtype, None, name)


@symbol("contrib.seq2seq.LuongMonotonicAttention")
class LuongMonotonicAttention(_Monotonic, LuongAttention):
    """`LuongAttention` that only moves on; arguments as of `BahdanauMonotonicAttention`."""

    _scope = "luong_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: Any = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "LuongMonotonicAttention",
    ) -> None:
        self._noise = sigmoid_noise, sigmoid_noise_seed, mode, score_bias_init
        lengths, masked = memory_sequence_length, score_mask_value
        super().__init__(num_units, memory, lengths, scale, None, masked, dtype, None, name)
