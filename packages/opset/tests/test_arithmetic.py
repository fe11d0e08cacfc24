from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numeric import Array, call

from byparts_graph_ir import Graph, Input, ShapeError, TensorType
from byparts_opset import Fill, select
from byparts_opset.arithmetic import lift

X = np.array([[1.0, -2.0], [0.5, 4.0]], np.float32)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 1,
        lambda x: 1 - x,
        lambda x: 2 * x * x,
        lambda x: 1 / x,
        lambda x: x / 2,
        lambda x: x**2,
        lambda x: abs(x) ** 0.5,
        lambda x: 2**x,
        lambda x: 7 // x,
        lambda x: x % 3,
        lambda x: -x,
        lambda x: abs(x),
        lambda x: x < 1,
        lambda x: x <= 1,
        lambda x: x >= 1,
        lambda x: 1 < x,  # noqa: SIM300 - the number is on the left on purpose
        lambda x: x @ x,
        lambda x: x[0],
    ],
)
def test_operators_mean_what_numpy_means(function: Callable[[Any], Any]) -> None:
    """The same expression on values and on arrays, with numbers on either side."""
    expected: Array = function(X)

    found = call(function, X)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_numbers_take_the_dtype_they_meet() -> None:
    """Of the first value that is not a bool; a bool stays one."""
    c, x = Input(TensorType("bool", (2,))), Input(TensorType("i64", (2,)))

    assert TensorType("i64", (2,)) == select(c, x, 0).type
    assert [v.type.dtype for v in lift((True, x))] == ["bool", "i64"]


def test_a_lifted_number_is_a_fill_of_no_rank() -> None:
    """Broadcasting does the rest."""
    x = Input(TensorType("f32", (2,)))
    graph = Graph.of((x,), [x + 1])

    assert Fill(1.0, "f32", ()) in [n.op for n in graph.nodes]


@pytest.mark.parametrize(
    ("dtype", "other", "message"),
    [
        ("i32", 0.5, r"0.5 is no i32; .* \(operands: i32\[2\], 0.5\)"),
        ("u8", -1, "-1 is no u8"),
        ("f32", True, r"add: dtypes differ: f32\[2\] and bool\[\]"),
        ("bool", 1, r"add: bool has no arithmetic, got bool\[2\]; use the logic ops"),
        ("f32", np.ones(2), r"an operand is a ndarray, .* constant\(x\)"),
        ("f32", "one", "an operand is a str, no value and no number"),
    ],
)
def test_operands_that_do_not_fit_are_refused(dtype: str, other: Any, message: str) -> None:
    """With what they are, and what to do."""
    x = Input(TensorType(dtype, (2,)))
    with pytest.raises(ShapeError, match=message):
        x + other


def test_integers_have_no_true_division() -> None:
    """The message names the operator that there is."""
    x = Input(TensorType("i32", (2,)))
    with pytest.raises(ShapeError, match=r"div: takes floats, got i32\[2\]; use floordiv"):
        x / 2


def test_an_array_on_the_left_is_refused_as_on_the_right() -> None:
    """NumPy would otherwise make an object array of one value for each element."""
    x = Input(TensorType("f32", (2,)))
    array: Any = np.ones(2, np.float32)
    for left, right in ((array, x), (x, array)):
        with pytest.raises(ShapeError, match="wrap arrays, as in constant"):
            left + right

    assert (np.float32(2) * x).type == x.type
