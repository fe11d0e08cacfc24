"""`tf.contrib.crf`: labels of sequences whose neighbours depend on each other (linear CRF)."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.gather import gather
from byparts_frontend_tf.api.map_fn import scan
from byparts_frontend_tf.api.math.reduce import argmax, reduce_logsumexp, reduce_max, reduce_sum
from byparts_frontend_tf.api.one_hot import one_hot
from byparts_frontend_tf.api.range import range as range_of
from byparts_frontend_tf.api.reshape import expand_dims, reshape
from byparts_frontend_tf.api.reverse import reverse
from byparts_frontend_tf.api.sequence_mask import sequence_mask
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.transpose import transpose
from byparts_frontend_tf.api.variables.variable_scope import get_variable
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import float32, int32


def _mask(lengths: Any, inputs: Tensor, kind: Any = float32) -> Any:
    """1 where a step is of the sequence: [batch, time]."""
    time = inputs.get_shape().as_list()[1]
    return sequence_mask(lengths, shape_of(inputs)[1] if time is None else time, kind)


@symbol("contrib.crf.crf_unary_score")
def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> Tensor:
    """The sum of the scores of the tags of each sequence: [batch].

    Args:
        tag_indices: [batch, time].
        sequence_lengths: [batch].
        inputs: scores, [batch, time, tags].
    """
    x = convert_to_tensor(inputs)
    chosen = one_hot(tag_indices, shape_of(x)[2], dtype=x.dtype)
    return reduce_sum(reduce_sum(chosen * x, [2]) * _mask(sequence_lengths, x, x.dtype), [1])


@symbol("contrib.crf.crf_binary_score")
def crf_binary_score(tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Tensor:
    """The sum of the scores of the steps from tag to tag: [batch].

    Args:
        tag_indices: [batch, time].
        sequence_lengths: [batch].
        transition_params: [tags, tags], from the first to the second.
    """
    tags, steps = convert_to_tensor(tag_indices), convert_to_tensor(transition_params)
    count = shape_of(steps)[0]
    pairs = tags[:, :-1] * cast(count, tags.dtype) + tags[:, 1:]
    scores: Any = gather(reshape(steps, [-1]), pairs)
    mask: Any = _mask(sequence_lengths, tags, steps.dtype)
    return reduce_sum(scores * mask[:, 1:], [1])


@symbol("contrib.crf.crf_sequence_score")
def crf_sequence_score(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any
) -> Tensor:
    """The score of these tags of each sequence: [batch], without normalization."""
    unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
    score: Tensor = unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)
    return score


@symbol("contrib.crf.crf_log_norm")
def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> Tensor:
    """log of the sum of exp(score) over all tags of each sequence: [batch]."""
    x, steps = convert_to_tensor(inputs), convert_to_tensor(transition_params)
    if x.get_shape().as_list()[1] == 1:
        return reduce_logsumexp(x[:, 0], [1])

    def step(before: Any, given: Any) -> Any:
        scores, kept = given
        sums = reduce_logsumexp(expand_dims(before, 2) + expand_dims(steps, 0), [1]) + scores
        return kept * sums + (1.0 - kept) * before

    mask: Any = expand_dims(_mask(sequence_lengths, x, x.dtype), -1)
    rest = [transpose(t, [1, 0, 2])[1:] for t in (x, mask)]
    last: Any = scan(step, (rest[0], rest[1]), initializer=x[:, 0])
    return reduce_logsumexp(last[-1], [1])


@symbol("contrib.crf.crf_log_likelihood")
def crf_log_likelihood(
    inputs: Any,
    tag_indices: Any,
    sequence_lengths: Any,
    transition_params: Optional[Any] = None,
) -> tuple[Tensor, Any]:
    """The log of the probability of these tags, [batch], and the scores from tag to tag.

    Args:
        inputs: scores, [batch, time, tags].
        tag_indices: [batch, time].
        sequence_lengths: [batch].
        transition_params: [tags, tags]; by default a new variable "transitions".
    """
    x = convert_to_tensor(inputs)
    count = x.get_shape().as_list()[2]
    steps = (
        get_variable("transitions", [count, count])
        if transition_params is None
        else (transition_params)
    )
    score: Any = crf_sequence_score(x, tag_indices, sequence_lengths, steps)
    return score - crf_log_norm(x, sequence_lengths, steps), steps


@symbol("contrib.crf.viterbi_decode")
def viterbi_decode(score: Any, transition_params: Any) -> tuple[list[int], float]:
    """The tags with the highest score of one sequence, and the score; of arrays.

    Args:
        score: [time, tags].
        transition_params: [tags, tags].
    """
    trellis, back = np.zeros_like(score), np.zeros_like(score, dtype=np.int32)
    trellis[0] = score[0]
    for t in range(1, score.shape[0]):
        v = np.expand_dims(trellis[t - 1], 1) + transition_params
        trellis[t] = score[t] + np.max(v, 0)
        back[t] = np.argmax(v, 0)
    found = [int(np.argmax(trellis[-1]))]
    for pointers in reversed(back[1:]):
        found.append(int(pointers[found[-1]]))
    return found[::-1], np.max(trellis[-1])


@symbol("contrib.crf.crf_decode")
def crf_decode(potentials: Any, transition_params: Any, sequence_length: Any) -> tuple[Any, Any]:
    """The tags with the highest score, i32 [batch, time], 0 behind the ends; the scores [batch].

    Args:
        potentials: scores, [batch, time, tags].
        transition_params: [tags, tags].
        sequence_length: [batch].
    """
    x, steps = convert_to_tensor(potentials), convert_to_tensor(transition_params)
    mask: Any = _mask(sequence_length, x, x.dtype)
    if x.get_shape().as_list()[1] == 1:
        return cast(argmax(x, 2), int32) * cast(mask, int32), reduce_max(x[:, 0], [1])
    kept = transpose(mask, [1, 0])[1:]
    rest = transpose(x, [1, 0, 2])[1:]

    def forward(before: Any, given: Any) -> Any:
        scores, now = given
        sums = expand_dims(before[0], 2) + expand_dims(steps, 0)
        here = expand_dims(now, 1)
        same = expand_dims(range_of(shape_of(x)[2]), 0)
        pointers = cast(argmax(sums, 1), int32) * cast(here, int32)
        stay = same * (1 - cast(here, int32))
        return here * (reduce_max(sums, [1]) + scores) + (1.0 - here) * before[0], pointers + stay

    first = x[:, 0], cast(0.0 * x[:, 0], int32)
    best, pointers = scan(forward, (rest, kept), initializer=first)
    last = cast(argmax(best[-1], 1), int32)

    def backward(tag: Any, pointers_: Any) -> Any:
        return reduce_sum(one_hot(tag, shape_of(x)[2], dtype=int32) * pointers_, [1])

    tags = scan(backward, reverse(pointers, [0]), initializer=last)
    whole = reverse(concat([expand_dims(last, 0), tags], 0), [0])
    return transpose(whole, [1, 0]) * cast(mask, int32), reduce_max(best[-1], [1])
