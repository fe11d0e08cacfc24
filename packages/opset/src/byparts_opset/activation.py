"""Activations, elementwise, and gradients of some: all are made of simpler ops.

Gradients read the output where that is enough, so that the input's memory is free sooner.  Those of
the common activations are ops of their own: a backend does in one pass what are several elementwise
ops.  Their operands broadcast, so the dy of a mean stays one number, and all are linear in dy,
which is what their own gradients go by.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import FLOATS, Node, Op, Sample, ShapeError, TensorType, Value
from byparts_opset.domain import between
from byparts_opset.dtypes import NUMBERS, Array
from byparts_opset.elementwise import BROADCASTS, Binary, Range, Unary, computed, summed_back
from byparts_opset.half import in_f32

# Klambauer et al. 2017, "Self-Normalizing Neural Networks", https://arxiv.org/abs/1706.02515.
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


class Relu(Unary):
    """y = x above 0, else 0.  The gradient at 0 is 0."""

    takes = NUMBERS
    zero_sign = False
    smooth = ((0.1, 2.0), (-2.0, -0.1))

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: np.maximum(x, 0), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (ops.relu_gradient(dy, node.outputs[0]),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (ops.maximum(x, 0),)


class Relu6(Unary):
    """y = x held between 0 and 6.  The gradient at 0, at 6 and at nan is 0, as in torch.

    An op beside `Clip`, whose gradient is made of more nodes where it does not pass on the bounds.
    """

    takes = NUMBERS
    zero_sign = False
    smooth = ((-2.0, -0.1), (0.1, 5.9), (6.1, 9.0))

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: np.minimum(np.maximum(x, 0), 6), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (y,) = node.outputs
        return (ops.select(ops.less(y, 6), ops.relu_gradient(dy, y), 0),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (ops.clip(x, 0.0, 6.0),)


class LeakyRelu(Unary):
    """y = x above 0, else alpha * x, for alpha >= 0."""

    alpha: float = 0.2

    examples = ((), (0.01,))
    smooth = ((0.1, 2.0), (-2.0, -0.1))

    def __post_init__(self) -> None:
        _not_negative(self, self.alpha)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: np.where(x > 0, x, self.alpha * x), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (y,) = node.outputs
        return (ops.select(ops.greater(y, 0), dy, self.alpha * dy),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (ops.select(ops.greater(x, 0), x, self.alpha * x),)


class Elu(Unary):
    """y = x above 0, else alpha * (e^x - 1), for alpha >= 0.

    Clevert et al. 2015, https://arxiv.org/abs/1511.07289.
    """

    alpha: float = 1.0

    zero_sign = False
    examples = ((), (0.5,))
    smooth = ((0.1, 2.0), (-2.0, -0.1))

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


class Selu(Unary):
    """y = scale * elu(x, alpha), with the constants that keep mean 0 and variance 1."""

    zero_sign = False
    smooth = ((0.1, 2.0), (-2.0, -0.1))

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: SELU_SCALE * np.where(x > 0, x, SELU_ALPHA * np.expm1(x)), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (y,) = node.outputs
        below = y + SELU_SCALE * SELU_ALPHA
        return (dy * ops.select(ops.greater(y, 0), SELU_SCALE, below),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (SELU_SCALE * ops.select(ops.greater(x, 0), x, SELU_ALPHA * ops.expm1(x)),)


def logistic(x: Array) -> Array:
    """1 / (1 + e^-x), of which no exponential is infinite."""
    e = np.exp(-np.abs(x))
    y: Array = np.where(x < 0, e, 1) / (1 + e)
    return y


class Sigmoid(Unary):
    """y = 1 / (1 + e^-x), without overflow."""

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(logistic, x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (ops.sigmoid_gradient(dy, node.outputs[0]),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        e = ops.exp(-ops.abs(x))
        return (ops.select(x < 0, e, 1) / (1 + e),)


class Softplus(Unary):
    """y = ln(1 + e^x), without overflow."""

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy * sigmoid(node.inputs[0]),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (ops.maximum(x, 0) + ops.log1p(ops.exp(-ops.abs(x))),)


class Softsign(Unary):
    """y = x / (1 + |x|)."""

    smooth = ((0.1, 2.0),)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return computed(lambda x: x / (1 + np.abs(x)), x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,) = node.inputs
        below = 1 + ops.abs(x)
        return (dy / below / below,)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (x / (1 + ops.abs(x)),)


class ActivationGradient(Binary):
    """dx = dy * slope, which is computed from y, or from x, and linear in dy.

    Attributes:
        smooth: ranges of the second input; dy is drawn from [-1, 1).
    """

    inplace = ((0, 0),)
    takes = FLOATS
    smooth: ClassVar[tuple[Range, ...]] = ((-2.0, 2.0),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for fields in cls.examples:
            for limits in cls.smooth:
                for shapes in BROADCASTS:
                    dy, y = (TensorType("f32", shape) for shape in shapes)
                    yield Sample(cls(*fields), (dy, y), ((-1.0, 1.0), limits))


class ReluGradient(ActivationGradient):
    """dx = dy, but 0 where y = relu(x) is 0."""

    smooth = ((0.1, 2.0), (-2.0, -0.1), (0.0, 0.0))

    def evaluate(self, dy: Array, y: Array) -> tuple[Array, ...]:
        return computed(lambda dy, y: np.where(y <= 0, 0, dy), dy, y)

    def gradient(self, node: Node, ddx: Value) -> tuple[Value | None, ...]:
        dy, y = node.inputs
        return (ops.sum_like(self(ddx, y), dy), None)

    def decompose(self, dy: Value, y: Value) -> tuple[Value, ...] | None:
        return (ops.select(ops.less_equal(y, 0), 0, dy),)


class SigmoidGradient(ActivationGradient):
    """dx = dy * y * (1 - y), for y = sigmoid(x)."""

    smooth = ((0.0, 1.0),)

    def domain(self, dy: Array, y: Array) -> tuple[Array, ...]:
        return (dy, between(0, 1, y))

    def evaluate(self, dy: Array, y: Array) -> tuple[Array, ...]:
        return computed(lambda dy, y: dy * (y * (1 - y)), dy, y)

    def gradient(self, node: Node, ddx: Value) -> tuple[Value | None, ...]:
        dy, y = node.inputs
        return summed_back(node, self(ddx, y), ddx * dy * (1 - 2 * y))

    @in_f32
    def decompose(self, dy: Value, y: Value) -> tuple[Value, ...] | None:
        return (dy * (y * (1 - y)),)


class TanhGradient(ActivationGradient):
    """dx = dy * (1 - y * y), for y = tanh(x)."""

    cancels = True
    smooth = ((-1.0, 1.0),)

    def domain(self, dy: Array, y: Array) -> tuple[Array, ...]:
        return (dy, between(-1, 1, y))

    def evaluate(self, dy: Array, y: Array) -> tuple[Array, ...]:
        return computed(lambda dy, y: dy * (1 - y * y), dy, y)

    def gradient(self, node: Node, ddx: Value) -> tuple[Value | None, ...]:
        dy, y = node.inputs
        return summed_back(node, self(ddx, y), -2 * (ddx * dy * y))

    @in_f32
    def decompose(self, dy: Value, y: Value) -> tuple[Value, ...] | None:
        return (dy * (1 - y * y),)


def _not_negative(op: Op, alpha: float) -> None:
    # Then y > 0 tells x > 0, and the gradient needs the output alone.
    if not alpha >= 0:
        raise ShapeError(f"{op.name}: alpha is {alpha}, and must not be negative")


relu, relu6, selu, sigmoid = Relu(), Relu6(), Selu(), Sigmoid()
softplus, softsign = Softplus(), Softsign()
relu_gradient, sigmoid_gradient, tanh_gradient = ReluGradient(), SigmoidGradient(), TanhGradient()


def log_sigmoid(x: Value) -> Value:
    """log(sigmoid(x)) = -softplus(-x), which is x where the sigmoid underflows."""
    return -softplus(-x)


def leaky_relu(x: Value, alpha: float = 0.2) -> Value:
    """x above 0, else alpha * x."""
    return LeakyRelu(alpha)(x)


def elu(x: Value, alpha: float = 1.0) -> Value:
    """x above 0, else alpha * (e^x - 1)."""
    return Elu(alpha)(x)
