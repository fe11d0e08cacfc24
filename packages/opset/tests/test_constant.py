import math

import numpy as np
import pytest
from numeric import call, run

from byparts_graph_ir import Graph, Op, ShapeError
from byparts_opset.constant import Constant, Fill, arange, constant, eye, fill, ones, zeros


def op_of(x: object) -> Op:
    """The op behind what `constant` makes."""
    node = constant(x).node
    assert node is not None
    return node.op


def test_fills_are_equal_only_bit_for_bit() -> None:
    """-0.0 is not 0.0, nan is itself, and an int given for a float is that float."""
    assert Fill(0.0) != Fill(-0.0)
    assert Fill(math.nan) == Fill(math.nan)
    assert hash(Fill(math.nan)) == hash(Fill(math.nan))
    assert Fill(1) == Fill(1.0)
    assert Fill(1, "i32") != Fill(1, "f32")


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(0.5, "i32"), (300, "u8"), (2, "bool"), (math.nan, "i64"), (math.inf, "i8")],
)
def test_fill_refuses_what_the_dtype_cannot_hold(value: float, dtype: str) -> None:
    """No silent rounding or wrapping."""
    with pytest.raises(ShapeError, match=f"is no {dtype}; "):
        Fill(value, dtype)


@pytest.mark.parametrize(
    ("x", "dtype"),
    [(1.5, "f32"), (3, "i32"), (True, "bool"), ([1.0, 2.0], "f32"), (np.float64(2), "f64")],
)
def test_constant_takes_the_dtype_of_what_it_is_given(x: object, dtype: str) -> None:
    """Python's floats are f32 and its ints i32; arrays keep theirs."""
    assert dtype == constant(x).type.dtype


def test_one_number_is_a_fill_and_many_are_a_constant() -> None:
    """Also an array of one number repeated; what is only equal (0.0 and -0.0) is not repeated."""
    assert Fill(2.0, "f32", (2, 2)) == op_of(np.full((2, 2), 2, np.float32))
    assert Fill(0.0, "f64", (3,)) == op_of(np.zeros(3))
    assert isinstance(op_of(np.array([1, 2])), Constant)
    assert isinstance(op_of(np.array([0.0, -0.0])), Constant)


def test_constants_give_their_elements() -> None:
    """Of every maker, as NumPy would have it."""
    x = np.arange(6, dtype=np.int64)[::2]

    np.testing.assert_array_equal(x, call(lambda: constant(x)), strict=True)
    np.testing.assert_array_equal([5, 3, 1], call(lambda: arange(5, 0, -2)))
    np.testing.assert_array_equal(np.eye(2, 3), call(lambda: eye(2, 3)))
    np.testing.assert_array_equal(np.zeros((0, 2)), call(lambda: zeros((0, 2))))
    np.testing.assert_array_equal(np.ones(()), call(lambda: ones(())))


def test_equal_constants_make_equal_graphs() -> None:
    """Content decides, as for every op."""
    assert Graph.of((), [constant([1.0, 2.0])]) == Graph.of((), [constant([1.0, 2.0])])


def test_constant_checks_its_bytes() -> None:
    """As many as the type takes."""
    with pytest.raises(ShapeError, match=r"f32\[2\] takes 8 bytes, data has 4"):
        Constant(b"1234", "f32", (2,))()


def test_range_wants_a_step() -> None:
    """0 never arrives."""
    with pytest.raises(ShapeError, match="range: step is 0, from 0 to 3"):
        arange(0, 3, 0)


def test_bf16_fills() -> None:
    """The dtype NumPy has not got."""
    (y,) = run(Graph.of((), [fill(1.5, "bf16", (2,))]))

    assert y.tolist() == [1.5, 1.5]
