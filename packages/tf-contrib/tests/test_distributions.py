"""Distributions say what TensorFlow's say (`distribution_values.py`), and draw what they say."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from distribution_values import MIX, pairs, value

import byparts_frontend_tf as tf
from byparts_frontend_tf.running.session import defaults

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parent / "data" / "distributions.json").read_text(encoding="utf-8")
)
PAIRS = pairs(tf)


@pytest.fixture(autouse=True)
def _numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(defaults, "backends", ("numpy",))


@pytest.mark.parametrize("name", PAIRS)
def test_a_distribution_says_what_was_recorded(name: str) -> None:
    """Means, densities, entropies, divergences, shapes, dtypes."""
    found, wanted = value(tf, PAIRS[name]), RECORDED[name]

    assert found["shapes"] == wanted["shapes"] and found["dtype"] == wanted["dtype"]
    for key, array in wanted.items():
        if array is not None and key not in ("shapes", "dtype"):
            np.testing.assert_allclose(found[key], array, 2e-5, 1e-5, err_msg=key)


CONTRIB: dict[str, Callable[[Any], Any]] = {
    "diagonal": lambda d: d.MultivariateNormalDiag([1.0, -1.0], [0.5, 2.0]),
    "triangle": lambda d: d.MultivariateNormalTriL([1.0, -1.0], [[0.5, 0.0], [1.0, 2.0]]),
    "covariance": lambda d: d.MultivariateNormalFullCovariance(
        [1.0, -1.0], [[0.25, 0.5], [0.5, 5.0]]
    ),
    "independent": lambda d: d.Independent(d.Normal([1.0, -1.0], [0.5, 2.0]), 1),
    "one hot": lambda d: d.OneHotCategorical(probs=MIX[0]),
    "poisson": lambda d: d.Poisson([1.0, 4.0]),
    "mixture": lambda d: d.Mixture(
        d.Categorical(probs=[0.25, 0.75]), [d.Normal(-2.0, 0.5), d.Normal(2.0, 0.5)]
    ),
}


@pytest.mark.parametrize("name", [*CONTRIB, *sorted(set(PAIRS) - {"Categorical", "StudentT"})])
def test_draws_have_the_mean_that_is_said(name: str) -> None:
    """Within five standard errors of ten thousand draws."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        made = CONTRIB[name](tf.contrib.distributions) if name in CONTRIB else PAIRS[name]()[0]
        drawn, mean = session.run([made.sample(10000), made.mean()])

    error = drawn.std(0) / 100 + 1e-9
    assert (np.abs(drawn.mean(0) - mean) < 5 * error).all()


@pytest.mark.parametrize("name", ["diagonal", "triangle", "independent"])
def test_normal_vectors_have_the_density_of_their_covariance(name: str) -> None:
    """By the formula with the inverse; the divergence from itself is 0."""
    with tf.Graph().as_default(), tf.Session() as session:
        made = CONTRIB[name](tf.contrib.distributions)
        x = np.array([[0.3, 0.4], [1.0, 0.0]], np.float32)
        covariance = np.diag([0.25, 4.0]) if name != "triangle" else [[0.25, 0.5], [0.5, 5.0]]
        found, none = session.run([made.log_prob(x), made.kl_divergence(made)])

    away = x - [1.0, -1.0]
    squares = np.einsum("ni,ij,nj->n", away, np.linalg.inv(covariance), away)
    size = np.log(np.linalg.det(2 * np.pi * np.array(covariance)))
    np.testing.assert_allclose(found, -0.5 * (squares + size), 1e-5)
    assert abs(none) < 1e-6


def test_classes_are_drawn_by_their_probabilities() -> None:
    """Of each row of a batch."""
    with tf.Graph().as_default(), tf.Session() as session:
        drawn = session.run(tf.distributions.Categorical(probs=MIX).sample(10000, seed=1))

    found = np.stack([(drawn == i).mean(0) for i in range(3)], -1)
    assert np.abs(found - MIX).max() < 0.025


