"""Activations x * P(x), where P rises from 0 to 1, and their gradients: silu and gelu.

Neither can be computed back from y, so the gradients read x.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Node, Value
from byparts_opset.activation import ActivationGradient, logistic
from byparts_opset.domain import between, finite
from byparts_opset.dtypes import Array
from byparts_opset.elementwise import Unary, computed, summed_back
from byparts_opset.error_function import erfc_of
from byparts_opset.half import in_f32

ROOT_PI = math.sqrt(math.pi)
HALF_ROOT = math.sqrt(0.5)
# The approximate gelu has tanh(BEND * (x + CUBIC * x^3)) in the place of erf(x / sqrt 2).
BEND, CUBIC = math.sqrt(2 / math.pi), 0.044715
# Beyond it the slope of the approximate gelu is 0 or 1 exactly, and its terms would be inf * 0.
FLAT = 100.0


class Silu(Unary):
    """y = x * sigmoid(x), also called swish."""

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: x * logistic(x), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (silu_gradient(dy, node.inputs[0]),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (x * ops.sigmoid(x),)


class SiluGradient(ActivationGradient):
    """dx = dy * s * (1 + x * (1 - s)), for y = x * s with s = sigmoid(x)."""

    cancels = True

    def evaluate(self, dy: Array, x: Array) -> tuple[Array, ...]:
        def slope(dy: Array, x: Array) -> Array:
            s = logistic(x)
            dx: Array = dy * (s + (x * s) * (1 - s))
            return dx

        return computed(slope, dy, x)

    def gradient(self, node: Node, ddx: Value) -> tuple[Value | None, ...]:
        dy, x = node.inputs
        s = ops.sigmoid(x)
        bend = s * (1 - s) * (2 + x * (1 - 2 * s))
        return summed_back(node, self(ddx, x), ddx * dy * bend)

    @in_f32
    def decompose(self, dy: Value, x: Value) -> tuple[Value, ...] | None:
        s = ops.sigmoid(x)
        return (dy * (s + x * s * (1 - s)),)


class Gelu(Unary):
    """y = x * P(a standard normal number is below x).

    P is (1 + erf(x / sqrt 2)) / 2; approximate, (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2.
    Hendrycks and Gimpel 2016, https://arxiv.org/abs/1606.08415.
    Kernels may add 1 and erf, which cancel below 0: they are off by at most 3 eps max(1, |x|), and
    have no digit left below -5.4 in f32.  `evaluate` has all of them.
    """

    approximate: bool = False

    cancels = True
    examples = ((), (True,))

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        if self.approximate:
            return computed(lambda x: x * (0.5 * (1 + np.tanh(_bent(x)))), x)
        return computed(lambda x: x * _share_of(x), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (gelu_gradient(dy, node.inputs[0], self.approximate),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (x * (_approximate_share(x) if self.approximate else _normal_share(x)),)


class GeluGradient(ActivationGradient):
    """dx = dy * (P + x * P'), for y = x * P(x) as in `Gelu`."""

    approximate: bool = False

    cancels = True
    examples = ((), (True,))

    def domain(self, dy: Array, x: Array) -> tuple[Array, ...]:
        return (dy, between(-1e4, 1e4, finite(x)))  # x^2 may overflow, and inf * 0 is nan

    def evaluate(self, dy: Array, x: Array) -> tuple[Array, ...]:
        def slope(dy: Array, x: Array) -> Array:
            wide = x.astype(np.float64)
            density = HALF_ROOT / ROOT_PI * np.exp(-0.5 * (wide * wide))
            dx: Array = dy * (_share_of(x) + x * density)
            return dx

        def approximate_slope(dy: Array, x: Array) -> Array:
            x = np.clip(x, -FLAT, FLAT)
            bend = np.tanh(_bent(x))
            dx: Array = dy * (0.5 * (1 + bend) + 0.5 * x * (1 - bend * bend) * _steepness(x))
            return dx

        return computed(approximate_slope if self.approximate else slope, dy, x)

    def gradient(self, node: Node, ddx: Value) -> tuple[Value | None, ...]:
        dy, x = node.inputs
        if not self.approximate:
            return summed_back(node, self(ddx, x), ddx * dy * (_density(x) * (2 - x * x)))
        bend, steep = ops.tanh(_bent(x)), _steepness(x)
        inner = steep + 0.5 * x * (6 * BEND * CUBIC * x - 2 * bend * (steep * steep))
        return summed_back(node, self(ddx, x), ddx * dy * ((1 - bend * bend) * inner))

    @in_f32
    def decompose(self, dy: Value, x: Value) -> tuple[Value, ...] | None:
        if not self.approximate:
            return (dy * (_normal_share(x) + x * _density(x)),)
        share = _approximate_share(x)  # beyond FLAT 0 or 1: as in `Gelu`, so that both share it
        x = ops.clip(x, -FLAT, FLAT)
        return (dy * (share + x * (share * (1 - share)) * (2 * _steepness(x))),)


silu, silu_gradient = Silu(), SiluGradient()


def gelu(x: Value, approximate: bool = False) -> Value:
    """x times the share of the standard normal distribution below it; or by tanh, approximately."""
    return Gelu(approximate)(x)


def gelu_gradient(dy: Value, x: Value, approximate: bool = False) -> Value:
    """The gradient of `gelu(x, approximate)`."""
    return GeluGradient(approximate)(dy, x)


def _share_of(x: Array) -> Array:
    """P of an array, in f64: erfc has the digits that 1 + erf loses where it is near 0."""
    return np.asarray(0.5 * erfc_of(-HALF_ROOT * x.astype(np.float64)))


def _normal_share(x: Value) -> Value:
    """P(a standard normal number is below x)."""
    return 0.5 * (1 + ops.erf(x * HALF_ROOT))


def _approximate_share(x: Value) -> Value:
    """(1 + tanh(_bent(x))) / 2, which is sigmoid(2 _bent(x)), without cancellation."""
    return ops.sigmoid(2 * BEND * (x + CUBIC * (x * x * x)))


def _density(x: Value) -> Value:
    """The standard normal density: P' of the exact gelu."""
    return HALF_ROOT / ROOT_PI * ops.exp(-0.5 * (x * x))


def _bent(x: Any) -> Any:
    """Argument of the tanh in the approximate gelu, for values as for arrays."""
    return BEND * (x + CUBIC * (x * x * x))


def _steepness(x: Any) -> Any:
    """The derivative of `_bent`, for values as for arrays."""
    return BEND + 3 * BEND * CUBIC * (x * x)
