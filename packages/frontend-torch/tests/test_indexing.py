"""Several indices, or one that replaces a coordinate: each is checked for its own axis."""

from __future__ import annotations

import numpy as np
import pytest

from byparts_frontend_torch.aten.indexing import gather, index
from byparts_graph_ir import Graph, GraphError, Input, TensorType
from byparts_opset.evaluate import evaluate

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def picked(rows: list[int], columns: list[int]) -> np.ndarray:
    """X[rows, columns]."""
    x, i, j = Input(TensorType("f32", (3, 4))), *(Input(TensorType("i64", (2,))) for _ in "ij")
    graph = Graph.of((x, i, j), (index(x, [i, j]),))
    return evaluate(graph, X, np.array(rows), np.array(columns))[0]


def test_an_index_counts_from_the_end_where_it_is_negative() -> None:
    np.testing.assert_array_equal(picked([0, -1], [3, -4]), X[[0, -1], [3, -4]])


@pytest.mark.parametrize(
    ("rows", "columns", "axis"),
    [([0, 3], [0, 0], 0), ([0, -4], [0, 0], 0), ([0, 0], [0, 4], 1), ([1, 1], [0, -5], 1)],
)
def test_an_index_beyond_its_axis_is_not_one_of_the_next_row(
    rows: list[int], columns: list[int], axis: int
) -> None:
    with pytest.raises(GraphError, match=rf"at \[1\] is out of range for axis {axis}"):
        picked(rows, columns)


def test_a_coordinate_beyond_its_axis_is_refused() -> None:
    """Along axis 1, where row and column are one index."""
    x, at = Input(TensorType("f32", (3, 4))), Input(TensorType("i64", (3, 1)))
    graph = Graph.of((x, at), (gather(x, 1, at),))

    with pytest.raises(GraphError, match=r"gather: index 4 at \[0, 0\] is out of range for axis 1"):
        evaluate(graph, X, np.array([[4], [0], [0]]))
