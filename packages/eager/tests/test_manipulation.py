"""Arrays in other shapes, and sums along their axes: what is refused, and what is a view."""

from __future__ import annotations

import numpy as np
import pytest

import byparts_eager as bp
from byparts_graph_ir import GraphError, ShapeError

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_an_axis_that_is_not_there_is_an_index_error() -> None:
    with pytest.raises(IndexError, match="axis 3 of an array of 3 axes"):
        bp.expand_dims(bp.asarray(X), axis=3)
    with pytest.raises(IndexError, match="axis 2 of an array of 2 axes"):
        bp.moveaxis(bp.asarray(X), 2, 0)


def test_nothing_to_join_is_refused() -> None:
    with pytest.raises(ShapeError, match="there are no arrays"):
        bp.concat([])
    with pytest.raises(TypeError, match="no common dtype"):
        bp.stack([bp.asarray(1.0), bp.asarray(1)])


def test_repeats_that_are_traced_are_refused() -> None:
    """Their numbers are the shape."""
    with pytest.raises(GraphError, match="not known while the function is traced"):
        bp.compile(lambda x, n: bp.repeat(x, n))(X, np.array([2]))


def test_running_sums_need_an_axis_where_there_are_several() -> None:
    with pytest.raises(ShapeError, match=r"cumulative_sum: f32\[2,3\] has 2 axes; name one"):
        bp.cumulative_sum(bp.asarray(X))


def test_sums_of_integers_are_wide() -> None:
    x = bp.asarray([200, 100], dtype="u8")

    assert (bp.sum(x).dtype, int(bp.sum(x))) == ("i64", 300)
    assert bp.sum(x, dtype="u8").dtype == "u8"
    assert bp.prod(bp.asarray([True, True])).dtype == "i64"
    assert bp.sum(bp.asarray([1.0], dtype="f16")).dtype == "f16"


def test_products_of_vectors_count_axes_from_the_end() -> None:
    with pytest.raises(ShapeError, match="vecdot"):
        bp.vecdot(bp.asarray(X), bp.asarray(X), axis=0)
    with pytest.raises(ShapeError, match="axis 1 of"):
        bp.tensordot(bp.asarray(X), bp.asarray(X), axes=((1,), (0,)))
    with pytest.raises(ShapeError, match="0-d array is no matrix"):
        bp.matmul(bp.asarray(1.0), bp.asarray(X))
    with pytest.raises(ShapeError, match="is no matrix: it has 1 axes"):
        _ = bp.asarray([1.0]).mT


def test_arrays_without_elements_have_sums() -> None:
    x = bp.zeros((0, 3))

    assert bp.sum(x).numpy().tolist() == 0
    assert bp.prod(x, axis=0).numpy().tolist() == [1, 1, 1]
    assert (bool(bp.all(x)), bool(bp.any(x))) == (True, False)
    with pytest.raises(GraphError, match="max"):
        bp.max(x, axis=0)
