"""Bijectors undo what they do, and know how they stretch volumes; flows learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf.running.session import defaults

ds, tfb = tf.contrib.distributions, tf.contrib.distributions.bijectors
TRIANGLE = np.array([[2.0, 0.0, 0.0], [1.0, 3.0, 0.0], [0.5, 0.2, -1.0]])
X = np.array([[0.3, 0.7, 0.4], [0.1, 0.2, 0.9]])
MADE: dict[str, Callable[[], Any]] = {
    "exp": tfb.Exp,
    "sigmoid": tfb.Sigmoid,
    "softplus": tfb.Softplus,
    "affine of numbers": lambda: tfb.AffineScalar(np.float64(1.0), np.float64(-2.0)),
    "affine, diagonal": lambda: tfb.Affine(np.ones(3), scale_diag=np.array([1.0, 2.0, -3.0])),
    "affine, triangle": lambda: tfb.Affine(scale_tril=TRIANGLE),
    "permute": lambda: tfb.Permute([2, 0, 1]),
    "chain": lambda: tfb.Chain([tfb.Invert(tfb.Exp()), tfb.Softplus()]),
    "real nvp": lambda: tfb.RealNVP(1, lambda x, n: (tf.tile(x, [1, n]), tf.tile(x, [1, n]))),
}


@pytest.fixture(autouse=True)
def _numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(defaults, "backends", ("numpy",))


@pytest.mark.parametrize("name", MADE)
def test_a_bijector_and_its_inverse(name: str) -> None:
    """The logarithm is that of the determinant of differences, for vectors."""
    with tf.Graph().as_default(), tf.Session() as session:
        made, x = MADE[name](), tf.placeholder(tf.float64, [None, 3])
        y = made.forward(x)
        alone = tf.identity(y)
        logs = made.forward_log_det_jacobian(x, 1), made.inverse_log_det_jacobian(alone, 1)
        assert made.inverse(y) is x
        back, one, other = session.run([made.inverse(alone), *logs], {x: X})
        step = 1e-6 * np.eye(3)
        more, less = (session.run(y, {x: X[:1] + sign * step}) for sign in (1, -1))

    np.testing.assert_allclose(back, X, 1e-9)
    np.testing.assert_allclose(other, -one, 1e-7, 1e-9)
    np.testing.assert_allclose(one[0], np.linalg.slogdet((more - less) / 2e-6)[1], 1e-6, 1e-7)


def test_a_transformed_distribution() -> None:
    """Logarithms that are normal; a vector of numbers that a triangle mixes."""
    with tf.Graph().as_default(), tf.Session() as session:
        normal = ds.Normal(np.float64(0.0), np.float64(1.0))
        positive = ds.TransformedDistribution(normal, tfb.Exp())
        vectors = ds.TransformedDistribution(
            normal, tfb.Affine(scale_tril=TRIANGLE), event_shape=[3]
        )
        whole = ds.MultivariateNormalTriL(np.zeros(3), np.abs(TRIANGLE.diagonal()) * np.eye(3))
        found = session.run(
            [positive.log_prob(X), vectors.log_prob(X @ TRIANGLE.T), whole.log_prob(np.zeros(3))]
        )
        draws = session.run(vectors.sample(4, seed=1))

    np.testing.assert_allclose(found[0], -0.5 * np.log(X) ** 2 - np.log(X) - 0.9189385332, 1e-9)
    np.testing.assert_allclose(found[1], found[2] - 0.5 * (X**2).sum(1), 1e-9)
    assert draws.shape == (4, 3) and vectors.event_shape.as_list() == [3]


def test_an_autoregressive_flow_learns_and_is_inverted() -> None:
    """Each element depends on those before it alone."""
    random = np.random.default_rng(0)
    second = random.normal(size=64) * 2
    points = np.stack([second, 0.25 * second**2 + random.normal(size=64)], 1).astype("float32")
    with tf.Graph().as_default(), tf.Session() as session:
        network = tfb.masked_autoregressive_default_template([16])
        flow = tfb.MaskedAutoregressiveFlow(network)
        drawn = ds.MultivariateNormalDiag(tf.zeros([2]), tf.ones([2]))
        made = ds.TransformedDistribution(drawn, flow)
        x = tf.constant(points)
        loss = -tf.reduce_mean(made.log_prob(x))
        slopes = tf.gradients(network(x)[0][:, 1], x)[0]
        train = tf.train.AdamOptimizer(0.02).minimize(loss)
        back = flow.forward(tf.identity(flow.inverse(x)))
        session.run(tf.global_variables_initializer())
        before = session.run(loss)
        for _ in range(30):
            session.run(train)
        after, again, d = session.run([loss, back, slopes])
        names = [v.op.name for v in tf.trainable_variables()]

    assert after < before and (d[:, 1] == 0).all() and names[0].endswith("/dense/kernel")
    np.testing.assert_allclose(again, points, 1e-3, 1e-4)
