"""Labels of sequences: against all sequences of labels, one by one."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

RANDOM = np.random.default_rng(0)
SCORES = RANDOM.normal(size=(3, 4, 3)).astype(np.float32)
STEPS = RANDOM.normal(size=(3, 3)).astype(np.float32)
TAGS = RANDOM.integers(0, 3, (3, 4)).astype(np.int32)
LENGTHS = np.array([4, 2, 3], np.int32)


def score(i: int, tags: Any) -> float:
    unary = sum([SCORES[i, t, tag] for t, tag in enumerate(tags)])
    return float(unary + sum([STEPS[a, b] for a, b in pairwise(tags)]))


def all_scores(i: int) -> dict[Any, float]:
    return {tags: score(i, tags) for tags in product(range(3), repeat=int(LENGTHS[i]))}


def test_the_likelihood_is_a_share_of_all_sequences() -> None:
    wanted = [
        score(i, TAGS[i, :n]) - np.log(np.sum(np.exp(list(all_scores(i).values()))))
        for i, n in enumerate(LENGTHS)
    ]
    with tf.Graph().as_default(), tf.Session(backends=("numpy",)) as session:
        x, steps = tf.constant(SCORES), tf.constant(STEPS)
        made, _ = tf.contrib.crf.crf_log_likelihood(x, TAGS, LENGTHS, steps)
        slope = tf.gradients(made, [x, steps])
        found, dx, _ = session.run([made, *slope])

    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    assert (dx[1, 2:] == 0).all() and np.abs(dx.sum(2)).max() < 1e-5


def test_the_best_sequence_is_found() -> None:
    wanted = [max(all_scores(i).items(), key=lambda item: item[1]) for i in range(3)]
    with tf.Graph().as_default(), tf.Session(backends=("numpy",)) as session:
        tags, best = session.run(tf.contrib.crf.crf_decode(SCORES, STEPS, LENGTHS))
    path, value = tf.contrib.crf.viterbi_decode(SCORES[0], STEPS)

    assert [tuple(row[:n]) for row, n in zip(tags, LENGTHS, strict=True)] == [w for w, _ in wanted]
    np.testing.assert_allclose(best, [w for _, w in wanted], rtol=1e-5)
    assert (tuple(path), tags[1, 2:].tolist()) == (wanted[0][0], [0, 0])
    assert value == pytest.approx(wanted[0][1], rel=1e-5)


def test_the_scores_between_labels_are_learnt() -> None:
    with tf.Graph().as_default():
        _, steps = tf.contrib.crf.crf_log_likelihood(tf.constant(SCORES), TAGS, LENGTHS)

        assert steps.name == "transitions:0" and steps.shape.as_list() == [3, 3]
