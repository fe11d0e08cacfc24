"""Conversion of elements to another dtype."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from byparts_graph_ir import (
    BITS,
    FLOATS,
    Node,
    Op,
    Sample,
    TensorType,
    Types,
    Value,
    integer_limits,
)
from byparts_opset.domain import between, finite
from byparts_opset.dtypes import Array, numpy_dtype, wide


class Cast(Op):
    """y = x as `dtype`.

    A float becomes an integer towards 0; out of range, and for nan, what comes is unspecified, as
    in C.  Integers wrap.  To bool: whether x is not 0 (nan is not); from bool: 0 or 1.  Floats
    round to nearest even.  Differentiable between floats.
    """

    dtype: str

    pattern = "elementwise"

    def infer(self, x: TensorType) -> Types:
        return (TensorType(self.dtype, x.shape),)

    infer_unranked = infer

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        return (TensorType(inputs[0].dtype, outputs[0].shape),)

    def domain(self, x: Array) -> tuple[Array, ...]:
        if self.dtype in FLOATS or self.dtype == "bool" or wide(x).dtype.kind in "iub":
            return (x,)
        least, most = integer_limits(self.dtype)
        margin = 2 ** (BITS[self.dtype] // 2)  # the largest integers are no floats
        return (between(least, most - margin, finite(x)),)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            return (wide(x).astype(numpy_dtype(self.dtype)),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,) = node.inputs
        through = x.type.dtype in FLOATS and self.dtype in FLOATS
        return (cast(dy, x.type.dtype) if through else None,)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        (x,) = node.inputs
        return (x,) if x.type.dtype == self.dtype else None

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for dtype in ("f64", "i32", "u8", "i4", "bool"):
            yield Sample(cls(dtype), (TensorType("f32", (2, 3)),), ((0.0, 4.0),))
        yield Sample(cls("f32"), (TensorType("bool", ()),))
        yield Sample(cls("f32"), (TensorType("i32", (0, 2)),))


def cast(x: Value, dtype: str) -> Value:
    """x as `dtype`; x itself if it is that already."""
    return x if x.type.dtype == dtype else Cast(dtype)(x)
