from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numeric import call, check_gradient, run

from byparts_graph_ir import Graph, Input, ShapeError, TensorType
from byparts_opset.pad import Pad, pad

MODES: Any = ["edge", "reflect", "symmetric"]
X = np.arange(12, dtype=np.float64).reshape(3, 4)
PAIR = st.tuples(st.integers(0, 2), st.integers(0, 2))


@given(st.tuples(PAIR, PAIR), st.sampled_from(MODES))
def test_borders_are_those_of_numpy(paddings: tuple[tuple[int, int], ...], mode: Any) -> None:
    """Corners too; in slices, where nothing of the shape is known."""
    x = Input(TensorType("f64", None))
    parts = Graph.of((x,), Pad(paddings, 0, mode).decompose(x) or ())
    expected = np.pad(X, paddings, mode)

    np.testing.assert_array_equal(run(parts, X)[0], expected)
    np.testing.assert_array_equal(call(lambda v: pad(v, paddings, mode=mode), X), expected)


@pytest.mark.parametrize("mode", ["constant", *MODES])
def test_gradients(mode: str) -> None:
    """Everything that came from an element comes back to it."""
    check_gradient(Pad(((2, 1), (0, 3)), 2, mode), X, unranked=True)


def test_values() -> None:
    """Also infinite ones, for a maximum that padding may not win."""
    found = call(lambda v: pad(v, [(1, 0)], -np.inf), np.array([1, 2], np.float32))

    np.testing.assert_array_equal(found, [-np.inf, 1, 2])


def test_named_dimensions_grow_by_the_padding() -> None:
    """Where nothing is added, which is usual for the batch, the name stays."""
    y = pad(Input(TensorType("f32", ("n", 28, "w"))), [(0, 0), (1, 2), (1, 1)])

    assert y.type.shape == ("n", 31, "w+2")


@pytest.mark.parametrize(
    ("dtype", "paddings", "value", "mode", "message"),
    [
        ("f32", [(0, 0)], 0, "constant", r"pad: takes a pair of numbers for each axis, got"),
        ("f32", [(0, -1), (0, 0)], 0, "constant", r"pad: takes a pair of numbers for each axis"),
        (
            "f32",
            [(3, 0), (0, 0)],
            0,
            "reflect",
            r"\(3, 0\) in mode 'reflect' needs 4 elements, x is",
        ),
        ("f32", [(4, 0), (0, 0)], 0, "symmetric", r"\(4, 0\) in mode 'symmetric' needs 4 elements"),
        ("f32", [(0, 0), (0, 0)], 0, "wrap", r"pad: unknown mode 'wrap'; known: constant, edge"),
        ("i32", [(1, 0), (0, 0)], 0.5, "constant", r"0\.5 is no i32"),
    ],
)
def test_refusals(
    dtype: str, paddings: list[tuple[int, int]], value: float, mode: str, message: str
) -> None:
    """With what there is."""
    with pytest.raises(ShapeError, match=message):
        pad(Input(TensorType(dtype, (3, 4))), paddings, value, mode)
