import numpy as np
import pytest
from numeric import check_gradient

from byparts_graph_ir import Input, ShapeError, TensorType
from byparts_opset.argmax import TopK, top_k
from byparts_opset.dtypes import Array


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, np.uint8])
def test_falling_order_with_the_first_of_equals_first(dtype: type) -> None:
    """Whatever the dtype's least number is."""
    x: Array = np.array([[3, 7, 7, 0], [1, 1, 1, 1]], dtype)

    values, indices = TopK(3).evaluate(x)

    np.testing.assert_array_equal(values, np.array([[7, 7, 3], [1, 1, 1]], dtype))
    np.testing.assert_array_equal(indices, [[1, 2, 0], [0, 1, 2]])


def test_nan_counts_as_greatest() -> None:
    """So that it is seen."""
    values, indices = TopK(2).evaluate(np.array([1, np.nan, 5], np.float32))

    np.testing.assert_array_equal(values, [np.nan, 5])
    np.testing.assert_array_equal(indices, [1, 2])


def test_gradient_goes_to_the_places_found() -> None:
    """Row by row, at any rank."""
    x = np.random.default_rng(0).permutation(24).reshape(2, 3, 4).astype(np.float64)

    check_gradient(TopK(2), x, unranked=True)


def test_refusals() -> None:
    """More than there are, no axis, no order."""
    with pytest.raises(ShapeError, match=r"top_k: there are no 4 elements along the last axis of"):
        top_k(Input(TensorType("f32", (2, 3))), 4)
    with pytest.raises(ShapeError, match=r"top_k: x is f32\[\], which has no axis"):
        top_k(Input(TensorType("f32", ())), 1)
    with pytest.raises(ShapeError, match=r"top_k: bool has no order"):
        top_k(Input(TensorType("bool", (3,))), 1)
