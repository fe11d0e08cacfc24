"""Metrics over batches, in local variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

BATCHES = [([1, 0, 1, 1], [1, 1, 0, 1]), ([0, 0, 1, 0], [0, 1, 1, 0])]
LABELS, PREDICTIONS = (np.concatenate([b[i] for b in BATCHES]) for i in (0, 1))
TRUE = int(((LABELS == 1) & (PREDICTIONS == 1)).sum())
WANTED = {
    "accuracy": (LABELS == PREDICTIONS).mean(),
    "mean_squared_error": ((LABELS - PREDICTIONS) ** 2).mean(),
    "root_mean_squared_error": np.sqrt(((LABELS - PREDICTIONS) ** 2).mean()),
    "mean_absolute_error": np.abs(LABELS - PREDICTIONS).mean(),
    "precision": TRUE / PREDICTIONS.sum(),
    "recall": TRUE / LABELS.sum(),
    "true_positives": TRUE,
    "false_negatives": int(((LABELS == 1) & (PREDICTIONS == 0)).sum()),
}


@pytest.mark.parametrize("name", WANTED)
def test_a_metric_is_of_all_batches(name: str) -> None:
    """The value alone changes nothing; the variables are local ones."""
    with tf.Graph().as_default(), tf.Session() as session:
        labels, predictions = (tf.placeholder(tf.int64, [4]) for _ in range(2))
        value, update = getattr(tf.metrics, name)(labels, predictions)
        session.run(tf.local_variables_initializer())
        begin = session.run(value)
        for y, x in BATCHES:
            after = session.run(update, {labels: y, predictions: x})
        kept: Any = session.run(value)
        names = [v.name for v in tf.local_variables()]

    assert begin == 0.0 and kept == after
    assert kept == pytest.approx(WANTED[name], rel=1e-6)
    assert tf.global_variables() == [] and all(n.count("/") == 1 for n in names)


def test_weights_count() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        value, update = tf.metrics.mean([1.0, 2.0, 6.0], weights=[1.0, 1.0, 0.0], name="m")
        session.run(tf.local_variables_initializer())
        session.run(update)

        assert session.run(value) == 1.5
        assert [v.name for v in tf.local_variables()] == ["m/total:0", "m/count:0"]
