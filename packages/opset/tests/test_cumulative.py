import numpy as np
import pytest
from numeric import call

from byparts_graph_ir import Input, ShapeError, TensorType
from byparts_opset.cumulative import cumsum


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


def test_refusals() -> None:
    """An axis that is not there, and bools."""
    with pytest.raises(ShapeError, match="cumsum: axis 1 is out of range for rank 1"):
        cumsum(Input(TensorType("f32", (3,))), 1)
    with pytest.raises(ShapeError, match="cumsum: bool has no arithmetic"):
        cumsum(Input(TensorType("bool", (3,))), 0)
