"""Signs, powers and logarithms of one value, elementwise.

Gradients read the output where that is enough, so that the input's memory is free sooner.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from byparts_graph_ir import Node, Op, Sample, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.dtypes import Array
from byparts_opset.elementwise import computed, floats, numbers, same_shape_back, unary_samples
from byparts_opset.half import in_f32


@dataclass(frozen=True)
class Neg(Op):
    """y = -x."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = numbers
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.negative, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (-dy,)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls())


@dataclass(frozen=True)
class Abs(Op):
    """y = |x|.  The gradient at 0 is 0."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = numbers
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.abs, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy * sign(node.inputs[0]),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls(), 0.5, 2.0)


@dataclass(frozen=True)
class Sign(Op):
    """y = -1, 0 or 1, as x is below, at or above 0; nan of nan.  Flat: no gradient."""

    pattern = "elementwise"
    zero_sign = False
    inplace = ((0, 0),)
    infer = infer_unranked = numbers
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.sign, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (None,)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls(), 0.5, 2.0)


@dataclass(frozen=True)
class Square(Op):
    """y = x * x."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = numbers
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.square, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy * (2 * node.inputs[0]),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (x * x,)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls())


@dataclass(frozen=True)
class Reciprocal(Op):
    """y = 1 / x."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.reciprocal, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (y,) = node.outputs
        return (-(dy * (y * y)),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (1 / x,)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls(), 0.5, 2.0)


@dataclass(frozen=True)
class Sqrt(Op):
    """y = the root of x; nan below 0."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.sqrt, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (0.5 * dy / node.outputs[0],)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls(), 0.5, 2.0)


@dataclass(frozen=True)
class Rsqrt(Op):
    """y = 1 / sqrt(x)."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: np.reciprocal(np.sqrt(x)), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (y,) = node.outputs
        return (-0.5 * dy * (y * y * y),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (1 / sqrt(x),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls(), 0.5, 2.0)


@dataclass(frozen=True)
class Exp(Op):
    """y = e^x."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.exp, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy * node.outputs[0],)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls())


@dataclass(frozen=True)
class Expm1(Op):
    """y = e^x - 1, exact near 0."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.expm1, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy * (node.outputs[0] + 1),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls())


@dataclass(frozen=True)
class Log(Op):
    """y = ln x; -inf at 0, nan below."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.log, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy / node.inputs[0],)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls(), 0.5, 2.0)


@dataclass(frozen=True)
class Log1p(Op):
    """y = ln(1 + x), exact near 0."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.log1p, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy / (node.inputs[0] + 1),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls(), -0.5, 2.0)


neg, abs, sign = Neg(), Abs(), Sign()
square, reciprocal, sqrt, rsqrt = Square(), Reciprocal(), Sqrt(), Rsqrt()
exp, expm1, log, log1p = Exp(), Expm1(), Log(), Log1p()
