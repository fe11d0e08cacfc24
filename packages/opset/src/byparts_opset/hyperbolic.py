"""Hyperbolic functions and their inverses, elementwise.

The decompositions go through `expm1` and `log1p`, which keep what is near 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Node, Op, Sample, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.dtypes import Array
from byparts_opset.elementwise import computed, floats, same_shape_back, unary_samples
from byparts_opset.half import in_f32

# From here on sqrt(x^2 + 1) is x to the last digit of f64, and x^2 is no overflow in f32 yet.
FAR, LOG_2 = 1e8, log(2)


@dataclass(frozen=True)
class Sinh(Op):
    """y = sinh x = (e^x - e^-x) / 2."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.sinh, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy * cosh(node.inputs[0]),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (0.5 * (ops.expm1(x) - ops.expm1(-x)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls())


@dataclass(frozen=True)
class Cosh(Op):
    """y = cosh x = (e^x + e^-x) / 2."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.cosh, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy * sinh(node.inputs[0]),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (0.5 * (ops.exp(x) + ops.exp(-x)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls())


@dataclass(frozen=True)
class Tanh(Op):
    """y = tanh x."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.tanh, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (ops.tanh_gradient(dy, node.outputs[0]),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls())


@dataclass(frozen=True)
class Asinh(Op):
    """y = ln(x + sqrt(x^2 + 1)), exact near 0."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.arcsinh, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,) = node.inputs
        return (dy / ops.sqrt(x * x + 1),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        size = ops.abs(x)
        square = x * x
        near = ops.log1p(size + square / (1 + ops.sqrt(square + 1)))
        y = ops.sign(x) * ops.select(ops.greater(size, FAR), ops.log(size) + LOG_2, near)
        return (ops.select(ops.equal(x, 0), x, y),)  # -0.0 stays

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls())


@dataclass(frozen=True)
class Acosh(Op):
    """y = ln(x + sqrt(x^2 - 1)), for x >= 1."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.arccosh, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,) = node.inputs
        return (dy / ops.sqrt((x - 1) * (x + 1)),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        over = x - 1
        near = ops.log1p(over + ops.sqrt(over) * ops.sqrt(x + 1))
        return (ops.select(ops.greater(x, FAR), ops.log(x) + LOG_2, near),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls(), 1.5, 3.0)


@dataclass(frozen=True)
class Atanh(Op):
    """y = ln((1 + x) / (1 - x)) / 2, for x in [-1, 1]."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.arctanh, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,) = node.inputs
        return (dy / ((1 - x) * (1 + x)),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (0.5 * (ops.log1p(x) - ops.log1p(-x)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls(), -0.75, 0.75)


sinh, cosh, tanh, asinh, acosh, atanh = Sinh(), Cosh(), Tanh(), Asinh(), Acosh(), Atanh()
