"""Small models by name: clusters, logistic regression, the network of the first tutorial."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

CENTERS = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]], np.float32)
RANDOM = np.random.default_rng(1)
OWNERS = RANDOM.integers(0, 3, 60)
POINTS = (CENTERS[OWNERS] + RANDOM.normal(scale=0.3, size=(60, 2))).astype(np.float32)


@pytest.mark.parametrize("small", [False, True])
def test_clusters_are_found(small: bool) -> None:
    """From first points far from each other; the mean of each cluster is its centre at last."""
    with tf.Graph().as_default(), tf.Session(backends=("numpy",)) as session:
        x = tf.placeholder(tf.float32, [None, 2])
        kmeans = tf.contrib.factorization.KMeans(
            inputs=x, num_clusters=3, initial_clusters="kmeans_plus_plus", use_mini_batch=small
        )
        _, nearest, scores, begun, first, step = kmeans.training_graph()
        distance = tf.reduce_mean(scores)
        session.run(tf.global_variables_initializer(), {x: POINTS})
        session.run(first, {x: POINTS})
        for _ in range(8):
            found: Any = session.run([step, distance, nearest[0], begun], {x: POINTS})
    pairs = {(int(a), int(b)) for a, b in zip(OWNERS, found[2], strict=True)}

    assert len(pairs) == 3 and found[3]
    parts = [POINTS[np.equal(OWNERS, k)] for k in range(3)]
    wanted = sum([np.var(part, 0).sum() * len(part) for part in parts]) / 60
    assert found[1] == pytest.approx(wanted, rel=0.05)


def test_too_few_points_are_refused() -> None:
    with tf.Graph().as_default(), tf.Session(backends=("numpy",)) as session:
        parts = tf.contrib.factorization.KMeans(tf.zeros([2, 2]), 3).training_graph()
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.OpError, match=r"2 points for 3 clusters"):
            session.run(parts[4])


def test_logistic_regression_begins_with_equal_classes() -> None:
    with tf.Graph().as_default(), tf.Session(backends=("numpy",)) as session:
        x, y = tf.constant(POINTS), tf.one_hot(OWNERS, 3)
        made = tf.contrib.learn.models.logistic_regression(x, y)
        session.run(tf.global_variables_initializer())
        probabilities, loss = session.run(made)
        names = [v.name for v in tf.trainable_variables()]

    assert np.allclose(probabilities, 1 / 3) and loss == pytest.approx(np.log(3), rel=1e-6)
    assert names == ["logistic_regression/weights:0", "logistic_regression/bias:0"]


def test_the_network_of_the_first_tutorial_learns() -> None:
    mnist = tf.examples.tutorials.mnist.mnist
    with tf.Graph().as_default(), tf.Session(backends=("numpy",)) as session:
        tf.set_random_seed(0)
        images = tf.constant(RANDOM.uniform(size=(8, mnist.IMAGE_PIXELS)).astype(np.float32))
        labels = tf.constant(np.arange(8, dtype=np.int32))
        logits = mnist.inference(images, 16, 8)
        loss = mnist.loss(logits, labels)
        train, right = mnist.training(loss, 0.1), mnist.evaluation(logits, labels)
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, train])[0] for _ in range(10)]

        assert losses[-1] < losses[0] and 0 <= session.run(right) <= 8


def test_logits_come_first_where_they_are_flipped() -> None:
    flipped = tf.contrib.nn
    with tf.Graph().as_default(), tf.Session(backends=("numpy",)) as session:
        logits, labels = tf.constant([[1.0, 2.0]]), tf.constant([[0.0, 1.0]])
        made = flipped.deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels)
        wanted = np.log(1 + np.exp(-1.0))

        assert session.run(made)[0] == pytest.approx(wanted, rel=1e-6)


def test_clusters_of_an_estimator(tmp_path: Path) -> None:
    """Centres, the cluster of each point, distances, and when to stop."""
    points = np.array([[0.0, 0.0], [0.0, 2.0], [9.0, 0.0], [9.0, 2.0]], np.float32)
    model = tf.contrib.factorization.KMeansClustering(
        2, str(tmp_path), points[[0, 2]], use_mini_batch=False, relative_tolerance=0.01
    )

    def once() -> Any:
        return tf.train.limit_epochs(tf.convert_to_tensor(points), num_epochs=1)

    def always() -> Any:
        return {"x": tf.constant(points[:, :1]), "y": tf.constant(points[:, 1:])}

    model.train(always, steps=50)

    assert model.cluster_centers().tolist() == [[0.0, 1.0], [9.0, 1.0]]
    assert model.get_variable_value("global_step") < 5
    assert [int(i) for i in model.predict_cluster_index(once)] == [0, 0, 1, 1]
    assert next(model.transform(once)).tolist() == [1.0, 82.0]
    assert model.score(once) == 4.0
