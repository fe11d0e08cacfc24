"""Optimizers of contrib by their formulas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf.running.session import defaults

START = np.array([[1.0], [2.0], [3.0]], np.float32)


@pytest.fixture(autouse=True)
def _numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(defaults, "backends", ("numpy",))


def _after(optimizer: Any, steps: int, rows: Any = None, **given: Any) -> Any:
    """A table after steps with the gradient 1, or at some rows how often they are named."""
    v = tf.Variable(START)
    loss = tf.reduce_sum(v if rows is None else tf.gather(v, rows))
    step = optimizer.minimize(loss, **given)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            session.run(step)
        return session.run(v)[:, 0]


def _adam(g: float, steps: int, eta: float = 0.1) -> float:
    """How far Adam goes with a gradient that stays."""
    m = v = moved = 0.0
    for t in range(1, steps + 1):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        moved += eta * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * m / (np.sqrt(v) + 1e-8)
    return moved


def test_lazy_adam_leaves_other_rows_alone() -> None:
    """A row that is named twice gets the sum."""
    with tf.Graph().as_default():
        found = _after(tf.contrib.opt.LazyAdamOptimizer(0.1), 2, [0, 2, 2])

    np.testing.assert_allclose(found, [1 - _adam(1, 2), 2, 3 - _adam(2, 2)], 1e-5)


def test_weights_decay_before_the_step() -> None:
    """All variables, or those that are listed; of any optimizer."""
    opt = tf.contrib.opt
    with tf.Graph().as_default():
        found = _after(opt.AdamWOptimizer(0.5, 0.1), 1)
    np.testing.assert_allclose(found, START[:, 0] / 2 - _adam(1, 1), 1e-5)
    with tf.Graph().as_default():
        other = tf.Variable(1.0)
        kept = _after(opt.MomentumWOptimizer(0.5, 0.1, 0.9), 1, decay_var_list=[other])
    np.testing.assert_allclose(kept, START[:, 0] - 0.1, 1e-6)
    with tf.Graph().as_default():
        made = opt.extend_with_decoupled_weight_decay(tf.train.GradientDescentOptimizer)
        plain = _after(made(0.5, 0.1), 1)
    np.testing.assert_allclose(plain, START[:, 0] / 2 - 0.1, 1e-6)


def test_nadam_looks_ahead() -> None:
    """One step with the gradient 1, from moments of 0."""
    with tf.Graph().as_default():
        found = _after(tf.contrib.opt.NadamOptimizer(0.1), 1)

    np.testing.assert_allclose(found, START[:, 0] - 0.1 * (0.9 * 0.1 + 0.1) / 0.1, 1e-4)


def test_a_saver_can_swap_variables_with_their_averages(tmp_path: Path) -> None:
    """v is 1, 0 and then -1: its average with a decay of 1/2 is 1, 1/2 and -1/4."""
    v = tf.Variable(1.0, name="v")
    optimizer = tf.contrib.opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(1.0), 0.5)
    with pytest.raises(RuntimeError, match="Must call apply_gradients"):
        optimizer.swapping_saver()
    step = optimizer.minimize(v)
    saver = optimizer.swapping_saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            session.run(step)
        path = saver.save(session, str(tmp_path / "m"))

    found = {name: tf.train.load_variable(path, name) for name, _ in tf.train.list_variables(path)}
    assert found == {"v": -0.25, "v/ExponentialMovingAverage": -1.0}
