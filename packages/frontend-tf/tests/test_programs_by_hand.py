"""Whole programs, against the same steps written in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import byparts_frontend_tf as tf


@pytest.fixture(autouse=True)
def _graph() -> object:
    with tf.Graph().as_default() as graph:
        yield graph


def test_linear_regression_by_gradient_descent() -> None:
    """Weights after each of ten steps."""
    rng = np.random.default_rng(0)
    xs = rng.normal(size=(20, 3)).astype("f4")
    ts = (xs @ [[1.0], [-2.0], [0.5]] + 3.0).astype("f4")
    x, t = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 1])
    w, b = tf.Variable(tf.zeros([3, 1]), name="w"), tf.Variable(0.0, name="b")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - t))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

    with tf.Session(backends=("numpy",)) as session:
        session.run(tf.global_variables_initializer())
        ours = [session.run([loss, step], {x: xs, t: ts})[0] for _ in range(10)]
        found = session.run([w, b])

    hand_w, hand_b, losses = np.zeros((3, 1)), 0.0, []
    for _ in range(10):
        error = xs @ hand_w + hand_b - ts
        losses.append(np.mean(error**2))
        hand_w -= 0.1 * 2 * xs.T @ error / len(xs)
        hand_b -= 0.1 * 2 * np.mean(error)
    np.testing.assert_allclose(ours, losses, rtol=1e-4)
    np.testing.assert_allclose(found[0], hand_w, rtol=1e-4)
    np.testing.assert_allclose(found[1], hand_b, rtol=1e-4)


def test_a_network_of_named_variables_by_adam() -> None:
    """Adam in the form with the bias in the step, written out."""
    rng = np.random.default_rng(1)
    xs, ts = rng.normal(size=(16, 4)).astype("f4"), rng.normal(size=(16, 1)).astype("f4")
    starts = [(rng.normal(size=s) * 0.5).astype("f4") for s in ((4, 8), (8,), (8, 1))]
    x, t = tf.constant(xs), tf.constant(ts)
    with tf.variable_scope("hidden"):
        w1 = tf.get_variable("w", initializer=starts[0])
        b1 = tf.get_variable("b", initializer=starts[1])
    with tf.variable_scope("out"):
        w2 = tf.get_variable("w", initializer=starts[2])
    error = tf.matmul(tf.tanh(tf.matmul(x, w1) + b1), w2) - t
    step = tf.train.AdamOptimizer(0.01).minimize(tf.reduce_mean(error**2))

    with tf.Session(backends=("numpy",)) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(5):
            session.run(step)
        found = session.run(tf.trainable_variables())

    values = [s.astype("f8") for s in starts]
    means, squares = [np.zeros_like(v) for v in values], [np.zeros_like(v) for v in values]
    for k in range(1, 6):
        h = np.tanh(xs @ values[0] + values[1])
        dy = 2 * (h @ values[2] - ts) / len(xs)
        dh = dy @ values[2].T * (1 - h**2)
        for v, m, s, g in zip(
            values, means, squares, (xs.T @ dh, dh.sum(0), h.T @ dy), strict=True
        ):
            m += (g - m) * 0.1
            s += (g**2 - s) * 0.001
            v -= 0.01 * np.sqrt(1 - 0.999**k) / (1 - 0.9**k) * m / (np.sqrt(s) + 1e-8)
    for one, other in zip(found, values, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)
    assert [v.name for v in tf.trainable_variables()] == ["hidden/w:0", "hidden/b:0", "out/w:0"]


def test_a_small_convolution_network_and_its_gradient() -> None:
    """A convolution, a bias, relu, pooling and a sum, with loops in Python."""
    rng = np.random.default_rng(2)
    xs, ws = rng.normal(size=(1, 4, 4, 1)).astype("f4"), rng.normal(size=(3, 3, 1, 2)).astype("f4")
    w = tf.Variable(ws)
    h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(xs, w, [1, 1, 1, 1], "VALID"), [0.1, -0.1]))
    y = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    (dw,) = tf.gradients(tf.reduce_sum(y), w)

    with tf.Session(backends=("numpy",)) as session:
        session.run(w.initializer)
        found, gradient = session.run([y, dw])

    hand = np.zeros((2, 2, 2))
    for p in range(2):
        for q in range(2):
            patch = xs[0, p : p + 3, q : q + 3, 0]
            hand[p, q] = (patch[..., None] * ws[:, :, 0]).sum((0, 1))
    hand = np.maximum(hand + np.array([0.1, -0.1]), 0)
    np.testing.assert_allclose(found[0, 0, 0], hand.max((0, 1)), rtol=1e-5)
    for c in range(2):
        p, q = map(int, np.unravel_index(hand[..., c].argmax(), (2, 2)))
        wanted = xs[0, p : p + 3, q : q + 3, 0] * (hand[p, q, c] > 0)
        np.testing.assert_allclose(gradient[:, :, 0, c], wanted, rtol=1e-5)


def test_a_program_of_a_loop_with_a_fed_bound() -> None:
    """Newton's method until it is near, at most as often as is fed."""
    a, most = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, [])
    _, root = tf.while_loop(
        lambda k, r: tf.logical_and(k < most, tf.abs(r * r - a) > 1e-5),
        lambda k, r: (k + 1, 0.5 * (r + a / r)),
        (0, 1.0),
    )

    with tf.Session(backends=("numpy",)) as session:
        assert session.run(root, {a: 2.0, most: 50}) == pytest.approx(2**0.5, rel=1e-5)
        assert session.run(root, {a: 2.0, most: 1}) == pytest.approx(1.5)
