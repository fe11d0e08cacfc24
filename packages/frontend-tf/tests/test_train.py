"""Optimizers against their recurrences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import byparts_frontend_tf.tinyflow as tf
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
