"""Integers bit by bit, by NumPy's broadcasting: what `&`, `|`, `^` and `~` mean on values.

On bools the same operators are the logic ops.  Negative numbers are in two's complement, so
`~x = x ^ -1`.  Nothing here has a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import (
    INTEGERS,
    Node,
    Op,
    Operand,
    Sample,
    ShapeError,
    TensorType,
    Types,
    Value,
)
from byparts_graph_ir.graph import lift
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.broadcast import broadcast_types
from byparts_opset.dtypes import Array
from byparts_opset.elementwise import broadcast_back, computed


def _two_integers(self: Op, x: TensorType, y: TensorType) -> Types:
    """z is broadcast from x and y, of one integer dtype."""
    z = broadcast_types(self.name, x, y)
    if z.dtype not in INTEGERS:
        raise ShapeError(f"{self.name}: takes integers, got {x}; compare first, as in x > 0")
    return (z,)


def _samples(op: Op) -> Iterator[Sample]:
    """Signed and unsigned, broadcast, 0-d and empty."""
    for dtype, x, y in (
        *(("i32", (3, 4), (3, 4)), ("i64", (3, 1), (4,)), ("u8", (2, 3), ()), ("i8", (), (2,))),
        *(("i16", (0, 2), (1, 2)), ("i32", (), ())),
    ):
        low = 0.0 if dtype == "u8" else -100.0
        ranges = ((low, 100.0), (low, 100.0))
        yield Sample(op, (TensorType(dtype, x), TensorType(dtype, y)), ranges)


@dataclass(frozen=True)
class BitwiseAnd(Op):
    """z = the bits set in both x and y."""

    pattern = "elementwise"
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = _two_integers
    infer_inputs = broadcast_back

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return computed(np.bitwise_and, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        return (None, None)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return _samples(cls())


@dataclass(frozen=True)
class BitwiseOr(Op):
    """z = the bits set in x, in y or in both."""

    pattern = "elementwise"
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = _two_integers
    infer_inputs = broadcast_back

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return computed(np.bitwise_or, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        return (None, None)

    def decompose(self, x: Value, y: Value) -> tuple[Value, ...] | None:
        return (bitwise_xor(bitwise_xor(x, y), bitwise_and(x, y)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return _samples(cls())


@dataclass(frozen=True)
class BitwiseXor(Op):
    """z = the bits set in x or in y, but not in both."""

    pattern = "elementwise"
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = _two_integers
    infer_inputs = broadcast_back

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return computed(np.bitwise_xor, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        return (None, None)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return _samples(cls())


def bitwise_and(x: Operand, y: Operand) -> Value:
    """The bits set in both integers; of bools `logical_and`."""
    return _either(BitwiseAnd(), ops.logical_and, x, y)


def bitwise_or(x: Operand, y: Operand) -> Value:
    """The bits set in one integer or both; of bools `logical_or`."""
    return _either(BitwiseOr(), ops.logical_or, x, y)


def bitwise_xor(x: Operand, y: Operand) -> Value:
    """The bits set in one integer alone; of bools `logical_xor`."""
    return _either(BitwiseXor(), ops.logical_xor, x, y)


def bitwise_not(x: Value) -> Value:
    """Every bit of an integer the other way; of a bool `logical_not`."""
    if x.type.dtype == "bool":
        return ops.logical_not(x)
    return BitwiseXor()(x, 255 if x.type.dtype == "u8" else -1)


def _either(of_bits: Op, of_bools: Callable[..., Value], x: Operand, y: Operand) -> Value:
    x, y = lift((x, y), of_bits.name)
    both = x.type.dtype == y.type.dtype == "bool"
    return of_bools(x, y) if both else of_bits(x, y)
