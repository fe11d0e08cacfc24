"""Gradients of activations, each one op: a backend does in one pass what are four elementwise ops.

Those of relu, sigmoid and tanh read the activation's *output*, so that its input may be overwritten
as soon as it is activated; gelu and silu do not go back from output to input, and read x.  Operands
broadcast, so the dy of a mean stays one number.  All are linear in dy, which is what their own
gradients go by.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Node, Op, Sample, TensorType, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.activation import BEND, CUBIC, HALF_ROOT, ROOT_PI, bent, normal_share
from byparts_opset.domain import between, finite
from byparts_opset.dtypes import Array
from byparts_opset.elementwise import binary_samples, broadcast_back, computed, two_floats
from byparts_opset.error_function import erf_of
from byparts_opset.half import in_f32

# Beyond it the slope of gelu by tanh is 0 or 1 exactly, and its terms would become inf * 0.
FLAT = 100.0


@dataclass(frozen=True)
class ReluGradient(Op):
    """dx = dy, but 0 where y = relu(x) is 0."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = two_floats
    infer_inputs = broadcast_back

    def evaluate(self, dy: Array, y: Array) -> tuple[Array, ...]:
        return computed(lambda dy, y: np.where(y <= 0, 0, dy), dy, y)

    def gradient(self, node: Node, ddx: Value) -> tuple[Value | None, ...]:
        dy, y = node.inputs
        return (ops.sum_like(self(ddx, y), dy), None)

    def decompose(self, dy: Value, y: Value) -> tuple[Value, ...] | None:
        return (ops.select(ops.less_equal(y, 0), 0, dy),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield from _samples(cls(), 0.1, 2.0)
        yield from _samples(cls(), -2.0, -0.1)
        yield Sample(cls(), (TensorType("f32", (3, 4)),) * 2, ((-1, 1), (0, 0)))


@dataclass(frozen=True)
class SigmoidGradient(Op):
    """dx = dy * y * (1 - y), for y = sigmoid(x)."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = two_floats
    infer_inputs = broadcast_back

    def domain(self, dy: Array, y: Array) -> tuple[Array, ...]:
        return (dy, between(0, 1, y))

    def evaluate(self, dy: Array, y: Array) -> tuple[Array, ...]:
        return computed(lambda dy, y: dy * (y * (1 - y)), dy, y)

    def gradient(self, node: Node, ddx: Value) -> tuple[Value | None, ...]:
        dy, y = node.inputs
        return _summed(node, self(ddx, y), ddx * dy * (1 - 2 * y))

    @in_f32
    def decompose(self, dy: Value, y: Value) -> tuple[Value, ...] | None:
        return (dy * (y * (1 - y)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return _samples(cls(), 0.0, 1.0)


@dataclass(frozen=True)
class TanhGradient(Op):
    """dx = dy * (1 - y * y), for y = tanh(x)."""

    pattern = "elementwise"
    cancels = True
    inplace = ((0, 0),)
    infer = infer_unranked = two_floats
    infer_inputs = broadcast_back

    def domain(self, dy: Array, y: Array) -> tuple[Array, ...]:
        return (dy, between(-1, 1, y))

    def evaluate(self, dy: Array, y: Array) -> tuple[Array, ...]:
        return computed(lambda dy, y: dy * (1 - y * y), dy, y)

    def gradient(self, node: Node, ddx: Value) -> tuple[Value | None, ...]:
        dy, y = node.inputs
        return _summed(node, self(ddx, y), -2 * (ddx * dy * y))

    @in_f32
    def decompose(self, dy: Value, y: Value) -> tuple[Value, ...] | None:
        return (dy * (1 - y * y),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return _samples(cls(), -1.0, 1.0)


@dataclass(frozen=True)
class SiluGradient(Op):
    """dx = dy * s * (1 + x * (1 - s)), for y = x * s with s = sigmoid(x)."""

    pattern = "elementwise"
    cancels = True
    inplace = ((0, 0),)
    infer = infer_unranked = two_floats
    infer_inputs = broadcast_back

    def evaluate(self, dy: Array, x: Array) -> tuple[Array, ...]:
        return computed(lambda dy, x: dy * _slope_of_silu(x), dy, x)

    def gradient(self, node: Node, ddx: Value) -> tuple[Value | None, ...]:
        dy, x = node.inputs
        share = ops.sigmoid(x)
        bend = share * (1 - share) * (2 + x * (1 - 2 * share))
        return _summed(node, self(ddx, x), ddx * dy * bend)

    @in_f32
    def decompose(self, dy: Value, x: Value) -> tuple[Value, ...] | None:
        share = ops.sigmoid(x)
        return (dy * (share + x * share * (1 - share)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return _samples(cls())


@dataclass(frozen=True)
class GeluGradient(Op):
    """dx = dy * (P + x * P'), for y = x * P(x) as in `Gelu`."""

    approximate: bool = False

    pattern = "elementwise"
    cancels = True
    inplace = ((0, 0),)
    infer = infer_unranked = two_floats
    infer_inputs = broadcast_back

    def domain(self, dy: Array, x: Array) -> tuple[Array, ...]:
        return (dy, between(-1e4, 1e4, finite(x)))  # x^2 may overflow, and inf * 0 is nan

    def evaluate(self, dy: Array, x: Array) -> tuple[Array, ...]:
        slope = _slope_by_tanh if self.approximate else _slope
        return computed(lambda dy, x: dy * slope(x), dy, x)

    def gradient(self, node: Node, ddx: Value) -> tuple[Value | None, ...]:
        dy, x = node.inputs
        if not self.approximate:
            return _summed(node, self(ddx, x), ddx * dy * (_density(x) * (2 - x * x)))
        bend, steep = ops.tanh(bent(x)), _steepness(x)
        inner = steep + 0.5 * x * (6 * BEND * CUBIC * x - 2 * bend * (steep * steep))
        return _summed(node, self(ddx, x), ddx * dy * ((1 - bend * bend) * inner))

    @in_f32
    def decompose(self, dy: Value, x: Value) -> tuple[Value, ...] | None:
        if not self.approximate:
            return (dy * (normal_share(x) + x * _density(x)),)
        x = ops.clip(x, -FLAT, FLAT)
        bend = ops.tanh(bent(x))
        return (dy * (0.5 * (1 + bend) + 0.5 * x * (1 - bend * bend) * _steepness(x)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield from _samples(cls())
        yield from _samples(cls(True))


relu_gradient, sigmoid_gradient, tanh_gradient = ReluGradient(), SigmoidGradient(), TanhGradient()
silu_gradient = SiluGradient()


def gelu_gradient(dy: Value, x: Value, approximate: bool = False) -> Value:
    """The gradient of `gelu(x, approximate)`."""
    return GeluGradient(approximate)(dy, x)


def _density(x: Value) -> Value:
    """The standard normal density: P' of the exact gelu."""
    return HALF_ROOT / ROOT_PI * ops.exp(-0.5 * (x * x))


def _steepness(x: Value) -> Value:
    """The derivative of `bent`."""
    return BEND + 3 * BEND * CUBIC * (x * x)


def _slope(x: Array) -> Array:
    density = HALF_ROOT / ROOT_PI * np.exp(-0.5 * (x * x))
    slope: Array = 0.5 * (1 + erf_of(x * HALF_ROOT)) + x * density
    return slope


def _slope_by_tanh(x: Array) -> Array:
    x = np.clip(x, -FLAT, FLAT)
    bend = np.tanh(bent(x))
    steep = BEND + 3 * BEND * CUBIC * (x * x)
    slope: Array = 0.5 * (1 + bend) + 0.5 * x * (1 - bend * bend) * steep
    return slope


def _slope_of_silu(x: Array) -> Array:
    share = 1 / (1 + np.exp(-x))
    slope: Array = share + (x * share) * (1 - share)
    return slope


def _summed(node: Node, ddy: Value, dx: Value) -> tuple[Value | None, ...]:
    """Gradients in the shape of the result, each in that of its input."""
    dy, x = node.inputs
    return (ops.sum_like(ddy, dy), ops.sum_like(dx, x))


def _samples(op: Op, low: float = -2.0, high: float = 2.0) -> Iterator[Sample]:
    """`low` and `high` are of the second input."""
    return binary_samples(op, (-1.0, 1.0), (low, high))
