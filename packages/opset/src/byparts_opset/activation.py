"""Activations, elementwise: all are made of simpler ops, and may have kernels of their own.

Gradients read the output where that is enough, so that the input's memory is free sooner; those of
the common ones are ops of their own, in `activation_gradient.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Node, Op, Sample, ShapeError, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.dtypes import Array
from byparts_opset.elementwise import computed, floats, numbers, same_shape_back, unary_samples
from byparts_opset.error_function import erf_of
from byparts_opset.half import in_f32

# Klambauer et al. 2017, "Self-Normalizing Neural Networks", https://arxiv.org/abs/1706.02515.
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946
ROOT_PI = math.sqrt(math.pi)
HALF_ROOT = math.sqrt(0.5)
# The bent line whose tanh stands for erf in the approximate gelu: BEND * (x + CUBIC * x^3).
BEND, CUBIC = math.sqrt(2 / math.pi), 0.044715


@dataclass(frozen=True)
class Relu(Op):
    """y = x above 0, else 0.  The gradient at 0 is 0."""

    pattern = "elementwise"
    zero_sign = False
    inplace = ((0, 0),)
    infer = infer_unranked = numbers
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: np.maximum(x, 0), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (ops.relu_gradient(dy, node.outputs[0]),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (ops.maximum(x, 0),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield from unary_samples(cls(), 0.1, 2.0)
        yield from unary_samples(cls(), -2.0, -0.1)


@dataclass(frozen=True)
class Relu6(Op):
    """y = x held between 0 and 6.  The gradient at 0, at 6 and at nan is 0, as in torch.

    An op beside `Clip`, whose gradient is made of more nodes where it does not pass on the bounds.
    """

    pattern = "elementwise"
    zero_sign = False
    inplace = ((0, 0),)
    infer = infer_unranked = numbers
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: np.minimum(np.maximum(x, 0), 6), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (y,) = node.outputs
        return (ops.select(ops.less(y, 6), ops.relu_gradient(dy, y), 0),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (ops.clip(x, 0.0, 6.0),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield from unary_samples(cls(), -2.0, -0.1)
        yield from unary_samples(cls(), 0.1, 5.9)
        yield from unary_samples(cls(), 6.1, 9.0)


@dataclass(frozen=True)
class LeakyRelu(Op):
    """y = x above 0, else alpha * x, for alpha >= 0."""

    alpha: float = 0.2

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def __post_init__(self) -> None:
        _not_negative(self, self.alpha)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: np.where(x > 0, x, self.alpha * x), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (y,) = node.outputs
        return (ops.select(ops.greater(y, 0), dy, self.alpha * dy),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (ops.select(ops.greater(x, 0), x, self.alpha * x),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield from unary_samples(cls(), 0.1, 2.0)
        yield from unary_samples(cls(0.01), -2.0, -0.1)


@dataclass(frozen=True)
class Elu(Op):
    """y = x above 0, else alpha * (e^x - 1), for alpha >= 0.

    Clevert et al. 2015, https://arxiv.org/abs/1511.07289.
    """

    alpha: float = 1.0

    pattern = "elementwise"
    zero_sign = False
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def __post_init__(self) -> None:
        _not_negative(self, self.alpha)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: np.where(x > 0, x, self.alpha * np.expm1(x)), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (y,) = node.outputs
        return (ops.select(ops.greater(y, 0), dy, dy * (y + self.alpha)),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (ops.select(ops.greater(x, 0), x, self.alpha * ops.expm1(x)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield from unary_samples(cls(), 0.1, 2.0)
        yield from unary_samples(cls(0.5), -2.0, -0.1)


@dataclass(frozen=True)
class Selu(Op):
    """y = scale * elu(x, alpha), with the constants that keep mean 0 and variance 1."""

    pattern = "elementwise"
    zero_sign = False
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: SELU_SCALE * np.where(x > 0, x, SELU_ALPHA * np.expm1(x)), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (y,) = node.outputs
        below = y + SELU_SCALE * SELU_ALPHA
        return (dy * ops.select(ops.greater(y, 0), SELU_SCALE, below),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (SELU_SCALE * ops.select(ops.greater(x, 0), x, SELU_ALPHA * ops.expm1(x)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield from unary_samples(cls(), 0.1, 2.0)
        yield from unary_samples(cls(), -2.0, -0.1)


@dataclass(frozen=True)
class Sigmoid(Op):
    """y = 1 / (1 + e^-x)."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: 1 / (1 + np.exp(-x)), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (ops.sigmoid_gradient(dy, node.outputs[0]),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (1 / (1 + ops.exp(-x)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls())


@dataclass(frozen=True)
class Softplus(Op):
    """y = ln(1 + e^x), without overflow."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy * sigmoid(node.inputs[0]),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (ops.maximum(x, 0) + ops.log1p(ops.exp(-ops.abs(x))),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls())


@dataclass(frozen=True)
class Softsign(Op):
    """y = x / (1 + |x|)."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: x / (1 + np.abs(x)), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,) = node.inputs
        below = 1 + ops.abs(x)
        return (dy / (below * below),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (x / (1 + ops.abs(x)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls(), 0.1, 2.0)


@dataclass(frozen=True)
class Silu(Op):
    """y = x * sigmoid(x), also called swish."""

    pattern = "elementwise"
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: x / (1 + np.exp(-x)), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (ops.silu_gradient(dy, node.inputs[0]),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (x * sigmoid(x),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return unary_samples(cls())


@dataclass(frozen=True)
class Gelu(Op):
    """y = x * P(a standard normal number is below x).

    P is (1 + erf(x / sqrt 2)) / 2; approximate, (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2.
    Hendrycks and Gimpel 2016, https://arxiv.org/abs/1606.08415.
    """

    approximate: bool = False

    pattern = "elementwise"
    cancels = True
    inplace = ((0, 0),)
    infer = infer_unranked = floats
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        if self.approximate:
            return computed(lambda x: x * (0.5 * (1 + np.tanh(bent(x)))), x)
        return computed(lambda x: x * (0.5 * (1 + erf_of(x * HALF_ROOT))), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (ops.gelu_gradient(dy, node.inputs[0], self.approximate),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (x * (0.5 * (1 + ops.tanh(bent(x))) if self.approximate else normal_share(x)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield from unary_samples(cls())
        yield from unary_samples(cls(True))


def normal_share(x: Value) -> Value:
    """P(a standard normal number is below x)."""
    return 0.5 * (1 + ops.erf(x * HALF_ROOT))


def bent(x: Any) -> Any:
    """The bent line of the approximate gelu, of values as of arrays."""
    return BEND * (x + CUBIC * (x * x * x))


def _not_negative(op: Op, alpha: float) -> None:
    # Then y > 0 tells x > 0, and the gradient needs the output alone.
    if not alpha >= 0:
        raise ShapeError(f"{op.name}: alpha is {alpha}, and must not be negative")


relu, relu6, sigmoid, softplus, softsign = Relu(), Relu6(), Sigmoid(), Softplus(), Softsign()
silu, selu = Silu(), Selu()


def leaky_relu(x: Value, alpha: float = 0.2) -> Value:
    """x above 0, else alpha * x."""
    return LeakyRelu(alpha)(x)


def elu(x: Value, alpha: float = 1.0) -> Value:
    """x above 0, else alpha * (e^x - 1)."""
    return Elu(alpha)(x)


def gelu(x: Value, approximate: bool = False) -> Value:
    """x times the share of the standard normal distribution below it; or by tanh, approximately."""
    return Gelu(approximate)(x)
