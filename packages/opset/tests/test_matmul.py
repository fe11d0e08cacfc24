"""Products of matrices against sums written out."""

import numpy as np
import pytest
from numeric import Array, call, check_gradient, present, type_of

from byparts_graph_ir import Dimension, Input, ShapeError, TensorType
from byparts_opset.matmul import MatMul, matmul

RANDOM = np.random.default_rng(0)
FLAGS = [(False, False), (False, True), (True, False), (True, True)]


def f32(*shape: Dimension) -> Input:
    return Input(TensorType("f32", shape))


def written_out(a: Array, b: Array) -> Array:
    """Entry by entry; two matrices."""
    y = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for i, k, j in np.ndindex(a.shape[0], a.shape[1], b.shape[1]):
        y[i, j] += a[i, k] * b[k, j]
    return y


@pytest.mark.parametrize(("ta", "tb"), FLAGS)
def test_flags_say_how_operands_are_stored(ta: bool, tb: bool) -> None:
    """The product is that of the matrices the flags stand for."""
    a, b = RANDOM.normal(size=(2, 3)), RANDOM.normal(size=(3, 4))
    stored_a, stored_b = a.T if ta else a, b.T if tb else b

    y = call(lambda *v: matmul(*v, transpose_a=ta, transpose_b=tb), stored_a, stored_b)

    np.testing.assert_allclose(written_out(a, b), y)


@pytest.mark.parametrize(("ta", "tb"), FLAGS)
def test_nn_inf_matmul_shapes_with_flags(ta: bool, tb: bool) -> None:
    """(10, 20) by (20, 30), and under two batch axes (NNVM's matmul, NN-INF-matmul)."""
    a, b = (20, 10) if ta else (10, 20), (30, 20) if tb else (20, 30)

    assert MatMul(ta, tb)(f32(*a), f32(*b)).type.shape == (10, 30)
    assert MatMul(ta, tb)(f32(5, 1, *a), f32(7, *b)).type.shape == (5, 7, 10, 30)


def test_batch_axes_broadcast() -> None:
    """Each matrix of a meets its one of b; axes of size 1 repeat."""
    a, b = RANDOM.normal(size=(3, 1, 2, 4)), RANDOM.normal(size=(5, 4, 2))
    y = call(matmul, a, b)

    np.testing.assert_allclose(written_out(a[2, 0], b[3]), y[2, 3])


def test_integers_wrap_around_in_their_dtype() -> None:
    """100 * 2 + 100 * 2 is -112 as i8."""
    y = call(matmul, np.full((1, 2), 100, np.int8), np.full((2, 1), 2, np.int8))

    assert np.int8 == y.dtype
    assert y[0, 0] == -112


def test_no_inner_elements_give_zeros() -> None:
    """A sum of nothing is 0."""
    np.testing.assert_array_equal(np.zeros((2, 3)), call(matmul, np.ones((2, 0)), np.ones((0, 3))))


@pytest.mark.parametrize(("ta", "tb"), FLAGS)
@pytest.mark.parametrize(
    ("lead_a", "lead_b"), [((), ()), ((2,), ()), ((2, 1), (3,)), ((), (2,))], ids=str
)
def test_gradients(ta: bool, tb: bool, lead_a: tuple[int, ...], lead_b: tuple[int, ...]) -> None:
    """For all flags, with batch axes that broadcast, on static, symbolic and unknown shapes."""
    a = RANDOM.normal(size=(*lead_a, *((4, 3) if ta else (3, 4))))
    b = RANDOM.normal(size=(*lead_b, *((2, 4) if tb else (4, 2))))

    check_gradient(MatMul(ta, tb), a, b, unranked=True)


def test_gradient_where_a_name_stands_for_a_number() -> None:
    """A sum of [n,1,3] and [n,1,k] takes it that k is 3, and its gradient is named."""
    w = f32(2, 3)
    node = present(matmul(f32("n", 1, 2), w).node)
    dw = present(node.op.gradient(node, f32("n", 1, "k"))[1])

    assert dw.type.rank == w.type.rank


def test_gradient_of_a_dense_layer_is_one_product() -> None:
    """Not one product for each element of the batch, summed afterwards; also on a batch unknown."""
    x, w = f32("n", 5, 3), f32(3, 2)
    y = matmul(x, w)
    node = present(y.node)
    dw = present(node.op.gradient(node, Input(y.type))[1])

    assert str(dw.type) == "f32[3,2]"
    assert present(dw.node).inputs[0].type.rank == 2


def test_shapes_are_known_as_far_as_they_can_be() -> None:
    """Symbols stay, unknown meets known without an error, and the rule runs backwards."""
    assert str(matmul(f32("n", 784), f32(784, 10)).type) == "f32[n,10]"
    assert str(matmul(f32(None, "k"), f32(5, 10)).type) == "f32[?,10]"
    assert str(matmul(Input(TensorType("f32", None)), f32(5, 10)).type) == "f32[...]"
    x, w, y = (
        TensorType("f32", ("n", 784)),
        TensorType("f32", (None, None)),
        TensorType("f32", (None, 10)),
    )
    assert str(MatMul().infer_inputs((x, w), (y,))[1]) == "f32[784,10]"
    assert str(MatMul(transpose_b=True).infer_inputs((x, w), (y,))[1]) == "f32[10,784]"


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (
            ((32, 784), (768, 10)),
            r"inner dimensions differ: a is f32\[32,784\] and b is f32\[768,10\], so 784 meets 768",
        ),
        (((32, 784), (10, 784)), "try transpose_b=True"),
        (((3,), (3, 2)), r"takes matrices, got f32\[3\] of rank 1; einsum"),
        (((2, 3, 4), (3, 4, 5)), "shapes do not broadcast"),
    ],
)
def test_what_does_not_fit_is_named(shapes: tuple[tuple[int, ...], ...], message: str) -> None:
    """With the shapes that were given, and what to try."""
    with pytest.raises(ShapeError, match=message):
        matmul(*(f32(*s) for s in shapes))


def test_dtypes_are_not_promoted() -> None:
    """Two dtypes are an error, and bools have no arithmetic."""
    ones = np.ones((2, 2))
    with pytest.raises(ShapeError, match="dtypes differ: f64"):
        matmul(Input(type_of(ones)), f32(2, 2))
    with pytest.raises(ShapeError, match="bool has no arithmetic"):
        call(matmul, ones > 0, ones > 0)
