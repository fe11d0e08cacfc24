"""TensorFlow's API trains on whatever kernels are here; nothing but frontend-tf is needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import byparts_frontend_tf
from byparts_graph_ir.parts.hub import parts
from proof.recorded import assert_close
from proof.run import backend, with_the_rest
from proof.spec import Check, Spec, about

RATE = 0.5


def checks(spec: Spec, tf: Any = byparts_frontend_tf) -> Iterator[Check]:
    """One check for each backend that starts."""
    for name in parts.names("backends"):
        order = with_the_rest(name)
        if not spec.lacks and backend(name) is not None and order is not None:
            yield from about(name, _trains(tf, order))


def _trains(tf: Any, order: tuple[str, ...]) -> Check:
    def linear_regression_goes_as_by_hand() -> None:
        random = np.random.default_rng(0)
        given = random.normal(size=(8, 3)).astype("float32")
        wanted = (given @ np.array([[1.0], [2.0], [3.0]], "float32")).astype("float32")
        assert_close(np.array(_losses(tf, order, given, wanted)), _by_hand(given, wanted), order[0])

    return linear_regression_goes_as_by_hand


def _losses(
    tf: Any, order: tuple[str, ...], given: np.ndarray, wanted: np.ndarray
) -> list[np.float32]:
    x, t = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 1])
    w = tf.Variable(tf.zeros([3, 1]))
    loss = tf.reduce_mean((tf.matmul(x, w) - t) ** 2)
    step = tf.train.GradientDescentOptimizer(RATE).minimize(loss)
    with tf.Session(backends=order) as session:
        session.run(tf.initialize_all_variables())
        return [session.run([loss, step], {x: given, t: wanted})[0] for _ in range(5)]


def _by_hand(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    w, losses = np.zeros((3, 1), "float32"), []
    for _ in range(5):
        error = x @ w - t
        losses.append((error**2).mean())
        w = (w - np.float32(RATE * 2 / len(x)) * (x.T @ error)).astype("float32")
    return np.array(losses)
