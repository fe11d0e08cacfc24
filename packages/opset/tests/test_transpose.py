import numpy as np
import pytest
from numeric import call, run

from byparts_graph_ir import Graph, Input, ShapeError, TensorType, specialize
from byparts_opset.axes import Transpose, transpose


def f32(*shape: int | str | None) -> Input:
    return Input(TensorType("f32", shape))


def test_nn_inf_transpose() -> None:
    """Unknown dimensions move like others."""
    assert transpose(f32(1, 3, 4), (-1, 0, 1)).type.shape == (4, 1, 3)
    assert transpose(f32("n", 2, "m")).type.shape == ("m", 2, "n")
    assert transpose(f32(None, 3, 5), (2, 0, 1)).type.shape == (5, None, 3)
    assert transpose(Input(TensorType("f32", None)), (1, 0)).type.shape == (None, None)


def test_the_gradient_undoes_the_permutation() -> None:
    """By its inverse: NNVM moved the axes on (defect N4), which a rotation of three shows."""
    x, dy = f32(2, 3, 4), f32(3, 4, 2)
    (dx,) = Transpose((1, 2, 0)).gradient(transpose(x, (1, 2, 0)).node, dy)  # type: ignore[arg-type]
    data = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)

    (found,) = run(Graph.of((dy,), [dx]), data.transpose(1, 2, 0))  # type: ignore[list-item]

    np.testing.assert_array_equal(found, data)


def test_moving_axes_of_size_one_moves_no_bytes() -> None:
    """A view; a real transposition is none."""
    assert Transpose((0, 2, 1)).views(TensorType("f32", (2, 1, 3))) == ((0, 0, 0),)
    assert Transpose().views(TensorType("f32", (2, 3))) == ()


def test_specialize_writes_a_permutation_one_way() -> None:
    """Or not at all."""
    x = Input(TensorType("f32", None))
    same, turned = (Graph.of((x,), [transpose(x, p)]) for p in ((0, 1), (-1, -2)))

    assert [n.op for n in specialize(same, [f32(2, 3).type]).nodes] == []
    assert [Transpose()] == [n.op for n in specialize(turned, [f32(2, 3).type]).nodes]


def test_what_is_known_of_the_output_is_known_of_the_input() -> None:
    """The rule backwards."""
    (x,) = Transpose((1, 2, 0)).infer_inputs((TensorType("f32", None),), (f32(3, 4, 2).type,))

    assert x.shape == (2, 3, 4)


def test_refusals() -> None:
    """Twice the same axis, too few of them."""
    with pytest.raises(ShapeError, match=r"transpose: \(0, 0\) is no permutation"):
        transpose(f32(2, 3), (0, 0))
    with pytest.raises(ShapeError, match=r"permutation \(1, 0\) is of 2 axes, x is f32\[2,3,4\]"):
        transpose(f32(2, 3, 4), (1, 0))


def test_0d() -> None:
    """Has no axes to move."""
    assert np.float32(3) == call(transpose, np.float32(3))
