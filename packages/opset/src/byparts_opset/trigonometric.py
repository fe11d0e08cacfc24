"""Functions of angles, in radians, and hyperbolic functions, elementwise, and their inverses.

The inverses of the former come down to `atan2`; the decompositions of the latter go through `expm1`
and `log1p`, which keep what is near 0.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Node, Value
from byparts_opset.elementwise import Unary
from byparts_opset.half import in_f32, widened

# From here on sqrt(x^2 + 1) is x to the last digit of f64, and x^2 is no overflow in f32 yet.
FAR, LOG_2 = 1e8, log(2)


class Sin(Unary):
    """y = sin x."""

    ufunc = np.sin

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy * cos(node.inputs[0]),)


class Cos(Unary):
    """y = cos x."""

    ufunc = np.cos

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (-(dy * sin(node.inputs[0])),)


class Tan(Unary):
    """y = tan x."""

    smooth = ((-1.0, 1.0),)
    ufunc = np.tan

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (y,) = node.outputs
        return (dy * (1 + y * y),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (sin(x) / cos(x),)


class Asin(Unary):
    """y = arcsin x, for x in [-1, 1]."""

    smooth = ((-0.75, 0.75),)
    ufunc = np.arcsin

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,) = node.inputs
        return (dy / ops.sqrt((1 - x) * (1 + x)),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (ops.atan2(x, ops.sqrt((1 - x) * (1 + x))),)


class Acos(Unary):
    """y = arccos x, for x in [-1, 1]."""

    smooth = ((-0.75, 0.75),)
    ufunc = np.arccos

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,) = node.inputs
        return (-(dy / ops.sqrt((1 - x) * (1 + x))),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (ops.atan2(ops.sqrt((1 - x) * (1 + x)), x),)


class Atan(Unary):
    """y = arctan x."""

    ufunc = np.arctan

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return _quotient(dy, node, lambda x: 1 + x * x)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (ops.atan2(x, 1),)


sin, cos, tan, asin, acos, atan = Sin(), Cos(), Tan(), Asin(), Acos(), Atan()


class Sinh(Unary):
    """y = sinh x = (e^x - e^-x) / 2."""

    ufunc = np.sinh

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy * cosh(node.inputs[0]),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (0.5 * (ops.expm1(x) - ops.expm1(-x)),)


class Cosh(Unary):
    """y = cosh x = (e^x + e^-x) / 2."""

    ufunc = np.cosh

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy * sinh(node.inputs[0]),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (0.5 * (ops.exp(x) + ops.exp(-x)),)


class Tanh(Unary):
    """y = tanh x."""

    ufunc = np.tanh

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (ops.tanh_gradient(dy, node.outputs[0]),)


class Asinh(Unary):
    """y = ln(x + sqrt(x^2 + 1)), exact near 0."""

    ufunc = np.arcsinh

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return _quotient(dy, node, _hypotenuse)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        size = ops.abs(x)
        square = x * x
        near = ops.log1p(size + square / (1 + ops.sqrt(square + 1)))
        y = ops.sign(x) * ops.select(ops.greater(size, FAR), ops.log(size) + LOG_2, near)
        return (ops.select(ops.equal(x, 0), x, y),)  # -0.0 stays


class Acosh(Unary):
    """y = ln(x + sqrt(x^2 - 1)), for x >= 1."""

    smooth = ((1.5, 3.0),)
    ufunc = np.arccosh

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return _quotient(dy, node, lambda x: ops.sqrt(x - 1) * ops.sqrt(x + 1))

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        over = x - 1
        near = ops.log1p(over + ops.sqrt(over) * ops.sqrt(x + 1))
        return (ops.select(ops.greater(x, FAR), ops.log(x) + LOG_2, near),)


class Atanh(Unary):
    """y = ln((1 + x) / (1 - x)) / 2, for x in [-1, 1]."""

    smooth = ((-0.75, 0.75),)
    ufunc = np.arctanh

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return _quotient(dy, node, lambda x: (1 - x) * (1 + x))

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (0.5 * (ops.log1p(x) - ops.log1p(-x)),)


def _quotient(dy: Value, node: Node, divisor: Callable[[Value], Value]) -> tuple[Value]:
    """dy / divisor(x), of half types in f32: x^2 leaves f16 from 256 on."""
    (x,) = node.inputs
    return (ops.cast(widened(dy) / divisor(widened(x)), x.type.dtype),)


def _hypotenuse(x: Value) -> Value:
    """sqrt(x^2 + 1)."""
    size = ops.abs(x)
    return ops.select(ops.greater(size, FAR), size, ops.sqrt(x * x + 1))


sinh, cosh, tanh, asinh, acosh, atanh = Sinh(), Cosh(), Tanh(), Asinh(), Acosh(), Atanh()
