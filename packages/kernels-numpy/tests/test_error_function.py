import math

import numpy as np
import pytest
from bound import kernel

from byparts_graph_ir import Op
from byparts_opset.error_function import Erf, Erfc, Erfinv

EDGES = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e300, 0.46875, 4.0, 5e-324]
X = np.concatenate([np.linspace(-7, 7, 20001), np.linspace(-26, 26, 5001), EDGES])


@pytest.mark.parametrize(("op", "ulps"), [(Erf(), 4), (Erfc(), 8)])
def test_doubles_are_right_to_the_last_digits(op: Op, ulps: int) -> None:
    """Against the C library, on both sides of each range's border."""
    (expected,), (found,) = op.evaluate(X), kernel(op, X)

    np.testing.assert_allclose(expected, found, rtol=ulps * 2.3e-16)


def test_singles_are_right_to_one_digit() -> None:
    """Absolute error of erf below 1.5e-7, and nothing beyond 1."""
    x = X[np.abs(X) != 1e300].astype(np.float32)
    (expected,), (found,) = Erf().evaluate(x.astype(np.float64)), kernel(Erf(), x)

    np.testing.assert_allclose(expected, found, rtol=0, atol=1.5e-7)
    assert np.nanmax(np.abs(found)) <= 1


def test_inverse_is_right_in_all_ranges() -> None:
    """Centre, tail, far tail, ends and outside."""
    near_one = 1 - np.logspace(-16, -1, 200)
    x = np.concatenate([np.linspace(-1, 1, 2001), near_one, -near_one, [0.0, 2.0, math.nan]])
    (expected,), (found,) = Erfinv().evaluate(x), kernel(Erfinv(), x)

    np.testing.assert_allclose(expected, found, rtol=2e-15)
