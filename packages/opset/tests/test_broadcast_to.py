import numpy as np
import pytest
from numeric import call

from byparts_graph_ir import Graph, Input, ShapeError, TensorType, specialize
from byparts_opset.axes import BroadcastTo, broadcast_to


def f32(*shape: int | str | None) -> Input:
    return Input(TensorType("f32", shape))


def test_nn_inf_bcast() -> None:
    """What NNVM writes 0, the dimension of x, is -1 here: 0 is a size."""
    assert broadcast_to(f32(4, 1), (-1, 4)).type.shape == (4, 4)
    assert broadcast_to(f32(5, 1, 1), (5, 4, 4)).type.shape == (5, 4, 4)
    assert broadcast_to(f32(1, 4), (0, 4)).type.shape == (0, 4)
    assert broadcast_to(f32(3), ("n", 3)).type.shape == ("n", 3)
    assert broadcast_to(Input(TensorType("f32", None)), (-1, 4)).type.shape == (None, 4)


def test_symbols_are_bound_with_the_inputs() -> None:
    """A shape that names the batch of another input."""
    x, y = f32(3), f32("n")
    graph = Graph.of((x, y), [broadcast_to(x, ("n", 3))])

    assert [BroadcastTo((5, 3))] == [n.op for n in specialize(graph, [None, f32(5).type]).nodes]


def test_values() -> None:
    """Rows repeat."""
    found = call(lambda x: broadcast_to(x, (2, 2, -1)), np.array([[1], [2]], np.int32))

    np.testing.assert_array_equal(found, [[[1], [2]], [[1], [2]]])


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((2, 4), r"f32\[2,3\] does not broadcast to \(2, 4\): 3 meets 4"),
        ((3,), r"shape \(3,\) has fewer axes than x: x is f32\[2,3\]"),
        ((-1, 2, 3), r"shape \(-1, 2, 3\) keeps a dimension that x does not have"),
    ],
)
def test_refusals(shape: tuple[int, ...], message: str) -> None:
    """With both shapes."""
    with pytest.raises(ShapeError, match=message):
        broadcast_to(f32(2, 3), shape)
