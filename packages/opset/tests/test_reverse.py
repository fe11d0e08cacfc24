import numpy as np
import pytest
from numeric import call

from byparts_graph_ir import Graph, Input, ShapeError, TensorType, specialize
from byparts_opset.axes import Reverse, reverse


def test_order_turns_round() -> None:
    """Along the axes named."""
    x = np.arange(6).reshape(2, 3)

    np.testing.assert_array_equal(call(lambda v: reverse(v, -1), x), [[2, 1, 0], [5, 4, 3]])
    np.testing.assert_array_equal(call(lambda v: reverse(v, (0, 1)), x), [[5, 4, 3], [2, 1, 0]])


def test_axes_of_one_element_stay_as_they_are() -> None:
    """Known once the shape is."""
    x = Input(TensorType("f32", None))
    graph = Graph.of((x,), [reverse(x, (-1, 0))])

    assert [Reverse((1,))] == [n.op for n in specialize(graph, [TensorType("f32", (1, 3))]).nodes]
    assert specialize(graph, [TensorType("f32", (1, 0))]).nodes == ()


def test_refusals() -> None:
    """An axis that is not there."""
    with pytest.raises(ShapeError, match="reverse: axis 2 is out of range for rank 2"):
        reverse(Input(TensorType("f32", (2, 3))), 2)
