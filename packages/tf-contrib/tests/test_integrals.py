"""Solutions of differential equations, and their gradients."""

from __future__ import annotations

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf.running.session import defaults

odeint, odeint_fixed = tf.contrib.integrate.odeint, tf.contrib.integrate.odeint_fixed


@pytest.fixture(autouse=True)
def _numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(defaults, "backends", ("numpy",))


def test_a_solution_and_its_slope_by_a_rate() -> None:
    """y' = -rate y: e^(-rate t), whose derivative by the rate is -t e^(-rate t)."""
    t = np.array([0.0, 0.5, 1.0])
    with tf.Graph().as_default(), tf.Session() as session:
        rate = tf.constant(1.5, tf.float64)
        y = odeint(lambda y, t: -rate * y, tf.constant([1.0], tf.float64), t, rtol=1e-5)
        slope = tf.gradients(y[2, 0], rate)[0]
        values, found = session.run([y, slope])

    np.testing.assert_allclose(values[:, 0], np.exp(-1.5 * t), 1e-4)
    np.testing.assert_allclose(found, -np.exp(-1.5), 1e-2)


def test_steps_of_one_length() -> None:
    """The middle of a step is of order 2, the method of Runge and Kutta of order 4."""
    t = np.array([0.0, 0.5, 1.0], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        made = [
            odeint_fixed(lambda y, t: -2.0 * tf.to_float(t) * y, tf.constant([1.0]), t, 0.1, method)
            for method in ("rk4", "midpoint")
        ]
        four, two = session.run(made)

    np.testing.assert_allclose(four[:, 0], np.exp(-(t**2)), 1e-5)
    np.testing.assert_allclose(two[:, 0], np.exp(-(t**2)), 4e-3)


def test_what_is_refused_and_what_does_not_arrive() -> None:
    """Too few steps: no number."""
    with tf.Graph().as_default(), tf.Session() as session:
        start = tf.constant([1.0])
        few = odeint(
            lambda y, t: -y, start, [0.0, 9.0], options={"max_num_steps": 2}, method="dopri5"
        )

        assert np.isnan(session.run(few)[1]).all()
        with pytest.raises(ValueError, match="invalid method"):
            odeint(lambda y, t: y, start, [0.0], method="euler")
        with pytest.raises(TypeError, match="unexpected options"):
            odeint(lambda y, t: y, start, [0.0], method="dopri5", options={"nothing": 1})
