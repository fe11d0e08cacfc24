"""The error function, its complement and its inverse, elementwise.

The meaning of the first two is that of C's library, by Python's `math`; the inverse is Newton's
method on them, from the normal quantile of `statistics`.  Slow, and good to the last digit or two.
"""

from __future__ import annotations

import math

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Node, Value
from byparts_opset.dtypes import Array
from byparts_opset.elementwise import Unary, computed

SLOPE = 2 / math.sqrt(math.pi)  # of erf at 0

erf_of = np.vectorize(math.erf, otypes=[np.float64])  # of arrays
erfc_of = np.vectorize(math.erfc, otypes=[np.float64])


class Erf(Unary):
    """y = 2 / sqrt(pi) * the integral of e^(-t^2) from 0 to x."""

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(erf_of, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,) = node.inputs
        return (dy * (SLOPE * ops.exp(-(x * x))),)


class Erfc(Unary):
    """y = 1 - erf(x), with all its digits where erf is near 1."""

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(erfc_of, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,) = node.inputs
        return (-(dy * (SLOPE * ops.exp(-(x * x)))),)


class Erfinv(Unary):
    """erf(y) = x, for x in (-1, 1); infinite at the ends, nan beyond."""

    smooth = ((-0.95, 0.95),)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(np.vectorize(_inverse, otypes=[np.float64]), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (y,) = node.outputs
        return (dy * (ops.exp(y * y) / SLOPE),)


def _inverse(x: float) -> float:
    """erfinv(x) by two Newton steps from a normal quantile; uses erfc where erf is near 1."""
    from statistics import NormalDist  # loads `random` and `decimal`: 10 ms that few programs need

    size = abs(x)
    if not 0 < size < 1:
        return x if x == 0 else math.copysign(math.inf, x) if size == 1 else math.nan
    y = -NormalDist().inv_cdf((1 - size) / 2) / math.sqrt(2)
    for _ in range(2):
        above = math.erf(y) - size if size < 0.5 else (1 - size) - math.erfc(y)
        y -= above / (SLOPE * math.exp(-y * y))
    return math.copysign(y, x)


erf, erfc, erfinv = Erf(), Erfc(), Erfinv()