def test_gradients_pass_through_draws() -> None:
    """Of a normal and a gamma number to their parameters."""
    with tf.Graph().as_default(), tf.Session() as session:
        loc, alpha = tf.constant(1.0), tf.constant(3.0)
        drawn = tf.distributions.Normal(loc, 2.0).sample(3)
        gamma = tf.distributions.Gamma(alpha, 2.0).sample(2000, seed=3)
        slopes = tf.gradients([drawn], [loc]) + tf.gradients(tf.reduce_mean(gamma), [alpha])

        assert session.run(slopes) == [3.0, pytest.approx(0.5, abs=0.05)]


def test_a_divergence_may_be_registered() -> None:
    """For classes of a program's own; another is not there, and a second one is refused."""

    class Mine(tf.distributions.Normal):  # type: ignore[misc]  # found when it is used
        """Another normal."""

    @tf.distributions.RegisterKL(Mine, tf.distributions.Uniform)  # type: ignore[untyped-decorator]
    def divergence(a: Any, b: Any, name: Any = None) -> Any:
        return a.loc * 2.0

    with tf.Graph().as_default(), tf.Session() as session:
        found = tf.distributions.kl_divergence(Mine(2.0, 1.0), tf.distributions.Uniform())
        assert session.run(found) == 4.0
        with pytest.raises(NotImplementedError, match="No KL"):
            tf.distributions.kl_divergence(tf.distributions.Uniform(), Mine(2.0, 1.0))
        with pytest.raises(ValueError, match="already been registered"):
            tf.distributions.RegisterKL(Mine, tf.distributions.Uniform)(divergence)
        with pytest.raises(ValueError, match="but not both"):
            tf.distributions.Bernoulli()


