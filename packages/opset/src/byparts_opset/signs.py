"""Signs of floats, that of zeros included, and the floats next to others.

Which sign a nan has is left open: backends lose it on the way.
"""

from __future__ import annotations

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import FLOATS, Node, Value
from byparts_opset.dtypes import Array, wide
from byparts_opset.elementwise import Binary, Question, flat, summed_back


class SignBit(Question):
    """y = whether x is negative, -0.0 included."""

    name = "signbit"
    takes = FLOATS
    ufunc = np.signbit

    def domain(self, x: Array) -> tuple[Array, ...]:
        return (_no_nan(x),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (ops.logical_or(ops.less(x, 0), ops.less(ops.reciprocal(x), 0)),)  # 1 / -0 = -inf


class CopySign(Binary):
    """z = x with the sign of y, that of a zero included.

    The gradient of x is 0 where x is 0, and y has none.
    """

    name = "copysign"
    takes = FLOATS
    smooth = ((0.5, 2.0), (-2.0, -0.5))
    ufunc = np.copysign

    def domain(self, x: Array, y: Array) -> tuple[Array, ...]:
        return (x, _no_nan(y))

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        x, y = node.inputs
        kept = ops.equal(ops.sign(x), copysign(ops.sign(x), y))
        slope = ops.select(ops.equal(x, 0), 0, ops.select(kept, dz, -dz))
        return (summed_back(node, slope, dz)[0], None)

    def decompose(self, x: Value, y: Value) -> tuple[Value, ...] | None:
        size = ops.abs(x)
        return (ops.select(signbit(y), -size, size),)


class NextAfter(Binary):
    """z = the next float after x towards y; x where both are equal.  No gradient."""

    name = "nextafter"
    zero_sign = False  # of two equal zeros some give x, others y
    takes = FLOATS
    gradient = flat

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            return (np.asarray(np.nextafter(x, y)),)  # of its own dtype: an f32 is next to others


signbit, copysign, nextafter = SignBit(), CopySign(), NextAfter()


def _no_nan(x: Array) -> Array:
    return np.where(np.isnan(wide(x)), np.ones_like(x), x)
