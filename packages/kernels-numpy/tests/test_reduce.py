from functools import partial

import numpy as np
import pytest
from bound import bound, kernel

from byparts_opset.reduce import Max, Mean, Sum

RANDOM = np.random.default_rng(5)


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((128, 256), (0,)),
        ((128, 256), (1,)),
        ((8, 16, 7, 7), (0, 2, 3)),
        ((8, 7, 7, 16), (0, 1, 2)),
        ((8, 20, 30), (1,)),
        ((4, 1, 5, 1), (1, 3)),
        ((5, 4, 3, 2), (1, 3)),
        ((3, 5000), (1,)),
        ((5000, 1), (0,)),
    ],
)
@pytest.mark.parametrize("keepdims", [False, True])
def test_sums_of_the_shapes_that_gradients_have(
    shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool
) -> None:
    """Biases of dense layers and of convolutions in both layouts, attention, long rows."""
    x = RANDOM.normal(size=shape).astype(np.float32)
    exact = x.astype(np.float64).sum(axes, keepdims=keepdims)

    (total,), (mean,) = kernel(Sum(axes, keepdims), x), kernel(Mean(axes, keepdims), x)

    np.testing.assert_allclose(total, exact, rtol=1e-5, atol=2e-4)
    np.testing.assert_allclose(mean, exact * mean.size / x.size, rtol=1e-5, atol=1e-6)


def test_one_matrix_product_is_one_call() -> None:
    """The bias of a dense layer costs no Python beside it."""
    run = bound(Sum((0,)), np.ones((128, 256), np.float32))

    assert isinstance(run, partial)
    assert run.func is np.matmul


def test_sums_pass_infinities_and_nan_on() -> None:
    """A product with ones leaves them what they are."""
    x = np.array([[np.inf, -np.inf, np.nan, 1], [np.inf, np.inf, 1, 1]], np.float32)

    (y,) = kernel(Sum((0,)), x)

    np.testing.assert_array_equal(y, np.array([np.inf, np.nan, np.nan, 2]))


def test_integers_wrap() -> None:
    """In their own dtype."""
    (y,) = kernel(Sum((0,)), np.full((2, 1), 100, np.int8))

    np.testing.assert_array_equal(y, [-56])


def test_maxima_of_nan() -> None:
    """Are nan."""
    x = np.array([[1, np.nan], [2, 3]], np.float32)

    (y,) = kernel(Max((1,)), x)

    np.testing.assert_array_equal(y, np.array([np.nan, 3]))
