from __future__ import annotations

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import Graph, GraphError, Input, TensorType
from byparts_opset.evaluate import evaluate


def typed(dtype: str, *shape: int) -> Input:
    return Input(TensorType(dtype, shape))


def test_rows_move_once_for_each_index() -> None:
    """Index 4 is out of range, and so is -1; row 0 stays."""
    w = np.ones((4, 2), np.float32)
    dw = np.arange(10, dtype=np.float32).reshape(5, 2)
    (y,) = ops.DescendRows().evaluate(w, np.array([3, 1, 3, 4, -1]), dw, np.float32(0.5))

    assert y.tolist() == [[1, 1], [0, -0.5], [1, 1], [-1, -2]]


def test_what_it_is_made_of_gives_the_same() -> None:
    w, indices, dw, rate = typed("f32", 3, 2), typed("i32", 4), typed("f32", 4, 2), typed("f32")
    parts = ops.DescendRows().decompose(w, indices, dw, rate)
    rng = np.random.default_rng(0)
    arrays = [
        rng.standard_normal((3, 2)),
        np.array([2, 5, 2, -3]),
        rng.standard_normal((4, 2)),
        0.3,
    ]
    given = [np.asarray(a, t) for a, t in zip(arrays, ("f4", "i4", "f4", "f4"), strict=True)]
    (wanted,) = ops.DescendRows().evaluate(*given)

    np.testing.assert_allclose(
        evaluate(Graph.of([w, indices, dw, rate], parts), *given)[0], wanted, rtol=1e-6
    )


def test_a_table_of_no_rows_stays() -> None:
    w = typed("f32", 0, 2)

    assert ops.DescendRows().decompose(w, typed("i32", 1), typed("f32", 1, 2), typed("f32")) == (w,)


@pytest.mark.parametrize(
    ("types", "words"),
    [
        (("f32 3 2", "i32 2 2", "f32 2 2", "f32"), r"indices i32\[2,2\]; they are of rows"),
        (("f32 3 2", "i32 4", "f32 4 3", "f32"), r"f32\[4,2\].*f32\[4,3\]"),
        (("f32 3 2", "f32 4", "f32 4 2", "f32"), "indices are integers"),
        (("f32 3 2", "i32 4", "f32 4 2", "f64"), r"rate is a 0-d f32, got f64\[\]"),
        (("f32 3 2", "i32 4", "f64 4 2", "f32"), "f64"),
    ],
)
def test_what_does_not_fit_is_refused(types: tuple[str, ...], words: str) -> None:
    w, indices, dw, rate = (typed(t.split()[0], *map(int, t.split()[1:])) for t in types)
    with pytest.raises(GraphError, match=words):
        ops.descend_rows(w, indices, dw, rate)
