import numpy as np
import pytest
from numeric import call, run

from byparts_graph_ir import Graph, Input, ShapeError, TensorType
from byparts_opset.argmax import ArgMin, argmax, argmin
from byparts_opset.dtypes import Array, numpy_dtype


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, np.int64])
def test_the_first_of_equals(dtype: type) -> None:
    """As i64, along an axis or through all."""
    x: Array = np.array([[1, 5, 5], [0, 0, 5]], dtype)

    np.testing.assert_array_equal(call(lambda v: argmax(v, 1), x), [1, 2])
    np.testing.assert_array_equal(call(lambda v: argmin(v, 0, keepdims=True), x), [[1, 1, 0]])
    assert np.int64(1) == call(argmax, x)


def test_nan_is_found_first() -> None:
    """By both, as in NumPy."""
    x = np.array([3, np.nan, 9, np.nan], np.float32)

    assert call(argmax, x) == call(argmin, x) == 1


@pytest.mark.parametrize(
    ("dtype", "least", "greatest"),
    [("u8", 0, 255), ("i8", -128, 127), ("i32", -(2**31), 2**31 - 1), ("f32", -np.inf, np.inf)],
)
def test_argmin_in_parts_survives_the_ends_of_the_range(
    dtype: str, least: float, greatest: float
) -> None:
    """-x overflows there."""
    x = Input(TensorType(dtype, (4,)))
    parts = Graph.of((x,), ArgMin().decompose(x) or ())

    (found,) = run(parts, np.array([1, greatest, least, 2], numpy_dtype(dtype)))

    assert found == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x: argmax(x, 0), r"argmax: there is none of no elements: x is f32\[0,2\]"),
        (lambda x: argmin(x), r"argmin: there is none of no elements"),
        (lambda x: argmax(x, 2), r"argmax: axis 2 is out of range for rank 2"),
    ],
)
def test_refusals(make: type, message: str) -> None:
    """Nothing has no greatest element."""
    with pytest.raises(ShapeError, match=message):
        make(Input(TensorType("f32", (0, 2))))
