"""Where the extreme element stands: the first of equals, nan before all, as in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from byparts_graph_ir import FLOATS, Node, Op, Sample, TensorType, Types, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.broadcast import normal_axis
from byparts_opset.dtypes import Array, wide
from byparts_opset.reduction import input_flops, reduced_some, type_of


@dataclass(frozen=True)
class ArgMax(Op):
    """y = the index of the greatest of x along `axis`, as i64; `None` counts through all of x."""

    name = "argmax"

    axis: int | None = None
    keepdims: bool = False

    pattern = "reduction"
    flops = input_flops

    @property
    def axes(self) -> tuple[int, ...] | None:
        """`axis` as the other reductions have it."""
        return None if self.axis is None else (self.axis,)

    def infer(self, x: TensorType) -> Types:
        return _infer(self, x)

    infer_unranked = infer

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        self.infer(type_of(x))  # refuses to look in nothing
        return (_indices(np.argmax, self, x),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (None,)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return _samples(cls)


@dataclass(frozen=True)
class ArgMin(Op):
    """y = the index of the least of x along `axis`, as i64; `None` counts through all of x."""

    name = "argmin"

    axis: int | None = None
    keepdims: bool = False

    pattern = "reduction"
    flops = input_flops

    @property
    def axes(self) -> tuple[int, ...] | None:
        """`axis` as the other reductions have it."""
        return None if self.axis is None else (self.axis,)

    def infer(self, x: TensorType) -> Types:
        return _infer(self, x)

    infer_unranked = infer

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        self.infer(type_of(x))  # refuses to look in nothing
        return (_indices(np.argmin, self, x),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (None,)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        # Integers are taken from 255 or -1, which never overflows, as -x may.
        top = 0 if x.type.dtype in FLOATS else 255 if x.type.dtype == "u8" else -1
        turned = top - x if top else -x
        return (ArgMax(self.axis, self.keepdims)(turned),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return _samples(cls)


def argmax(x: Value, axis: int | None = None, keepdims: bool = False) -> Value:
    """The index of the greatest along `axis`, or among all."""
    return ArgMax(_given("argmax", axis, x.type), keepdims)(x)


def argmin(x: Value, axis: int | None = None, keepdims: bool = False) -> Value:
    """The index of the least along `axis`, or among all."""
    return ArgMin(_given("argmin", axis, x.type), keepdims)(x)


def _given(name: str, axis: int | None, x: TensorType) -> int | None:
    return axis if axis is None or x.shape is None else normal_axis(name, axis, len(x.shape))


def _infer(op: ArgMax | ArgMin, x: TensorType) -> Types:
    (y,) = reduced_some(op, x)
    return (TensorType("i64", y.shape),)


def _indices(find: Callable[..., Any], op: ArgMax | ArgMin, x: Array) -> Array:
    y = np.asarray(find(wide(x), axis=op.axis, keepdims=op.keepdims))
    return y.astype(np.int64, copy=False)


def _samples(make: Any) -> Iterator[Sample]:
    cases: tuple[tuple[int | None, bool, tuple[int, ...]], ...] = (
        *((None, False, (3, 4)), (0, False, (3, 4)), (-1, True, (3, 4)), (1, False, (2, 3, 2))),
        *((None, True, (2, 3)), (None, False, ()), (1, False, (0, 3))),
    )
    for axis, keepdims, shape in cases:
        yield Sample(make(axis, keepdims), (TensorType("f32", shape),))
