import math

import numpy as np
import pytest
from numeric import call

from byparts_graph_ir import Input, Op, ShapeError, TensorType
from byparts_opset.compare import (
    equal,
    greater,
    greater_equal,
    is_finite,
    is_inf,
    is_nan,
    less,
    less_equal,
    not_equal,
)
from byparts_opset.logic import logical_and, logical_not, logical_or, logical_xor

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("op", "answers"),
    [
        (equal, [0, 1, 0, 0]),
        (not_equal, [1, 0, 1, 1]),
        (less, [1, 0, 0, 0]),
        (less_equal, [1, 1, 0, 0]),
        (greater, [0, 0, 1, 0]),
        (greater_equal, [0, 1, 1, 0]),
    ],
)
def test_comparisons_and_their_decompositions(op: Op, answers: list[int]) -> None:
    """Below, equal, above, and nan, which compares with nothing."""
    x, y = np.array([1.0, 2.0, 3.0, NAN]), np.array([2.0, 2.0, 2.0, 2.0])

    np.testing.assert_array_equal(np.array(answers, bool), call(op, x, y), strict=True)
    if op.decompose(*[Input(TensorType("f64", (4,)))] * 2):
        found = call(lambda a, b: op.decompose(a, b)[0], x, y)  # type: ignore[index]
        np.testing.assert_array_equal(np.array(answers, bool), found)


@pytest.mark.parametrize(
    ("op", "answers"),
    [(is_nan, [0, 0, 0, 1]), (is_inf, [0, 1, 1, 0]), (is_finite, [1, 0, 0, 0])],
)
def test_kinds_of_floats_and_their_decompositions(op: Op, answers: list[int]) -> None:
    """A number, both infinities, nan."""
    x = np.array([1.0, INF, -INF, NAN])

    np.testing.assert_array_equal(np.array(answers, bool), call(op, x), strict=True)
    found = call(lambda v: op.decompose(v)[0], x)  # type: ignore[index]
    np.testing.assert_array_equal(np.array(answers, bool), found)


@pytest.mark.parametrize(
    ("op", "answers"),
    [(logical_and, [0, 0, 0, 1]), (logical_or, [0, 1, 1, 1]), (logical_xor, [0, 1, 1, 0])],
)
def test_truth_tables(op: Op, answers: list[int]) -> None:
    """Of two bools."""
    x, y = np.array([False, False, True, True]), np.array([False, True, False, True])

    np.testing.assert_array_equal(np.array(answers, bool), call(op, x, y), strict=True)


def test_not() -> None:
    """The other one."""
    np.testing.assert_array_equal([True, False], call(logical_not, np.array([False, True])))


def test_logic_takes_bools_only() -> None:
    """With the advice to compare."""
    x = Input(TensorType("i32", (2,)))
    with pytest.raises(ShapeError, match=r"logical_and: takes bools, got i32\[2\]; compare first"):
        logical_and(x, x)


def test_bools_are_equal_but_not_in_order() -> None:
    """`equal` takes any dtype; `less` takes numbers."""
    x = Input(TensorType("bool", (2,)))

    assert TensorType("bool", (2,)) == equal(x, x).type
    with pytest.raises(ShapeError, match="less: bool has no arithmetic"):
        less(x, x)
