import numpy as np
import pytest
from numeric import call, check_gradient

from byparts_graph_ir import Input, ShapeError, TensorType
from byparts_opset.cumulative import CumProd, cumprod, cumsum, linear_recurrence


@pytest.mark.parametrize(
    ("exclusive", "reverse", "expected"),
    [
        (False, False, [1, 3, 6]),
        (True, False, [0, 1, 3]),
        (False, True, [6, 5, 3]),
        (True, True, [5, 3, 0]),
    ],
)
def test_running_sums(exclusive: bool, reverse: bool, expected: list[int]) -> None:
    """TensorFlow's four."""
    found = call(lambda x: cumsum(x, 0, exclusive, reverse), np.array([1, 2, 3], np.int32))

    np.testing.assert_array_equal(found, expected)


def test_half_types_accumulate_in_f32() -> None:
    """In f16 the sum of ones would stop at 2048."""
    assert np.float16(4096) == call(lambda x: cumsum(x, 0), np.ones(4096, np.float16))[-1]


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_gradient_of_products_is_right_where_factors_are_0(exclusive: bool, reverse: bool) -> None:
    """One zero, two of them, none."""
    x = np.array([[2.0, 0.0, 3.0, 4.0], [2.0, 0.0, 3.0, 0.0], [-1.0, 2.0, 0.5, 3.0]])

    check_gradient(CumProd(1, exclusive, reverse), x, unranked=True)


def test_running_products_of_integers_wrap() -> None:
    """As in NumPy."""
    found = call(lambda x: cumprod(x, 0), np.array([100, 3, 2], np.int8))

    np.testing.assert_array_equal(found, np.cumprod(np.array([100, 3, 2], np.int8), dtype=np.int8))


def test_discounted_returns() -> None:
    """r[i] = reward[i] + 0.5 * r[i + 1]."""
    found = call(
        lambda r: linear_recurrence(r * 0 + 0.5, r, 0, reverse=True),
        np.array([1.0, 0.0, 4.0], np.float32),
    )

    np.testing.assert_array_equal(found, [2, 2, 4])


def test_refusals() -> None:
    """An axis that is not there, and bools."""
    with pytest.raises(ShapeError, match="cumsum: axis 1 is out of range for rank 1"):
        cumsum(Input(TensorType("f32", (3,))), 1)
    with pytest.raises(ShapeError, match="cumsum: bool has no arithmetic"):
        cumsum(Input(TensorType("bool", (3,))), 0)
