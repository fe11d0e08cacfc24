from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
import pytest
from numeric import Array, call

import byparts_opset as ops
from byparts_graph_ir import ArgumentError, Graph, GraphError, Input, ShapeError, TensorType
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
    """Of the first value that is not a bool."""
    c, x = Input(TensorType("bool", (2,))), Input(TensorType("i64", (2,)))

    assert TensorType("i64", (2,)) == select(c, x, 0).type
    assert [v.type.dtype for v in lift((c, 1, x))] == ["bool", "i64", "i64"]


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
        ("f32", True, r"add: an operand is Python's True; use ops.equal\(x, 0.0\)"),
        (
            "bool",
            1,
            r"add: the number 1 is beside no value but bool\[2\], and numbers are no bools",
        ),
        ("f32", np.ones(2), r"an operand is a ndarray, .* ops\.constant\(x\)"),
        ("f32", "one", "an operand is a str, no value and no number"),
    ],
)
def test_operands_that_do_not_fit_are_refused(dtype: str, other: Any, message: str) -> None:
    """With what they are, and what to do."""
    x = Input(TensorType(dtype, (2,)))
    with pytest.raises(GraphError, match=message):
        x + other


def test_a_comparison_with_a_number_is_refused() -> None:
    """`x == 0.0` was Python's False, and `select` took it; values compare by identity."""
    x = Input(TensorType("f32", (2,)))

    with pytest.raises(ArgumentError, match=r"x == 0\.0 asks .* use ops\.equal\(x, 0\.0\)"):
        _ = x == 0.0
    with pytest.raises(ArgumentError, match=r"x != .* use ops\.not_equal\(x, array"):
        _ = np.ones(2) != x
    assert (x == x, x != x, x == x + 1, x != x + 1) == (True, False, False, True)
    assert {x: 1}[x] == 1 and x not in {0: "a number", None: "nothing"}
    assert (x == None, x != None) == (False, True)  # noqa: E711


@pytest.mark.parametrize(
    "wrong",
    [
        lambda c, x: select(x == x, x, x),
        lambda c, x: select(x == c, x, x),
        lambda c, x: select(0.0, x, x),
        lambda c, x: select(c, 1.0, 0.0),
        lambda c, x: ops.logical_and(c, True),
        lambda c, x: ops.logical_or(1, c),
        lambda c, x: ops.logical_not(False),
        lambda c, x: ops.equal(c, bool(np.True_)),
        lambda c, x: c & True,
    ],
)
def test_a_bool_value_is_no_bool_of_python(wrong: Callable[..., Any]) -> None:
    """What a comparison of values gives by mistake is refused wherever a value is meant."""
    c, x = Input(TensorType("bool", (2,))), Input(TensorType("f32", (2,)))

    with pytest.raises(GraphError, match=r"ops\.equal\(x, "):
        wrong(c, x)


def test_what_numpy_has_and_values_have_not_says_what_to_write() -> None:
    """By looking up the op, or what it is called here."""
    x = Input(TensorType("f32", (2, 3)))

    assert (x.dtype, x.shape, x.ndim, x.size, x.T.shape) == ("f32", (2, 3), 2, 6, (3, 2))
    for name, advice in {
        "reshape": r"ops\.reshape\(x, shape\)",
        "sum": r"ops\.sum\(x, axis, keepdims\)",
        "astype": r"ops\.cast\(x, dtype\)",
        "dot": r"ops\.matmul\(x, ",
        "tanh": r"ops\.tanh\(x\)",
    }.items():
        with pytest.raises(AttributeError, match=f"no attribute '{name}'; use {advice}"):
            getattr(x, name)
    with pytest.raises(AttributeError, match=r"'Input' object has no attribute 'nothing'$"):
        getattr(x, "nothing")  # noqa: B009  # a type checker knows that there is none


def test_signatures_say_the_arguments() -> None:
    """Of an op its inputs, of its class its fields."""
    assert str(signature(ops.tanh)) == "(x: 'Value', /) -> 'Value'"
    assert str(signature(select)) == "(c: 'Value', x: 'Value', y: 'Value', /) -> 'Value'"
    assert str(signature(ops.Adam)).startswith("(count, beta1=0.9, beta2=0.999")
    assert list(signature(ops.adam).parameters)[:3] == ["weights", "means", "squares"]


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
        with pytest.raises(ArgumentError, match=r"wrap arrays, as in ops\.constant"):
            left + right

    assert (np.float32(2) * x).type == x.type
