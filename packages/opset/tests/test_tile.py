import numpy as np
import pytest
from numeric import call

from byparts_graph_ir import Input, ShapeError, TensorType
from byparts_opset.axes import tile


def test_copies_stand_side_by_side() -> None:
    """Along each axis."""
    found = call(lambda x: tile(x, (2, 2)), np.array([[1, 2]], np.int32))

    np.testing.assert_array_equal(found, [[1, 2, 1, 2], [1, 2, 1, 2]])


def test_one_number_for_each_axis() -> None:
    """Not one more, which NumPy would take."""
    with pytest.raises(
        ShapeError, match=r"one number of copies for each axis, got \(2, 2\) for f32"
    ):
        tile(Input(TensorType("f32", (3,))), (2, 2))
