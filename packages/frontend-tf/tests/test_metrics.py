"""Metrics over batches, in local variables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from metric_values import metrics, value

import byparts_frontend_tf as tf
from byparts_frontend_tf.running.session import defaults

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
METRICS = metrics(tf)
RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parent / "data" / "metrics.json").read_text(encoding="utf-8")
)


@pytest.fixture(autouse=True)
def _numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(defaults, "backends", ("numpy",))


@pytest.mark.parametrize("name", METRICS)
def test_metrics_are_as_recorded(name: str) -> None:
    """After each of two batches, with the names of their variables."""
    found = value(tf, METRICS[name])

    assert found["variables"] == RECORDED[name]["variables"]
    for made, wanted in zip(found["found"], RECORDED[name]["found"], strict=True):
        np.testing.assert_allclose(made, wanted, 1e-5, 1e-6)


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
    assert tf.global_variables() == [] and all("/" in n for n in names)


def test_weights_count() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        value, update = tf.metrics.mean([1.0, 2.0, 6.0], weights=[1.0, 1.0, 0.0], name="m")
        session.run(tf.local_variables_initializer())
        session.run(update)

        assert session.run(value) == 1.5
        assert [v.name for v in tf.local_variables()] == ["m/total:0", "m/count:0"]


def test_streaming_metrics_take_predictions_first() -> None:
    """`contrib.metrics`; several by their names; the best harmonic mean."""
    streaming = tf.contrib.metrics
    with tf.Graph().as_default(), tf.Session() as session:
        truth, said = tf.constant([1, 0, 1, 1]), tf.constant([1, 1, 0, 1])
        values, updates = streaming.aggregate_metric_map(
            {
                "precision": streaming.streaming_precision(said, truth),
                "correlation": streaming.streaming_pearson_correlation(said, truth),
                "f1": streaming.f1_score(truth, tf.cast(said, tf.float32)),
            }
        )
        session.run(tf.local_variables_initializer())
        session.run(updates)
        found = session.run(values)

        assert session.run(streaming.accuracy(said, truth)) == 0.5
    assert found["precision"] == pytest.approx(2 / 3)
    assert found["correlation"] == pytest.approx(-1 / 3, abs=1e-5)
    assert found["f1"] == pytest.approx(2 / 3, abs=0.2)


def test_losses_of_distances() -> None:
    """`contrib.losses.metric_learning` against sums over all pairs and triples."""
    losses = tf.contrib.losses.metric_learning
    random = np.random.default_rng(0)
    x, y = random.normal(size=(9, 4)).astype("f"), np.array([0, 1, 2, 0, 1, 2, 0, 0, 3])
    far = ((x[:, None] - x[None]) ** 2).sum(-1)
    pairs = [(a, p) for a in range(9) for p in range(9) if a != p and y[a] == y[p]]
    triplets, lifted = [], []
    for a, p in pairs:
        others = far[a][y != y[a]]
        beyond = others[others > far[a, p]]
        triplets.append(max(0, 1 + far[a, p] - (min(beyond) if len(beyond) else max(others))))
        sums = sum(np.exp(1 - np.sqrt(far[i][y != y[i]])).sum() for i in (a, p))
        lifted.append(max(0, np.log(sums) + np.sqrt(far[a, p])) ** 2 / 2)
    left, right, near = x[:4], x[4:8], np.array([1, 0, 1, 0])
    away = np.sqrt(((left - right) ** 2).sum(1))
    logits, same = left @ right.T, near[:, None] == near[None]
    entropy = -((logits - np.log(np.exp(logits).sum(1, keepdims=True))) * same).sum(1).mean() / 2
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run([
            losses.triplet_semihard_loss(y, x), losses.lifted_struct_loss(y, x),
            losses.npairs_loss(near, left, right, reg_lambda=0.0),
            losses.contrastive_loss(near, left, right, margin=3.0),
        ])  # fmt: skip

    contrastive = near * away**2 + (1 - near) * np.maximum(3 - away, 0) ** 2
    expected = [np.mean(triplets), np.mean(lifted), entropy, contrastive.mean()]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
