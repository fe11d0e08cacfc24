"""Losses over a few of many classes: `nce_loss`, `sampled_softmax_loss`, and what draws the few."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.constant import ones_like, zeros_like
from byparts_frontend_tf.api.identity import stop_gradient
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.math.binary import equal
from byparts_frontend_tf.api.math.reduce import reduce_any, reduce_sum
from byparts_frontend_tf.api.math.unary import log
from byparts_frontend_tf.api.nn.embedding import embedding_lookup
from byparts_frontend_tf.api.nn.softmax import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
)
from byparts_frontend_tf.api.random.gamma import HostRandom
from byparts_frontend_tf.api.reshape import expand_dims, reshape
from byparts_frontend_tf.api.shape import shape
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import float32, int64


def _candidates_of(sampler: str) -> Any:
    """Classes that were drawn, and how often each of them, and each true class, is expected."""
    parts = ("sampled_candidates", "true_expected_count", "sampled_expected_count")
    return namedtuple(sampler, parts)


Candidates = tuple[Any, Any, Any]  # as `_candidates_of` names them
LogUniformCandidateSampler = _candidates_of("LogUniformCandidateSampler")
LearnedUnigramCandidateSampler = _candidates_of("LearnedUnigramCandidateSampler")
UniformCandidateSampler = _candidates_of("UniformCandidateSampler")
FixedUnigramCandidateSampler = _candidates_of("FixedUnigramCandidateSampler")


def _log_uniform(classes: int) -> Any:
    ids = np.arange(classes, dtype=np.float64)
    return (np.log(ids + 2) - np.log(ids + 1)) / np.log(classes + 1)


class _Sampler:
    """Draws classes by their probabilities."""

    def __init__(self, probabilities: Any, count: int, unique: bool) -> None:
        self._p = np.asarray(probabilities, np.float64)
        self._p = self._p / self._p.sum()
        self._count, self._unique = count, unique

    def __call__(self, generator: Any, true_classes: Any) -> tuple[Any, Any, Any]:
        drawn = generator.choice(len(self._p), self._count, not self._unique, self._p)
        return (drawn, self._expected(true_classes), self._expected(drawn))

    def _expected(self, ids: Any) -> Any:
        p = self._p[np.asarray(ids)]
        return -np.expm1(self._count * np.log1p(-p)) if self._unique else self._count * p


SAMPLER = HostRandom(
    "CandidateSampler",
    lambda generator, true_classes, sampler, count: sampler(generator, true_classes),
    lambda inputs, count, **_: [(count,), inputs[0].dims, (count,)],
)


def _candidates(
    made: Any, true_classes: Any, probabilities: Any, count: int, unique: bool, seed: Any, name: Any
) -> Any:
    given = {"sampler": _Sampler(probabilities, int(count), unique), "count": int(count)}
    classes, kinds = convert_to_tensor(true_classes, name="true_classes"), [int64, float32, float32]
    return made(*SAMPLER.seeded(classes, name=name, seed=seed, dtype=kinds, **given))


@symbol("nn.log_uniform_candidate_sampler")
def log_uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: Any = None,
    name: Optional[str] = None,
) -> Candidates:
    """Classes by a law of Zipf: small numbers are frequent."""
    law, made = _log_uniform(range_max), LogUniformCandidateSampler
    return _candidates(made, true_classes, law, num_sampled, unique, seed, name)  # type: ignore[no-any-return]  # of this class


@symbol("nn.learned_unigram_candidate_sampler")
def learned_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: Any = None,
    name: Optional[str] = None,
) -> Candidates:
    """Draw candidates as `log_uniform_candidate_sampler` does; nothing is learned."""
    law, made = _log_uniform(range_max), LearnedUnigramCandidateSampler
    return _candidates(made, true_classes, law, num_sampled, unique, seed, name)  # type: ignore[no-any-return]  # of this class


@symbol("nn.uniform_candidate_sampler")
def uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: Any = None,
    name: Optional[str] = None,
) -> Candidates:
    """Classes, each as likely as others."""
    law, made = np.ones(range_max), UniformCandidateSampler
    return _candidates(made, true_classes, law, num_sampled, unique, seed, name)  # type: ignore[no-any-return]  # of this class


@symbol("nn.fixed_unigram_candidate_sampler")
def fixed_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Any = (),
    seed: Any = None,
    name: Optional[str] = None,
) -> Candidates:
    """Classes as often as counts say, to the power of `distortion`."""
    if vocab_file:
        with open(vocab_file, encoding="utf-8") as file:
            unigrams = [float(line.rstrip().rpartition(",")[2]) for line in file]
    counts = np.zeros(range_max)
    counts[num_reserved_ids:] = np.asarray(unigrams, np.float64) ** distortion
    made = FixedUnigramCandidateSampler
    return _candidates(made, true_classes, counts, num_sampled, unique, seed, name)  # type: ignore[no-any-return]  # of this class


def _logits(
    weights: Any,
    biases: Any,
    labels: Tensor,
    inputs: Tensor,
    candidates: Candidates,
    subtract_log_q: bool,
    remove_hits: bool,
    strategy: str,
    true: int,
) -> tuple[Tensor, Tensor]:
    """Scores of the true and of the drawn classes [batch, true + drawn], and their labels."""
    drawn, true_q, drawn_q = (stop_gradient(convert_to_tensor(c)) for c in candidates)
    flat, drawn = reshape(labels, [-1]), cast(drawn, int64)
    ids = concat([flat, drawn], 0)
    rows = embedding_lookup(weights, ids, strategy)
    shifts = embedding_lookup(biases, ids, strategy)
    n = shape(flat)[0]
    true_rows = reshape(rows[:n], [-1, true, shape(inputs)[1]])
    true_scores = reduce_sum(expand_dims(inputs, 1) * true_rows, [2])
    true_scores += reshape(shifts[:n], [-1, true])
    drawn_scores = matmul(inputs, rows[n:], transpose_b=True) + shifts[n:]
    if remove_hits:
        hit = reduce_any(equal(expand_dims(labels, 2), reshape(drawn, [1, 1, -1])), [1])
        drawn_scores += cast(hit, drawn_scores.dtype) * float(np.finfo(np.float32).min)
    if subtract_log_q:
        true_scores -= log(reshape(true_q, [-1, true]))
        drawn_scores -= log(drawn_q)
    batch = None if true_q.dims is None else true_q.dims[0]
    true_scores.set_shape([batch, true])
    drawn_scores.set_shape([batch, None if drawn_q.dims is None else drawn_q.dims[0]])
    scores = concat([true_scores, drawn_scores], 1)
    targets = concat([ones_like(true_scores) / float(true), zeros_like(drawn_scores)], 1)
    return scores, targets


def _prepared(
    labels: Any, inputs: Any, sampled: int, classes: int, values: Any, seed: Any, true: int
) -> tuple[Tensor, Tensor, Candidates]:
    wanted = cast(convert_to_tensor(labels), int64)
    if wanted.get_shape().ndims == 1:
        wanted = expand_dims(wanted, -1)
    if values is None:
        values = log_uniform_candidate_sampler(wanted, true, sampled, True, classes, seed)
    return wanted, convert_to_tensor(inputs), LogUniformCandidateSampler(*values)


@symbol("nn.nce_loss")
def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str = "nce_loss",
) -> Tensor:
    """Noise-contrastive estimation (Gutmann and Hyvärinen 2010): [batch].

    Args:
        weights: [classes, width], or a list of tables.
        biases: [classes].
        labels: the true classes [batch, num_true].
        inputs: [batch, width].
        num_sampled: how many classes are drawn.
        num_classes: how many there are.
        num_true: true classes of an example.
        sampled_values: what a sampler gave; by default log-uniform.
        remove_accidental_hits: whether a drawn class that is true does not count.
        partition_strategy: of several tables.
        name: of the scope.
    """
    with name_scope(name, "nce_loss", []):
        wanted, x, candidates = _prepared(
            labels, inputs, num_sampled, num_classes, sampled_values, None, num_true
        )
        scores, targets = _logits(
            weights,
            biases,
            wanted,
            x,
            candidates,
            True,
            remove_accidental_hits,
            partition_strategy,
            num_true,
        )
        return reduce_sum(sigmoid_cross_entropy_with_logits(labels=targets, logits=scores), 1)


@symbol("nn.sampled_softmax_loss")
def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_softmax_loss",
    seed: Any = None,
) -> Tensor:
    """The cross entropy over the true and the drawn classes (Jean et al. 2014): [batch].

    Arguments as of `nce_loss`; `seed`: of the draws.
    """
    with name_scope(name, "sampled_softmax_loss", []):
        wanted, x, candidates = _prepared(
            labels, inputs, num_sampled, num_classes, sampled_values, seed, num_true
        )
        scores, targets = _logits(
            weights,
            biases,
            wanted,
            x,
            candidates,
            True,
            remove_accidental_hits,
            partition_strategy,
            num_true,
        )
        return softmax_cross_entropy_with_logits_v2(labels=stop_gradient(targets), logits=scores)
