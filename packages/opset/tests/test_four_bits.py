"""i4: integers from -8 to 7, whatever the op; the oracle is Python's integers modulo 16."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, ShapeError, TensorType, Value, from_json, parse, to_json
from byparts_opset import OPS
from byparts_opset.dtypes import numpy_dtype, type_of
from byparts_opset.evaluate import evaluate

pytest.importorskip("ml_dtypes")

INT4 = numpy_dtype("i4")
four_bits = st.integers(-8, 7)
whole = st.sampled_from(["i8", "i16", "i32", "i64", "u8"])


def wrapped(number: int) -> int:
    return (number + 8) % 16 - 8


def array(*numbers: int) -> NDArray[Any]:
    return np.array(numbers, INT4)


def computed(build: Callable[..., Value], *arrays: NDArray[Any]) -> Any:
    """What a graph of i4 computes, which has to be i4 itself."""
    inputs = [Input(type_of(a)) for a in arrays]
    (y,) = evaluate(Graph.of(inputs, [build(*inputs)]), *arrays)
    assert y.dtype == INT4
    return y.tolist()


@given(st.integers(-(2**62), 2**62), whole)
def test_casts_to_i4_wrap(number: int, dtype: str) -> None:
    """As the other integer casts do: the low four bits count."""
    x = np.array([number]).astype(numpy_dtype(dtype))

    assert ops.Cast("i4").evaluate(x)[0].tolist() == [wrapped(number)]


@given(st.lists(four_bits), st.sampled_from(["f16", "bf16", "f32", "f64", "i8", "i32", "i64"]))
def test_casts_from_i4_are_exact(numbers: list[int], dtype: str) -> None:
    """And back again."""
    (wide,) = ops.Cast(dtype).evaluate(array(*numbers))

    assert wide.tolist() == numbers
    assert ops.Cast("i4").evaluate(wide)[0].tolist() == numbers


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul])
@given(x=st.lists(four_bits, min_size=3, max_size=3), y=four_bits)
def test_arithmetic_wraps(op: Callable[..., Any], x: list[int], y: int) -> None:
    """Modulo 16, broadcasting as ever."""
    assert computed(op, array(*x), np.array(y, INT4)) == [wrapped(op(a, y)) for a in x]


@given(st.lists(four_bits, min_size=1))
def test_sums_products_and_extremes(x: list[int]) -> None:
    """A sum wraps once at the end, which is the same as at every step."""
    product = 1
    for number in x:
        product *= number

    assert computed(ops.sum, array(*x)) == wrapped(sum(x))
    assert computed(ops.Prod(), array(*x)) == wrapped(product)
    assert (computed(ops.max, array(*x)), computed(ops.min, array(*x))) == (max(x), min(x))
    assert computed(ops.CumSum(0), array(*x))[-1] == wrapped(sum(x))


@given(st.lists(four_bits, min_size=4, max_size=4), st.lists(four_bits, min_size=4, max_size=4))
def test_products_of_matrices(x: list[int], y: list[int]) -> None:
    """The sums of products wrap, too."""
    a, b = (np.reshape(v, (2, 2)) for v in (x, y))

    wanted = [[wrapped(n) for n in row] for row in (a @ b).tolist()]
    assert computed(ops.MatMul(), a.astype(INT4), b.astype(INT4)) == wanted


@pytest.mark.parametrize(
    ("build", "x", "wanted"),
    [
        (operator.neg, [-8, 7], [-8, -7]),
        (abs, [-8, -7], [-8, 7]),
        (ops.square, [4, 3, -8], [0, -7, 0]),
        (ops.bitwise_not, [-8, 0, 7], [7, -1, -8]),
        (lambda x: x // -1, [-8, 7], [-8, -7]),
        (lambda x: x // 0, [-8, 7], [0, 0]),
        (lambda x: x % 0, [-8, 7], [0, 0]),
        (lambda x: x % 3, [-8, 7], [1, 1]),
        (lambda x: x**2, [5, -3], [-7, -7]),
        (lambda x: ops.clip(x, -3, 6), [-8, 7], [-3, 6]),
        (lambda x: ops.pad(x, ((1, 0),), -8), [3], [-8, 3]),
    ],
)
def test_edges(build: Callable[..., Value], x: list[int], wanted: list[int]) -> None:
    """The least number has no negative; nothing raises."""
    assert computed(build, array(*x)) == wanted


def test_padding_is_below_every_number() -> None:
    """The maximum of a window at the border is that of what is there."""
    pool = ops.MaxPool((2, 2), (1, 1), ((1, 0), (0, 0)))

    assert computed(pool, array(-8, -8).reshape(1, 1, 1, 2)) == [[[[-8]]]]


def test_indices_and_positions() -> None:
    """Rows are picked by i4, and from i4; a negative index is named."""
    rows, at = np.arange(6, dtype=np.float32).reshape(3, 2), array(2, 0)
    graph = Graph.of(inputs := (Input(type_of(rows)), Input(type_of(at))), [ops.gather(*inputs)])

    assert evaluate(graph, rows, at)[0].tolist() == [[4, 5], [0, 1]]
    assert ops.argmax(Input(type_of(at))).type.dtype == "i64"
    with pytest.raises(Exception, match=r"gather: index -1 at \[1\] is out of range for axis 0"):
        evaluate(graph, rows, array(0, -1))


def test_dequantisation() -> None:
    """Integers less their zero point, times their scale: what weights of four bits are for."""
    q, scale = Input(TensorType("i4", (2, 2))), Input(TensorType("f32", (2, 1)))
    graph = Graph.of((q, scale), [(ops.cast(q, "f32") - 1.0) * scale])

    (y,) = evaluate(graph, array(-8, 7, 1, 0).reshape(2, 2), np.array([[0.5], [2]], np.float32))

    assert y.dtype == np.float32
    assert y.tolist() == [[-4.5, 3.0], [0.0, -2.0]]


@given(st.lists(four_bits, max_size=9))
def test_programs_of_i4_come_back_from_text_and_json(numbers: list[int]) -> None:
    """Types, constants, and casts."""
    x = Input(TensorType("i4", ("n",)), name="x")
    y = ops.constant(array(*numbers))
    graph = Graph.of((x,), [x, y, ops.cast(y, "f32"), ops.eye(2, dtype="i4"), x + 7])

    assert parse(str(graph), OPS) == graph
    assert from_json(to_json(graph), OPS) == graph
    assert evaluate(parse(str(graph), OPS), array(1))[1].tolist() == numbers


@pytest.mark.parametrize("number", [8, -9, 0.5])
def test_numbers_that_i4_has_not_are_refused(number: float) -> None:
    """With the number, where the program is built."""
    with pytest.raises(ShapeError, match=rf"{number} is no i4; cast the tensor"):
        Input(TensorType("i4", (2,))) + number


@pytest.mark.parametrize("op", [ops.exp, ops.mean, ops.softmax, ops.logical_not])
def test_what_takes_no_integers_takes_no_i4(op: Callable[..., Value]) -> None:
    """As with any other integer."""
    with pytest.raises(ShapeError, match=r"got i4\[2\]"):
        op(Input(TensorType("i4", (2,))))


def test_without_ml_dtypes_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Types are of graph-ir, and need no library; arrays do."""
    numpy_dtype.cache_clear()
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    try:
        assert str(ops.fill(3, "i4", (2,)).type) == "i4[2]"
        with pytest.raises(ImportError, match="i4 in NumPy needs ml_dtypes: pip install ml_dtypes"):
            numpy_dtype("i4")
    finally:
        numpy_dtype.cache_clear()
