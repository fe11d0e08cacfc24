"""Logic on bools and on the bits of integers, by NumPy's broadcasting.  Nothing has a gradient.

On values `&`, `|`, `^` and `~` mean the one or the other, by dtype.  Negative integers are in two's
complement, so `~x = x ^ -1`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import (
    BITS,
    INTEGERS,
    Operand,
    Sample,
    TensorType,
    Value,
    integer_limits,
    lift,
)
from byparts_opset.dtypes import BOOLS
from byparts_opset.elementwise import Binary, Logic, Unary, flat


class LogicalAnd(Logic):
    """z = x and y."""

    ufunc = np.logical_and


class LogicalOr(Logic):
    """z = x or y."""

    ufunc = np.logical_or


class LogicalXor(Logic):
    """z = x or y, but not both."""

    ufunc = np.logical_xor

    def decompose(self, x: Value, y: Value) -> tuple[Value, ...] | None:
        return (logical_and(logical_or(x, y), logical_not(logical_and(x, y))),)


class LogicalNot(Unary):
    """y = not x."""

    takes = BOOLS
    gradient = flat
    ufunc = np.logical_not


class Bitwise(Binary):
    """z is broadcast from x and y, all of them integers of one dtype."""

    takes = INTEGERS
    gradient = flat

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        """Signed and unsigned, broadcast, 0-d and empty."""
        for dtype, x, y in (
            *(("i32", (3, 4), (3, 4)), ("i64", (3, 1), (4,)), ("u8", (2, 3), ()), ("i8", (), (2,))),
            *(("i16", (0, 2), (1, 2)), ("i32", (), ())),
        ):
            limits = (0.0 if dtype == "u8" else -100.0, 100.0)
            yield Sample(cls(), (TensorType(dtype, x), TensorType(dtype, y)), (limits, limits))


class BitwiseAnd(Bitwise):
    """z = the bits set in both x and y."""

    ufunc = np.bitwise_and


class BitwiseOr(Bitwise):
    """z = the bits set in x, in y or in both."""

    ufunc = np.bitwise_or

    def decompose(self, x: Value, y: Value) -> tuple[Value, ...] | None:
        return (bitwise_xor(bitwise_xor(x, y), bitwise_and(x, y)),)


class BitwiseXor(Bitwise):
    """z = the bits set in x or in y, but not in both."""

    ufunc = np.bitwise_xor


class ShiftLeft(Bitwise):
    """z = x * 2^y, which wraps; 0 where y is negative, or as many bits as there are, or more."""

    ufunc = np.left_shift

    def decompose(self, x: Value, y: Value) -> tuple[Value, ...] | None:
        inside = _within(y)
        return (ops.select(inside, x * ops.pow(2, ops.select(inside, y, 0)), 0),)


class ShiftRight(Bitwise):
    """z = x / 2^y, rounded towards -inf: only the sign is left where y is negative or too large.

    So then z is 0, or -1 of a negative x, on every backend, as in NumPy.
    """

    ufunc = np.right_shift

    def decompose(self, x: Value, y: Value) -> tuple[Value, ...] | None:
        """Two steps of half as many bits, since 2^bits is no number of the dtype."""
        count = ops.select(_within(y), y, BITS[y.type.dtype])
        half = count // 2
        return (x // ops.pow(2, half) // ops.pow(2, count - half),)


shift_left, shift_right = ShiftLeft(), ShiftRight()
logical_and, logical_or, logical_xor = LogicalAnd(), LogicalOr(), LogicalXor()
logical_not = LogicalNot()


def bitwise_and(x: Operand, y: Operand) -> Value:
    """The bits set in both integers; of bools `logical_and`."""
    return _by_dtype(BitwiseAnd(), logical_and, x, y)


def bitwise_or(x: Operand, y: Operand) -> Value:
    """The bits set in one integer or both; of bools `logical_or`."""
    return _by_dtype(BitwiseOr(), logical_or, x, y)


def bitwise_xor(x: Operand, y: Operand) -> Value:
    """The bits set in one integer alone; of bools `logical_xor`."""
    return _by_dtype(BitwiseXor(), logical_xor, x, y)


def bitwise_not(x: Value) -> Value:
    """Every bit of an integer inverted; of a bool `logical_not`."""
    if x.type.dtype == "bool":
        return logical_not(x)
    return BitwiseXor()(x, sum(integer_limits(x.type.dtype)))


def _within(y: Value) -> Value:
    """Whether y is a number of bits that leaves some of them."""
    return ops.logical_and(ops.greater_equal(y, 0), ops.less(y, BITS[y.type.dtype]))


def _by_dtype(of_bits: Bitwise, of_bools: Callable[..., Value], x: Operand, y: Operand) -> Value:
    x, y = lift((x, y), of_bits.name)
    both = x.type.dtype == y.type.dtype == "bool"
    return of_bools(x, y) if both else of_bits(x, y)
