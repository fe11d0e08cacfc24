import math

import numpy as np
from numeric import call, check_gradient

from byparts_opset.error_function import Erf, Erfc, Erfinv, erf, erfc, erfinv

X = np.array([-2.5, -0.3, 0.0, 0.4, 1.5])


def test_erf_is_an_integral() -> None:
    """Simpson's rule on the density, 2000 steps."""
    t = np.linspace(0, 1.5, 2001)
    weights = np.array([1, *([4, 2] * 1000)[:-1], 1]) * (t[1] / 3)

    expected = 2 / math.sqrt(math.pi) * (weights * np.exp(-t * t)).sum()
    assert abs(expected - call(erf, np.array(1.5))) < 1e-14


def test_complement_keeps_the_tail() -> None:
    """Where 1 - erf(x) has no digit left: the first terms of the asymptotic series."""
    x = 12.0
    expected = math.exp(-x * x) / (x * math.sqrt(math.pi)) * (1 - 1 / (2 * x * x) + 3 / (4 * x**4))

    np.testing.assert_allclose(expected, call(erfc, np.array(x)), rtol=1e-6)


def test_inverse_inverts() -> None:
    """Through both tails, at the ends, and outside."""
    np.testing.assert_allclose(X, call(erfinv, call(erf, X)), rtol=1e-13)
    x = np.array([1.0, -1.0, 1.5])
    np.testing.assert_array_equal([math.inf, -math.inf, math.nan], call(erfinv, x))


def test_inverse_keeps_small_numbers() -> None:
    """It is x / slope near 0."""
    x = np.array([1e-30])

    np.testing.assert_allclose(x * math.sqrt(math.pi) / 2, call(erfinv, x), rtol=1e-15)


def test_gradients() -> None:
    """On static, symbolic and unknown shapes."""
    check_gradient(Erf(), X, unranked=True)
    check_gradient(Erfc(), X, unranked=True)
    check_gradient(Erfinv(), np.array([-0.9, 0.1, 0.5]), unranked=True)
