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
    round to nearest even, once: f64 to f16 and bf16 as well.  Differentiable between floats.
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
            x = wide(x)
            if x.dtype == np.float64 and self.dtype == "bf16":
                x = rounded_to_odd(x)
            return (x.astype(numpy_dtype(self.dtype)),)

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


def rounded_to_odd(x: Array) -> Array:
    """Round f64 to f32 such that to round the result to bf16 is to round x to bf16 once.

    A result that is not exact gets an odd last bit, so that it is half way between two numbers of
    fewer digits only where x is.  NumPy's bf16 (ml_dtypes) goes by way of f32 without this care.
    Source: S. Boldo and G. Melquiond, "Emulation of FMA and correctly rounded sums: proved
    algorithms using rounding to odd" (2008).
    """
    y = x.astype(np.float32)
    back = y.astype(np.float64)
    bits = np.atleast_1d(y).view(np.int32).reshape(y.shape)
    odd = (bits - (abs(back) > abs(x))) | 1  # towards zero, then odd
    exact = (back == x) | np.isnan(x)
    return np.where(exact, y, odd.astype(np.int32).view(np.float32))


def cast(x: Value, dtype: str) -> Value:
    """x as `dtype`; x itself if it is that already."""
    return x if x.type.dtype == dtype else Cast(dtype)(x)
