import numpy as np
import pytest
from bound import BACKEND, Array, kernel, node_on

from byparts_opset.select import Select

RANDOM = np.random.default_rng(0)
C = RANDOM.integers(0, 2, (300, 400)).astype(bool)
X = RANDOM.normal(size=(300, 400)).astype(np.float32)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (X, X[::-1]),
        (X, np.zeros((), np.float32)),
        (X, np.full((), -0.0, np.float32)),
        (X, np.full((1, 1), np.nan, np.float32)),
        (np.zeros((), np.float32), X),
        (X[:1], X[:, :1]),
    ],
)
def test_select_by_bits_over_several_blocks(x: Array, y: Array) -> None:
    """Zeros have a shorter way; -0.0 and nan do not take it; rows and columns broadcast."""
    (z,) = kernel(Select(), C, x, y)

    np.testing.assert_array_equal(np.where(C, x, y).view(np.int32), z.view(np.int32))


def test_the_shorter_way_is_chosen_at_each_run() -> None:
    """The number beside may be another one by then."""
    y, z = np.zeros((), np.float32), np.empty_like(X)
    run = BACKEND.bind(node_on(Select(), C, X, y), [C, X, y], [z])
    run()
    np.testing.assert_array_equal(np.where(C, X, 0), z)

    y[...] = 5
    run()
    np.testing.assert_array_equal(np.where(C, X, 5), z)
