"""Sorting, picking along an axis, searching: values of NumPy, gradients of differences."""

from typing import Literal

import numpy as np
import pytest
from numeric import call, check_gradient

import byparts_opset as ops
from byparts_graph_ir import GraphError, Input, ShapeError, TensorType
from byparts_opset.dtypes import Array

X: Array = np.array([[3, np.nan, 1, 3], [0, -1, np.inf, 0]], np.float32)


def test_nan_counts_as_the_greatest() -> None:
    """Last in rising order, first in falling order."""
    rising = call(ops.sort, X)

    np.testing.assert_array_equal(rising, np.sort(X))
    np.testing.assert_array_equal(call(lambda x: ops.sort(x, 1, True), X), rising[:, ::-1])


def test_of_equals_the_first_comes_first_either_way() -> None:
    """Indices of falling order are not those of rising order turned round."""
    np.testing.assert_array_equal(call(ops.argsort, X), [[2, 0, 3, 1], [1, 0, 3, 2]])
    falling = call(lambda x: ops.argsort(x, descending=True), X)

    np.testing.assert_array_equal(falling, [[1, 0, 3, 2], [2, 0, 3, 1]])


@pytest.mark.parametrize("descending", [False, True])
def test_gradient_of_sort_goes_back_to_the_places(descending: bool) -> None:
    """Along any axis, of any rank."""
    x = np.random.default_rng(0).permutation(24).reshape(2, 3, 4).astype(np.float64)

    check_gradient(ops.Sort(1, descending), x, unranked=True)


def test_take_along_axis_is_that_of_numpy() -> None:
    """Axes of size 1 are repeated on either side."""
    at = np.array([[1, 0, 3]])
    found = call(lambda x, i: ops.take_along_axis(x, i, 1), X, at)
    of_one = call(lambda x, i: ops.take_along_axis(x, i, 1), X[:1], np.array([[1], [2]]))

    np.testing.assert_array_equal(found, np.take_along_axis(X, at, 1))
    np.testing.assert_array_equal(of_one, [[np.nan], [1]])


def test_an_index_out_of_range_is_an_error() -> None:
    """In the words of the op, with the place."""
    with pytest.raises(GraphError, match=r"take_along_axis: index 4 at \[0, 1\] is out of range"):
        call(lambda x, i: ops.take_along_axis(x, i, 1), X, np.array([[0, 4], [0, 0]]))
    with pytest.raises(ShapeError, match=r"have one rank: x is f32\[2\], indices are i32\[2,1\]"):
        ops.take_along_axis(Input(TensorType("f32", (2,))), Input(TensorType("i32", (2, 1))), 0)


def test_equal_indices_add_up() -> None:
    """And what no index names is 0."""
    found = call(
        lambda i, u: ops.add_along_axis(i, u, ops.constant(X), 1),
        np.array([[0, 0, 2], [3, 3, 3]]),
        np.array([[1, 2, 4], [8, 16, 32]], np.int32),
    )

    np.testing.assert_array_equal(found, [[3, 0, 4, 0], [0, 0, 0, 56]])


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_is_that_of_numpy(side: Literal["left", "right"]) -> None:
    """With a sorter, and for each row its own."""
    row = np.array([4, 1, 3, 3], np.float32)
    order = np.argsort(row)
    x = np.array([[0, 3, 9], [np.nan, 1, 3.5]], np.float32)
    found = call(lambda r, x, s: ops.searchsorted(r, x, side, s), row, x, order)
    rows = np.stack([np.sort(row), np.arange(4, dtype=np.float32)])
    each = call(lambda r, x: ops.searchsorted(r, x, side), rows, x)

    np.testing.assert_array_equal(found, np.searchsorted(row[order], x, side))
    np.testing.assert_array_equal(each[1], np.searchsorted(rows[1], x[1], side))


def test_what_cannot_be_searched_is_refused() -> None:
    """Another side, a row without axes."""
    x = Input(TensorType("f32", (3,)))
    with pytest.raises(ShapeError, match="side is 'up'; it is 'left' or 'right'"):
        ops.searchsorted(x, x, "up")
    with pytest.raises(ShapeError, match=r"a row is \[n\], or \[..., n\] beside an x \[..., m\]"):
        ops.searchsorted(Input(TensorType("f32", ())), x)


@pytest.mark.parametrize(("repeats", "axis"), [(2, None), (3, 0), (0, -1), ((2, 0), 0)])
def test_repeat_is_that_of_numpy(repeats: int, axis: int | None) -> None:
    """One number for all slices, or one for each."""
    found = call(lambda x: ops.repeat(x, repeats, axis), X)

    np.testing.assert_array_equal(found, np.repeat(X, repeats, axis))


def test_repeat_of_a_named_dimension_has_a_name() -> None:
    """So that it is compiled once."""
    assert ops.repeat(Input(TensorType("f32", ("n", 2))), 3, 0).type.shape == ("3*n", 2)
    with pytest.raises(ShapeError, match=r"one for each of the 2 slices along axis 0, got \(1,\)"):
        ops.repeat(Input(TensorType("f32", (2,))), (1,), 0)
