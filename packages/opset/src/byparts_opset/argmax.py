"""Indices of the extreme elements: of equals the first, nan before all, as in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import (
    FLOATS,
    UNSIGNED,
    Node,
    Op,
    Sample,
    ShapeError,
    TensorType,
    Types,
    Value,
    integer_limits,
)
from byparts_opset.broadcast import given_axis
from byparts_opset.dtypes import NUMBERS, Array, require, type_of, wide
from byparts_opset.elementwise import flat
from byparts_opset.reduction import check_some, reduced_shape


class Position(Op):
    """y = an index into x along `axis`, as i64; `None` counts through all of x."""

    axis: int | None = None
    keepdims: bool = False

    pattern = "reduction"
    gradient = flat

    def infer(self, x: TensorType) -> Types:
        require(self.name, x, NUMBERS, "use any or all, or cast(x, 'i32')")
        axes = None if self.axis is None else (self.axis,)
        y = TensorType("i64", reduced_shape(self.name, x, axes, self.keepdims))
        check_some(self.name, x, axes, y)
        return (y,)

    infer_unranked = infer

    def found(self, search: Callable[..., Array], x: Array) -> tuple[Array, ...]:
        """The positions that NumPy finds; none where the result has no elements."""
        (y,) = self.infer(type_of(x))  # refuses to look in nothing
        if not y.size:
            return (np.empty(y.dims, np.int64),)
        return (np.asarray(search(wide(x), axis=self.axis, keepdims=self.keepdims), np.int64),)

    def flops(self, x: TensorType) -> int:
        return x.size

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        cases: tuple[tuple[int | None, bool, tuple[int, ...]], ...] = (
            *((None, False, (3, 4)), (0, False, (3, 4)), (-1, True, (3, 4)), (1, False, (2, 3, 2))),
            *((None, True, (2, 3)), (None, False, ()), (1, False, (0, 3)), (0, False, (0, 0))),
        )
        for axis, keepdims, shape in cases:
            yield Sample(cls(axis, keepdims), (TensorType("f32", shape),))


class ArgMax(Position):
    """y = the index of the greatest of x along `axis`, as i64; `None` counts through all of x."""

    name = "argmax"

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return self.found(np.argmax, x)


class ArgMin(Position):
    """y = the index of the least of x along `axis`, as i64; `None` counts through all of x."""

    name = "argmin"

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return self.found(np.argmin, x)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        # Integers are taken from the largest, or from -1, which never overflows, as -x may.
        dtype = x.type.dtype
        top = 0 if dtype in FLOATS else integer_limits(dtype)[1] if dtype in UNSIGNED else -1
        return (ArgMax(self.axis, self.keepdims)(top - x if top else -x),)


def argmax(x: Value, axis: int | None = None, keepdims: bool = False) -> Value:
    """The index of the greatest along `axis`, or among all."""
    return ArgMax(None if axis is None else given_axis("argmax", axis, x), keepdims)(x)


def argmin(x: Value, axis: int | None = None, keepdims: bool = False) -> Value:
    """The index of the least along `axis`, or among all."""
    return ArgMin(None if axis is None else given_axis("argmin", axis, x), keepdims)(x)


class TopK(Op):
    """values, indices = the k greatest of x along its last axis, in falling order; i64 indices.

    Of equals the first comes first; nan counts as greatest.
    """

    k: int

    def infer(self, x: TensorType) -> Types:
        if x.shape == ():
            raise ShapeError(f"top_k: x is {x}, which has no axis to look along")
        self.infer_dtypes(x)
        *rows, last = x.shape or ()
        if self.k < 0 or (isinstance(last, int) and self.k > last):
            raise ShapeError(f"top_k: there are no {self.k} elements along the last axis of {x}")
        return TensorType(x.dtype, (*rows, self.k)), TensorType("i64", (*rows, self.k))

    def infer_dtypes(self, x: TensorType) -> tuple[str, ...]:
        if x.dtype == "bool":
            raise ShapeError(f"top_k: bool has no order, got {x}; cast(x, 'i32') first")
        return x.dtype, "i64"

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        self.infer(TensorType("f32", x.shape))
        # Sorted from behind, so that a stable sort leaves the first of equals last, then turned.
        order = np.argsort(wide(x)[..., ::-1], axis=-1, kind="stable")[..., ::-1]
        indices = np.array((x.shape[-1] - 1 - order)[..., : self.k], dtype=np.int64, order="C")
        return np.array(np.take_along_axis(x, indices, -1), order="C"), indices

    def gradient(self, node: Node, dvalues: Value, dindices: Value) -> tuple[Value | None, ...]:
        (x,), (_, indices) = node.inputs, node.outputs
        return (ops.AddAlongAxis(-1)(indices, dvalues, x),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for k, shape in ((2, (5,)), (3, (2, 3)), (1, (2, 2, 4)), (2, (0, 3)), (0, (2, 3))):
            yield Sample(cls(k), (TensorType("f32", shape),))


def top_k(x: Value, k: int) -> tuple[Value, Value]:
    """The k greatest along the last axis in falling order, and their indices."""
    values, indices = TopK(k).outputs_of(x)
    return values, indices
