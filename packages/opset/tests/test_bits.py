"""Integers bit by bit, and the operators that mean it."""

from __future__ import annotations

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, ShapeError, TensorType, Value
from byparts_opset.dtypes import numpy_dtype
from byparts_opset.evaluate import evaluate


def given(dtype: str, *shape: int) -> Input:
    return Input(TensorType(dtype, shape), None, "x")


def computed(x: Input, y: Value, array: object) -> list[object]:
    found: list[object] = evaluate(
        Graph.of([x], [y]), np.asarray(array, numpy_dtype(x.type.dtype))
    )[0].tolist()
    return found


@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "i64"])
def test_operators_on_integers_are_those_of_python(dtype: str) -> None:
    """Negative numbers too: two's complement."""
    x, numbers = given(dtype, 4), [-100, -1, 0, 77]

    assert computed(x, x & 12, numbers) == [n & 12 for n in numbers]
    assert computed(x, 12 | x, numbers) == [n | 12 for n in numbers]
    assert computed(x, x ^ -3, numbers) == [n ^ -3 for n in numbers]
    assert computed(x, ~x, numbers) == [~n for n in numbers]
    assert computed(x, x >> 2, numbers) == [n >> 2 for n in numbers]
    assert computed(x, 1 << (x & 3), numbers) == [1 << (n & 3) for n in numbers]


def test_the_bits_of_u8_are_eight() -> None:
    x = given("u8", 3)

    assert computed(x, ~x, [0, 1, 255]) == [255, 254, 0]
    assert computed(x, 0xF0 & x, [0, 0x1F, 255]) == [0, 0x10, 0xF0]


def test_operators_on_bools_are_the_logic_ops() -> None:
    x = given("bool", 2)
    y = ops.constant(np.array([True, True]))

    for found, op in ((x & y, ops.LogicalAnd), (x | y, ops.LogicalOr), (x ^ y, ops.LogicalXor)):
        assert found.node is not None and isinstance(found.node.op, op)
    assert computed(x, ~x, [True, False]) == [False, True]


@pytest.mark.parametrize("dtype", ["i8", "i32", "i64", "u8"])
def test_shifts_of_too_many_bits_leave_only_the_sign(dtype: str) -> None:
    """Also by a negative number of them, as in NumPy."""
    signed = dtype != "u8"
    by = ops.constant(np.array([1, 100, -1 if signed else 255], numpy_dtype(dtype)))
    x, low = given(dtype, 3), -7 if signed else 7
    rest = -1 if signed else 0

    assert computed(x, ops.shift_left(x, by), [low] * 3) == [2 * low, 0, 0]
    assert computed(x, ops.shift_right(x, by), [low] * 3) == [low >> 1, rest, rest]


def test_floats_have_no_bits() -> None:
    x = given("f32", 2)

    with pytest.raises(ShapeError, match=r"bitwise_and: takes integers, got f32\[2\]; compare"):
        _ = x & x
    with pytest.raises(ShapeError, match="bitwise_or: dtypes differ: bool"):
        _ = (x > 0) | given("i32", 2)
