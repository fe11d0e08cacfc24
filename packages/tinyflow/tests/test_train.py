"""Optimizers against their recurrences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import byparts_tinyflow as tf
from byparts_graph_ir import GraphError


def test_gradient_descent() -> None:
    """Two steps on the sum of squares."""
    w = tf.Variable(tf.ones([3]) * 2)
    step = tf.train.GradientDescentOptimizer(0.25).minimize(tf.reduce_sum(w * w))
    session = tf.Session()
    session.run(tf.initialize_all_variables())
    session.run(step)
    session.run(step)

    assert_allclose(session.run(w), [0.5] * 3)


def test_adam_follows_its_recurrence() -> None:
    """Five steps in float64 NumPy beside five of ours."""
    target = np.array([1.0, -2.0, 3.0])
    w, x = tf.Variable(tf.zeros([3])), tf.placeholder(tf.float32)
    step = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum((w - x) * (w - x)))
    session = tf.Session()
    session.run(tf.initialize_all_variables())
    v = m = s = np.zeros(3)
    for t in range(1, 6):
        session.run(step, {x: target})
        g = 2 * (v - target)
        m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g * g
        v = v - 0.1 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * m / (np.sqrt(s) + 1e-4)

    assert_allclose(session.run(w), v, rtol=1e-4)


def test_t18_two_optimizers_share_nothing() -> None:
    """T18: same default name, separate slots, also for a second minimize of one object."""
    w = tf.Variable(tf.ones([]))
    adam = tf.train.AdamOptimizer(0.1)
    steps = [
        adam.minimize(w * w),
        adam.minimize(w * w),
        tf.train.AdamOptimizer(0.1).minimize(w * w),
    ]
    session = tf.Session()
    session.run(tf.initialize_all_variables())
    moved = []
    for step in steps:
        session.run(tf.assign(w, tf.ones([])))
        session.run(step)
        moved.append(float(session.run(w)))

    assert_allclose(moved, [0.9] * 3, rtol=1e-3)


def test_nothing_to_train_is_said() -> None:
    """An objective without variables."""
    with pytest.raises(GraphError, match="depends on no variable"):
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.ones([]))


def test_adam_trains_what_layers_make() -> None:
    """Slots of weights whose shapes only the data tells: initialised behind the weights."""
    x, label = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    loss = tf.nn.mean_sparse_softmax_cross_entropy_with_logits(
        tf.nn.linear(x, num_hidden=2, no_bias=False), label
    )
    step = tf.train.AdamOptimizer(0.1).minimize(loss)
    feeds = {x: np.eye(4, dtype="float32"), label: np.array([0, 1, 1, 0])}
    shapes = {x: [4, 4], label: [4]}
    session = tf.Session()
    session.run([tf.assign(v, tf.zeros(s)) for v, _, s in tf.infer_variable_shapes(loss, shapes)])
    session.run(tf.initialize_all_variables())
    losses = [session.run([loss, step], feeds)[0] for _ in range(5)]

    assert_allclose(losses[0], np.log(2), rtol=1e-6)
    assert losses == sorted(losses, reverse=True) and losses[-1] < 0.5


def test_two_steps_of_one_variable_in_one_run_are_refused() -> None:
    """Also by two optimizers: which comes first would be chance."""
    w = tf.Variable(tf.ones([]), name="w")
    both = [tf.train.GradientDescentOptimizer(0.1).minimize(w * w) for _ in range(2)]
    session = tf.Session()
    session.run(tf.initialize_all_variables())
    with pytest.raises(GraphError, match="variable 'w' is assigned twice in one run"):
        session.run(both)

    assert session.run(w) == 1
