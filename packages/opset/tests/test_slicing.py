from types import EllipsisType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numeric import call, check_gradient, run

from byparts_graph_ir import Graph, Input, ShapeError, TensorType, Value, producers, specialize
from byparts_opset.slicing import Slice, SliceGradient

BOUND = st.none() | st.integers(-7, 7)
SLICE = st.builds(slice, BOUND, BOUND, st.none() | st.sampled_from([-3, -2, -1, 1, 2, 3]))
X = np.arange(60, dtype=np.float64).reshape(3, 4, 5)


def f32(*shape: int | str | None) -> Input:
    return Input(TensorType("f32", shape))


def ops(y: Value) -> list[Any]:
    return [node.op for node in producers([y])]


@given(st.lists(SLICE, max_size=3))
def test_slices_are_those_of_numpy(slices: list[slice]) -> None:
    """Clamped, with steps of both signs; also once specialised, and the bytes a view says."""
    index = tuple(slices)
    x = Input(TensorType("f64", (None, "n", 5)))
    graph = specialize(Graph.of((x,), [x[index]]), [TensorType("f64", X.shape)])
    expected = X[index]

    np.testing.assert_array_equal(call(lambda v: v[index], X), expected)
    np.testing.assert_array_equal(run(graph, X)[0], expected)
    for node in graph.nodes:
        for _, _, offset in node.op.views(TensorType("f64", X.shape)):
            assert expected.tobytes() == X.tobytes()[offset : offset + expected.nbytes]


@given(st.lists(SLICE, min_size=1, max_size=3))
def test_the_gradient_in_parts_is_the_gradient(slices: list[slice]) -> None:
    """Reversed, spread and padded."""
    steps = tuple(s.step or 1 for s in slices)
    op = SliceGradient(tuple(s.start for s in slices), tuple(s.stop for s in slices), steps)
    dy = 1 + np.arange(X[tuple(slices)].size, dtype=np.float64).reshape(X[tuple(slices)].shape)
    inputs = Input(TensorType("f64", dy.shape)), Input(TensorType("f64", X.shape))

    (found,) = run(Graph.of(inputs, op.decompose(*inputs) or ()), dy, X)

    np.testing.assert_array_equal(found, op.evaluate(dy, X)[0])


@pytest.mark.parametrize(
    "index",
    [
        *(0, -1, (1, 2, 3), (..., 0), (0, ..., -1), (None, 1), (..., None), (None, ..., None)),
        *((slice(1, 3), None, 0), (0, None, slice(None), None, -2), np.int64(2), (), ...),
    ],
)
def test_indices_are_those_of_numpy(index: int | tuple[Any, ...] | EllipsisType) -> None:
    """Ints drop an axis, None makes one."""
    np.testing.assert_array_equal(call(lambda v: v[index], X), X[index])


def test_an_index_of_values_gathers() -> None:
    """Rows of x, in the shape of the indices."""
    rows = np.array([[2, 0], [0, 1]], np.int32)

    np.testing.assert_array_equal(call(lambda v, i: v[i], X, rows), X[rows])


def test_whole_slices_make_no_node() -> None:
    """Nothing to do is nothing in the graph."""
    x = f32(2, 3)

    assert x is x[:]
    assert x is x[..., :]


def test_specialize_writes_a_slice_one_way() -> None:
    """Clamped bounds, a step of 1 where one element is taken, whole axes left out."""
    x = Input(TensorType("f32", (None, None)))

    def known(*index: slice) -> list[Any]:
        graph = specialize(Graph.of((x,), [x[index]]), [TensorType("f32", (4, 6))])
        return [n.op for n in graph.nodes]

    assert known(slice(0, 9), slice(-6, None)) == []
    assert [Slice((1,), (4,))] == known(slice(-3, 100), slice(0, 6))
    assert [Slice((2,), (3,))] == known(slice(2, 4, 5))
    assert [Slice((None, 5), (None, None), (1, -5))] == known(slice(None), slice(None, None, -5))
    assert [Slice((0,), (0,))] == known(slice(3, 1))


def test_what_is_known_of_unknown_dimensions() -> None:
    """What stays whole keeps its name; bounds are clipped as in NumPy."""
    x = f32("n", "m")
    assert x[:, 1:].type.shape == ("n", "max(m-1,0)")
    assert x[:512, -3:].type.shape == ("min(n,512)", "min(m,3)")
    assert x[1:-2, ::2].type.shape == ("max(n-3,0)", "(m+1)//2")
    assert x[::-2].type.shape == (None, "m")
    assert f32("n", 5)[::-1, 1:3].type.shape == ("n", 2)
    assert f32("n", 3)[0].type.shape == (3,)
    assert Input(TensorType("f32", None))[0, 1:].type.shape is None


def test_runs_of_bytes_are_views() -> None:
    """Single rows, then a run, then whole axes."""
    x = TensorType("f32", (3, 4, 5))

    assert Slice((1,), (3,)).views(x) == ((0, 0, 80),)
    assert Slice((1, 1), (2, 3)).views(x) == ((0, 0, 100),)
    assert Slice((2, 3, 3), (3, 4, 5)).views(x) == ((0, 0, 232),)
    assert Slice((0, 1), (2, 3)).views(x) == ()
    assert Slice((0,), (3,), (2,)).views(x) == ()
    assert Slice((0, 0), (2, 1)).views(x) == ()


@pytest.mark.parametrize("op", [Slice((-2, None), (None, 1), (1, -1)), Slice((2,), (0,), (-1,))])
def test_gradients(op: Slice) -> None:
    """Scattered back; and the gradient of that is the slice."""
    x = np.random.default_rng(0).normal(size=(3, 4))
    (part,) = op.evaluate(x)

    check_gradient(op, x, unranked=True)
    check_gradient(SliceGradient(op.starts, op.stops, op.steps), part, x, unranked=True)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (3, r"getitem: index 3 is out of range for axis 0 of f32\[3,2\]"),
        ((0, -3), r"getitem: index -3 is out of range for axis 1 of f32\[3,2\]"),
        ((0, 0, 0), r"getitem: 3 indices of f32\[3,2\], which is of rank 2"),
        ((..., 0, ...), r"getitem: more than one \.\.\."),
        (True, r"getitem: True in an index of f32\[3,2\]; takes ints, slices"),
        (1.5, r"getitem: 1\.5 in an index of f32\[3,2\]"),
        ((slice(0, 1, 0),), r"slice: starts \(0,\), stops \(1,\) and steps \(0,\) are no slices"),
        ((0, Input(TensorType("i32", (2,)))), r"getitem: i32\[2\] in an index of f32\[3,2\]"),
    ],
)
def test_refusals(index: Any, message: str) -> None:
    """With what was given."""
    with pytest.raises(ShapeError, match=message):
        f32(3, 2)[index]


def test_dots_of_an_unknown_rank() -> None:
    """Cannot be told where something follows them."""
    with pytest.raises(ShapeError, match=r"getitem: the rank of f32\[\.\.\.\] is not known"):
        Input(TensorType("f32", None))[..., 0]