def test_operators_are_their_matrices() -> None:
    """Products, solutions and determinants of triangles and diagonals."""
    lower = np.array([[2.0, 0.0], [1.0, 4.0]], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        triangle = tf.linalg.LinearOperatorLowerTriangular([[2.0, 9.0], [1.0, 4.0]])
        for operator, matrix in (
            (triangle, lower),
            (tf.linalg.LinearOperatorDiag([2.0, 4.0]), np.diag([2.0, 4.0])),
            (tf.linalg.LinearOperatorFullMatrix(lower), lower),
        ):
            found = session.run(
                [
                    operator.matvec([1.0, 2.0], adjoint=True),
                    operator.solvevec([1.0, 2.0]),
                    operator.determinant(),
                    operator.log_abs_determinant(),
                    operator.to_dense(),
                ]
            )
            np.testing.assert_allclose(found[0], matrix.T @ [1, 2])
            np.testing.assert_allclose(found[1], np.linalg.solve(matrix, [1, 2]), 1e-6)
            np.testing.assert_allclose(found[2:4], [8.0, np.log(8.0)], 1e-6)
            np.testing.assert_allclose(found[4], matrix)


def test_numbers_between_bounds_and_softplus_parameters() -> None:
    """Also far from the middle, where nearly all of a normal distribution is cut off."""
    draw = import_module("byparts_frontend_tf.python.ops.random_ops").parameterized_truncated_normal
    with tf.Graph().as_default(), tf.Session() as session:
        near = draw([2000], means=1.0, stddevs=2.0, minvals=0.0, maxvals=2.0, seed=1)
        far = draw([2000], minvals=6.0, maxvals=7.0, seed=2)
        scale = tf.distributions.Normal(0.0, tf.nn.softplus(1.0)).log_prob(1.0)
        same = tf.contrib.distributions.NormalWithSoftplusScale(0.0, 1.0).log_prob(1.0)
        a, b, one, other = session.run([near, far, scale, same])

    assert a.min() >= 0 and a.max() <= 2 and abs(a.mean() - 1) < 0.05
    assert b.min() >= 6 and b.max() <= 7 and abs(b.mean() - 6.158) < 0.02
    assert one == other


# Recorded of scipy.stats: distribution, where, the logarithm of its density there.
RECORDED_DENSITIES: list[tuple[Any, float, float]] = [
    (lambda ds: ds.Logistic(0.1, 1.2), 0.7, -1.6305),
    (lambda ds: ds.Cauchy(0.1, 1.2), 0.7, -1.5502),
    (lambda ds: ds.HalfNormal(1.2), 0.7, -0.5783),
    (lambda ds: ds.InverseGamma(3.0, 1.5), 0.7, -0.1929),
    (lambda ds: ds.Chi2(3.0), 0.7, -1.4473),
    (lambda ds: ds.Binomial(7.0, probs=0.3), 2.0, -1.1468),
]


@pytest.mark.parametrize("row", range(len(RECORDED_DENSITIES)))
def test_densities_of_further_distributions(row: int) -> None:
    make, at, expected = RECORDED_DENSITIES[row]
    with tf.Graph().as_default(), tf.Session() as session:
        made = make(tf.contrib.distributions)
        found = session.run(made.log_prob(at))

    assert found == pytest.approx(expected, abs=1e-3)


def test_mixtures_of_one_family_and_rounded_numbers() -> None:
    """As the same mixture by parts; all of a rounded distribution is 1."""
    ds = tf.contrib.distributions
    with tf.Graph().as_default(), tf.Session() as session:
        chances = ds.Categorical(probs=[0.3, 0.7])
        same = ds.MixtureSameFamily(chances, ds.Normal([-1.0, 1.0], [0.1, 0.5]))
        parts = ds.Mixture(chances, [ds.Normal(-1.0, 0.1), ds.Normal(1.0, 0.5)])
        at = np.array([-1.0, 0.3], "float32")
        rounded = ds.QuantizedDistribution(ds.Logistic(3.0, 1.0), 0.0, 7.0)
        relaxed = ds.RelaxedBernoulli(0.5, probs=[0.3, 0.7]).sample(5, seed=1)
        found = session.run(
            [
                *(same.log_prob(at), parts.log_prob(at), same.mean(), same.sample(9, seed=1)),
                *(tf.reduce_sum(rounded.prob(np.arange(8.0, dtype="float32"))), relaxed),
                rounded.sample(20, seed=2),
            ]
        )

    np.testing.assert_allclose(found[0], found[1], 1e-5)
    assert found[2] == pytest.approx(0.4) and found[3].shape == (9,)
    assert found[4] == pytest.approx(1.0) and ((found[5] > 0) & (found[5] < 1)).all()
    assert (found[6] == np.round(found[6])).all() and found[6].min() >= 0 and found[6].max() <= 7


def test_classes_may_be_given_as_floats() -> None:
    made = tf.distributions.Categorical(logits=[0.0, 0.0])
    with tf.Session() as session:
        assert session.run(made.log_prob([1.0, 0.0])).tolist() == pytest.approx([np.log(0.5)] * 2)


def test_a_program_s_own_distribution_keeps_its_value() -> None:
    """As libraries do, under a name that nothing here takes; names of operations are a graph's."""

    class Drawn(tf.distributions.Normal):  # type: ignore[misc]  # found by name
        def __init__(self, loc: float, scale: float) -> None:
            super().__init__(loc, scale)
            self._value = self.sample(3, seed=1)

    with tf.Graph().as_default() as graph, tf.Session() as session:
        made = Drawn(0.0, 1.0)

        assert session.run(made.log_prob(made._value)).shape == (3,)
        assert "Normal/loc" in graph._nodes_by_name


def test_random_tensors_are_made_of_tensorflows_operations() -> None:
    """A draw, scaled and moved, by their names: programs list them, and files have them."""
    with tf.Graph().as_default() as graph:
        tf.random_uniform([2], 1.0, 3.0)
        tf.truncated_normal([2], stddev=0.1)
        names = [operation.name for operation in graph.get_operations()]

    parts = ("shape", "min", "max", "RandomUniform", "sub", "mul")
    others = ("shape", "mean", "stddev", "TruncatedNormal", "mul")
    assert names == [
        *(f"random_uniform/{part}" for part in parts), "random_uniform",
        *(f"truncated_normal/{part}" for part in others), "truncated_normal",
    ]  # fmt: skip
