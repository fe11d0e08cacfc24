import numpy as np
import pytest
from numeric import call, run

from byparts_graph_ir import Graph, GraphError, Input, ShapeError, TensorType, specialize
from byparts_opset.reshape import Reshape, expand_dims, flatten, reshape, squeeze
from byparts_opset.unary import exp

Dims = tuple[int | str | None, ...]


def f32(*shape: int | str | None) -> Input:
    return Input(TensorType("f32", shape))


@pytest.mark.parametrize(
    ("x", "target", "y"),
    [
        ((2, 3, 4), (8, 3), (8, 3)),
        ((2, 3, 4), (4, -1), (4, 6)),
        ((2, 3, 4), (-1,), (24,)),
        ((2, 3, 4), (1, -1, 1), (1, 24, 1)),
        ((1,), (), ()),
        (("n", 28, 28), (-1, 784), ("n", 784)),
        (("n", 28, 28), ("n", -1), ("n", 784)),
        (("n", 784), ("n", 28, -1), ("n", 28, 28)),
        ((None, 4), (-1, 2), (None, 2)),
        (("n", "m"), (-1,), ("m*n",)),
        (("n", "m", 3), ("m", -1), ("m", "3*n")),
        (("n", 6), (-1, 4), ("n+n//2", 4)),
        ((0, 4), (-1, 2), (0, 2)),
    ],
)
def test_nn_inf_reshape(x: Dims, target: tuple[int | str, ...], y: Dims) -> None:
    """-1 is what is left, as far as it can be known.

    NNVM's codes 0, -2, -3 and -4 (copy, merge, split dimensions) are names of dimensions here.
    """
    assert y == reshape(f32(*x), target).type.shape


def test_a_resolved_minus_one_survives_an_empty_batch() -> None:
    """[n,-1] of no rows could not be found out; [n,784] need not be."""
    x = f32("n", 28, 28)
    graph = Graph.of((x,), [reshape(x, ("n", -1))])

    assert specialize(graph, [f32(0, 28, 28).type]).outputs[0].type.shape == (0, 784)


def test_symbols_are_bound_with_the_inputs() -> None:
    """A shape may be written before the batch is known."""
    x = f32("n", 6)
    graph = Graph.of((x,), [Reshape(("n", 2, -1))(x)])

    assert [Reshape((5, 2, 3))] == [n.op for n in specialize(graph, [f32(5, 6).type]).nodes]
    assert run(Graph.of((x,), [reshape(x, ("n", 2, 3))]), np.zeros((5, 6), "f"))[0].shape == (
        5,
        2,
        3,
    )
    with pytest.raises(GraphError, match=r"the symbols of shape \('n', 'm'\) are not bound yet"):
        Reshape(("n", "m")).evaluate(np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("x", "target", "message"),
    [
        ((2, 3), (4,), r"reshape: f32\[2,3\] has 6 elements, shape \(4,\) has another number"),
        ((2, 3), (4, -1), r"reshape: f32\[2,3\] has 6 elements, not a multiple of shape \(4, -1\)"),
        ((2, 3), (-1, -1), r"reshape: shape \(-1, -1\) has -1 more than once"),
        ((2, 3), (-2, 3), r"reshape: shape \(-2, 3\) has -2"),
        ((0, 3), (0, -1), r"reshape: -1 could be anything in shape \(0, -1\)"),
        (("n", 3), ("n", 4), r"reshape: f32\[n,3\] has n\*3 elements"),
    ],
)
def test_shapes_that_do_not_fit(x: Dims, target: tuple[int | str, ...], message: str) -> None:
    """With the numbers."""
    with pytest.raises(ShapeError, match=message):
        reshape(f32(*x), target)


def test_nn_inf_flatten() -> None:
    """The first axis stays."""
    assert flatten(exp(f32(10, 20, 10) * 2)).type.shape == (10, 200)
    assert flatten(f32("n", 28, 28)).type.shape == ("n", 784)
    assert flatten(Input(TensorType("f32", None))).type.shape == (None, None)
    assert flatten(f32(5)).type.shape == (5, 1)
    with pytest.raises(ShapeError, match=r"flatten: x is f32\[\], which has no first axis"):
        flatten(f32())


@pytest.mark.parametrize("shape", [(0, 2, 3), (2, 0, 3)])
def test_flatten_of_nothing(shape: tuple[int, ...]) -> None:
    """Needs no -1, so it knows."""
    x = Input(TensorType("f32", None))
    graph = specialize(Graph.of((x,), [flatten(x)]), [TensorType("f32", shape)])

    assert [Reshape((shape[0], shape[1] * shape[2]))] == [n.op for n in graph.nodes]


def test_nn_inf_expand() -> None:
    """Two axes at 1 and at the end, counted in the result (NNVM ignored the number: N4)."""
    assert expand_dims(f32(10, 20), (1, 2)).type.shape == (10, 1, 1, 20)
    assert expand_dims(f32(10, 20), (-1, -2)).type.shape == (10, 20, 1, 1)
    assert expand_dims(f32(), 0).type.shape == (1,)
    with pytest.raises(ShapeError, match="expand_dims: axis 3 is out of range for rank 3"):
        expand_dims(f32(2, 3), 3)


def test_nn_inf_squeeze() -> None:
    """Some, or all of size 1; what may be 1 or not leaves the rank open."""
    assert squeeze(f32(1, 10, 1)).type.shape == (10,)
    assert squeeze(f32(1, 10, 1), 0).type.shape == (10, 1)
    assert squeeze(f32(1, 10, 1), -1).type.shape == (1, 10)
    assert squeeze(f32(1, 1)).type.shape == ()
    assert squeeze(f32("n", None), 1).type.shape == ("n",)
    assert squeeze(f32("n", 1)).type.shape is None
    with pytest.raises(ShapeError, match=r"squeeze: axis 1 of f32\[1,10\] is of size 10, not 1"):
        squeeze(f32(1, 10), 1)


def test_elements_keep_their_order() -> None:
    """Also those of a strided array."""
    x = np.arange(6, dtype=np.float32).reshape(2, 3).T

    np.testing.assert_array_equal(call(lambda v: reshape(v, (2, 3)), x), [[0, 3, 1], [4, 2, 5]])
