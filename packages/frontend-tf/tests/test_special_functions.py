"""Functions beyond the elementary ones: values recorded of SciPy, slopes by differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

# Recorded of scipy.special: function -> arguments, values.
RECORDED: dict[str, tuple[Callable[..., Any], list[list[float]], list[float]]] = {
    "igamma": (
        tf.igamma,
        [[0.5, 2.0, 7.0, 30.0], [0.6, 1.0, 8.0, 20.0]],
        [0.7266783217, 0.2642411177, 0.6866257225, 0.0218182175],
    ),
    "igammac": (
        tf.igammac,
        [[0.5, 2.0, 7.0, 30.0], [0.6, 1.0, 8.0, 20.0]],
        [0.2733216783, 0.7357588823, 0.3133742775, 0.9781817825],
    ),
    "bessel_i0e": (
        tf.math.bessel_i0e,
        [[-30.0, 0.3, 5.0]],
        [0.0731459465, 0.7575806252, 0.1835408126],
    ),
    "bessel_i1e": (
        tf.math.bessel_i1e,
        [[-30.0, 0.3, 5.0]],
        [-0.0719163306, 0.1123775606, 0.1639722669],
    ),
    "bessel_i0": (tf.math.bessel_i0, [[0.3, 5.0]], [1.0226268794, 27.2398718236]),
    "bessel_i1": (tf.math.bessel_i1, [[0.3, 5.0]], [0.15169384, 24.3356421425]),
}


@pytest.mark.parametrize("name", RECORDED)
def test_values_and_slopes(name: str) -> None:
    """By each argument, in float64."""
    function, arguments, expected = RECORDED[name]
    with tf.Graph().as_default(), tf.Session() as session:
        given = [tf.placeholder(tf.float64, [len(a)]) for a in arguments]
        y = function(*given)
        slopes = tf.gradients(y, given)

        def at(*arrays: Any) -> list[Any]:
            fed = dict(zip(given, arrays, strict=True))
            return session.run([y, *slopes], fed)  # type: ignore[no-any-return]

        arrays = [np.array(a) for a in arguments]
        values, *found = at(*arrays)
        np.testing.assert_allclose(values, expected, 1e-8)
        for i, slope in enumerate(found):
            step = [1e-5 * (j == i) for j in range(len(arrays))]
            more, less = (
                at(*[a + sign * s for a, s in zip(arrays, step, strict=True)])[0]
                for sign in (1, -1)
            )
            np.testing.assert_allclose(slope, (more - less) / 2e-5, 1e-6)


def test_betainc_zeta_polygamma() -> None:
    """The slope of betainc is known by x alone."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([0.2, 0.9], tf.float64)
        y = tf.betainc(tf.constant(2.0, tf.float64), tf.constant(3.0, tf.float64), x)
        slope = tf.gradients(y, x)[0]
        zeta = tf.zeta([2.0, 3.0], [1.0, 4.0])
        derivatives = tf.polygamma([0.0, 1.0, 2.0], [1.0, 1.0, 2.0])
        found = session.run([y, slope, zeta, derivatives])

    np.testing.assert_allclose(found[0], [0.1808, 0.9963], 1e-9)
    np.testing.assert_allclose(found[1], [12 * 0.2 * 0.64, 12 * 0.9 * 0.01], 1e-9)
    np.testing.assert_allclose(found[2], [np.pi**2 / 6, 0.0400198661], 1e-6)
    np.testing.assert_allclose(found[3], [-0.5772157, np.pi**2 / 6, -0.4041138], 1e-6)
