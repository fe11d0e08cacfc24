"""NumPy's numbers, arrays and dtypes are taken wherever Python's are; what would lose is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import Graph, GraphError, Input, ShapeError, TensorType, Value, parse
from byparts_opset.evaluate import evaluate

X = Input(TensorType("f32", (2, 3)), name="x")
N = np.int64


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (lambda: np.float64(2.0) * X, lambda: 2.0 * X),
        (lambda: X ** np.int64(2), lambda: X**2),
        (lambda: X + np.array(1.0), lambda: X + 1.0),
        (lambda: ops.reshape(X, np.array([3, 2])), lambda: ops.reshape(X, (3, 2))),
        (lambda: ops.reshape(X, (N(3), N(-1))), lambda: ops.reshape(X, (3, -1))),
        (lambda: ops.sum(X, N(1)), lambda: ops.sum(X, 1)),
        (lambda: ops.sum(X, np.array([0, 1])), lambda: ops.sum(X, (0, 1))),
        (lambda: ops.max(X, keepdims=np.True_), lambda: ops.max(X, keepdims=True)),  # type: ignore[arg-type]
        (lambda: ops.transpose(X, np.arange(2)[::-1]), lambda: ops.transpose(X, (1, 0))),
        (lambda: ops.clip(X, np.float32(0), np.float64(0.5)), lambda: ops.clip(X, 0.0, 0.5)),
        (lambda: ops.fill(np.float32(1), np.float32, (N(2),)), lambda: ops.fill(1.0, "f32", (2,))),  # type: ignore[arg-type]
        (lambda: ops.cast(X, np.dtype("int32")), lambda: ops.cast(X, "i32")),  # type: ignore[arg-type]
        (lambda: ops.concat([X, X], N(1)), lambda: ops.concat([X, X], 1)),
        (lambda: X[N(1)], lambda: X[1]),
    ],
)
def test_numpy_is_taken_where_python_is(theirs: Any, ours: Any) -> None:
    """And the graphs are equal, also as text: attributes are Python's own numbers."""
    a, b = (Graph.of([X], [made()]) for made in (theirs, ours))

    assert a == b and str(a) == str(b)
    assert parse(str(a), ops.OPS) == b


def literal(x: object) -> Any:
    return evaluate(Graph.of([], [ops.constant(x)]))[0]


@pytest.mark.parametrize("dtype", [">f4", ">i8", "<f8", "?"])
def test_constants_of_any_layout_are_taken(dtype: str) -> None:
    """Big-endian, read-only, transposed and sliced."""
    x = (np.arange(12).reshape(3, 4) % 5).astype(dtype)
    x.flags.writeable = False

    for made in (x, x.T, x[::2, ::-1]):
        found = literal(made)
        assert found.dtype == np.dtype(dtype).newbyteorder("=") and (found == made).all()


class Frame:
    """As pandas' frames: no dtype of its own, and an array by its method."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([[1.0, 2.0]])


def test_arrays_of_other_libraries_keep_their_dtype() -> None:
    assert literal(Frame()).dtype == np.float64


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.ma.masked_array([1.0, 2.0], [False, True]), "masked array, whose mask would be lost"),
        (np.array([1, "a", None], object), "constant: x is ndarray .* of object; give numbers"),
        ("text", "constant: x is str 'text', of <U4; give numbers"),
        (None, "constant: x is NoneType None, of object; give numbers"),
        ([[1], [1, 2]], "constant: x is no array"),
        ([X, X], r"a value of type f32\[2,3\] has no numbers until the program runs"),
        ({"a": 1}, "constant: x is dict"),
        (np.ones(2, np.complex64), "of complex64; give numbers or bools"),
    ],
)
def test_what_is_no_constant_is_refused(wrong: Any, message: str) -> None:
    with pytest.raises((ShapeError, GraphError), match=message):
        ops.constant(wrong)


def test_values_are_no_masked_arrays() -> None:
    x: Value = X
    with pytest.raises(GraphError, match="add: an operand is a MaskedArray, no value"):
        _ = x + np.ma.masked_array([1.0], [True])
