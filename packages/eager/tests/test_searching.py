"""Extremes, choices and sets of values."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest

import byparts_eager as bp
from byparts_graph_ir import GraphError

X = np.array([[3.0, -0.0, 1.0], [0.0, 3.0, nan]], np.float32)


def test_where_takes_numbers() -> None:
    c = bp.asarray([True, False])

    assert bp.where(c, 1.0, bp.asarray([2, 3], dtype="f64")).numpy().tolist() == [1.0, 3.0]
    assert bp.where(c, 1.0, 0.0).dtype == "f32"
    assert bp.where(c, bp.asarray([True, True]), False).numpy().tolist() == [True, False]
    with pytest.raises(GraphError, match="the condition is"):
        bp.where(bp.asarray([1.0]), 1.0, 0.0)


def test_each_nan_is_a_value_of_its_own() -> None:
    x = bp.asarray([nan, 1.0, nan])

    assert bp.unique_values(x).size == 3
    assert bp.unique_counts(x).counts.numpy().tolist() == [1, 1, 1]


def test_inverse_indices_have_the_shape_of_x() -> None:
    x = bp.asarray([[3, 1], [1, 2]])
    values, indices, inverse, counts = bp.unique_all(x)

    assert values.numpy().tolist() == [1, 2, 3]
    assert (indices.numpy().tolist(), counts.numpy().tolist()) == ([1, 3, 0], [2, 1, 1])
    np.testing.assert_array_equal(values.numpy()[inverse.numpy()], x.numpy())
    assert bp.unique_inverse(x).inverse_indices.shape == (2, 2)


def test_places_of_what_is_not_zero() -> None:
    """-0.0 is zero, nan is not."""
    rows, columns = bp.nonzero(bp.asarray(X))

    assert (rows.numpy().tolist(), columns.numpy().tolist()) == ([0, 0, 1, 1], [0, 2, 1, 2])
    assert int(bp.count_nonzero(bp.asarray(X))) == 4
    with pytest.raises(GraphError, match="has no axes"):
        bp.nonzero(bp.asarray(1.0))


def test_falling_order_keeps_the_order_of_equals() -> None:
    x = bp.asarray([1, 3, 1, 2])

    assert bp.sort(x, descending=True).numpy().tolist() == [3, 2, 1, 1]
    assert bp.argsort(x, descending=True).numpy().tolist() == [1, 3, 0, 2]


def test_extremes_find_the_first_nan() -> None:
    assert int(bp.argmax(bp.asarray(X))) == int(np.argmax(X)) == 5
    assert bp.argmin(bp.asarray(X), axis=0, keepdims=True).shape == (1, 3)
