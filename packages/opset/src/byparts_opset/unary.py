"""Signs, powers, logarithms and rounding of one value, elementwise.

Gradients read the output where that is enough, so that the input's memory is free sooner.
"""

from __future__ import annotations

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Node, Value
from byparts_opset.dtypes import NUMBERS, Array
from byparts_opset.elementwise import Unary, computed, flat
from byparts_opset.half import in_f32


class Neg(Unary):
    """y = -x."""

    takes = NUMBERS
    ufunc = np.negative

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (-dy,)


class Abs(Unary):
    """y = |x|.  The gradient at 0 is 0."""

    takes = NUMBERS
    smooth = ((0.5, 2.0),)
    ufunc = np.abs

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy * sign(node.inputs[0]),)


class Sign(Unary):
    """y = -1, 0 or 1, as x is below, at or above 0; nan of nan.  Flat: no gradient."""

    takes = NUMBERS
    gradient = flat
    zero_sign = False
    smooth = ((0.5, 2.0),)
    ufunc = np.sign


class Square(Unary):
    """y = x * x."""

    takes = NUMBERS
    ufunc = np.square

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (node.inputs[0] * (2 * dy),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (x * x,)


class Reciprocal(Unary):
    """y = 1 / x."""

    smooth = ((0.5, 2.0),)
    ufunc = np.reciprocal

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (y,) = node.outputs
        return (-(dy * (y * y)),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (1 / x,)


class Sqrt(Unary):
    """y = the root of x; nan below 0."""

    smooth = ((0.5, 2.0),)
    ufunc = np.sqrt

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (0.5 * dy / node.outputs[0],)


class Rsqrt(Unary):
    """y = 1 / sqrt(x)."""

    smooth = ((0.5, 2.0),)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: np.reciprocal(np.sqrt(x)), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (y,) = node.outputs
        return (-0.5 * dy * (y * y * y),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (1 / sqrt(x),)


class Exp(Unary):
    """y = e^x."""

    ufunc = np.exp

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy * node.outputs[0],)


class Expm1(Unary):
    """y = e^x - 1, exact near 0."""

    ufunc = np.expm1

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy * (node.outputs[0] + 1),)


class Log(Unary):
    """y = ln x; -inf at 0, nan below."""

    smooth = ((0.5, 2.0),)
    ufunc = np.log

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy / node.inputs[0],)


class Log1p(Unary):
    """y = ln(1 + x), exact near 0."""

    smooth = ((-0.5, 2.0),)
    ufunc = np.log1p

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy / (node.inputs[0] + 1),)


neg, abs, sign = Neg(), Abs(), Sign()
square, reciprocal, sqrt, rsqrt = Square(), Reciprocal(), Sqrt(), Rsqrt()
exp, expm1, log, log1p = Exp(), Expm1(), Log(), Log1p()


class Floor(Unary):
    """y = the greatest whole number that is not above x."""

    gradient = flat
    smooth = ((0.6, 0.9),)
    ufunc = np.floor


class Ceil(Unary):
    """y = the least whole number that is not below x."""

    gradient = flat
    smooth = ((0.6, 0.9),)
    ufunc = np.ceil

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (-floor(-x),)


class Round(Unary):
    """y = the nearest whole number, halves to even."""

    gradient = flat
    smooth = ((0.6, 0.9),)
    ufunc = np.rint


class Trunc(Unary):
    """y = x rounded towards 0."""

    gradient = flat
    smooth = ((0.6, 0.9),)
    ufunc = np.trunc

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (ops.select(ops.less(x, 0), ceil(x), floor(x)),)


floor, ceil, round, trunc = Floor(), Ceil(), Round(), Trunc()
