"""Functions of one element, or of one element of each input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import byparts_opset as ops
from byparts_frontend_onnx.node import OnnxNode, axis_in, rank_of
from byparts_frontend_onnx.rules import rules
from byparts_frontend_onnx.tensors import dtype_of
from byparts_graph_ir import BITS, FLOATS, Value, integer_limits

_UNARY: Mapping[str, Callable[[Value], Value]] = {
    "Abs": ops.abs,
    "Acos": ops.acos,
    "Acosh": ops.acosh,
    "Asin": ops.asin,
    "Asinh": ops.asinh,
    "Atan": ops.atan,
    "Atanh": ops.atanh,
    "BitwiseNot": ops.bitwise_not,
    "Ceil": ops.ceil,
    "Cos": ops.cos,
    "Cosh": ops.cosh,
    "Erf": ops.erf,
    "Exp": ops.exp,
    "Floor": ops.floor,
    "HardSwish": lambda x: x * ops.clip(x / 6.0 + 0.5, 0.0, 1.0),
    "IsNaN": ops.is_nan,
    "Log": ops.log,
    "Mish": lambda x: x * ops.tanh(ops.softplus(x)),
    "Neg": ops.neg,
    "Not": ops.logical_not,
    "Reciprocal": ops.reciprocal,
    "Relu": lambda x: ops.relu(x) if is_float(x) else ops.maximum(x, zero(x)),
    "Round": ops.round,
    "Sigmoid": ops.sigmoid,
    "Sign": ops.sign,
    "Sin": ops.sin,
    "Sinh": ops.sinh,
    "Softplus": ops.softplus,
    "Softsign": ops.softsign,
    "Sqrt": ops.sqrt,
    "Tan": ops.tan,
    "Tanh": ops.tanh,
}
_BINARY: Mapping[str, Callable[[Value, Value], Value]] = {
    "Add": ops.add,
    "And": ops.logical_and,
    "BitwiseAnd": ops.bitwise_and,
    "BitwiseOr": ops.bitwise_or,
    "BitwiseXor": ops.bitwise_xor,
    "Div": lambda x, y: quotient(x, y),
    "Equal": ops.equal,
    "Greater": ops.greater,
    "GreaterOrEqual": ops.greater_equal,
    "Less": ops.less,
    "LessOrEqual": ops.less_equal,
    "Mul": ops.mul,
    "Or": ops.logical_or,
    "Sub": ops.sub,
    "Xor": ops.logical_xor,
}
_MANY: Mapping[str, Callable[[Value, Value], Value]] = {
    "Max": ops.maximum,
    "Min": ops.minimum,
    "Sum": ops.add,
}
_WITH_ATTRIBUTES: Mapping[str, Callable[..., Value]] = {
    "CastLike": lambda node, x, like: ops.cast(x, like.type.dtype),
    "Celu": lambda node, x: _celu(x, node.get("alpha")),
    "Elu": lambda node, x: scaled_elu(x, node.get("alpha"), 1.0),
    "Gelu": lambda node, x: ops.gelu(x, node.get("approximate") == "tanh"),
    "HardSigmoid": lambda node, x: ops.clip(x * node.get("alpha") + node.get("beta"), 0.0, 1.0),
    "LeakyRelu": lambda node, x: ops.leaky_relu(x, node.get("alpha")),
    "Selu": lambda node, x: scaled_elu(x, node.get("alpha"), node.get("gamma")),
    "Swish": lambda node, x: x * ops.sigmoid(x * node.get("alpha")),
    "ThresholdedRelu": lambda node, x: ops.where(x > node.get("alpha"), x, zero(x)),
    "Where": lambda node, condition, x, y: ops.where(condition, x, y),
}


def is_float(x: Value) -> bool:
    """Whether the elements are floats."""
    return x.type.dtype in FLOATS


def number(value: float, like: Value) -> Value:
    """A 0-d value of the dtype of another."""
    dtype = like.type.dtype
    return ops.fill(bool(value) if dtype == "bool" else value if is_float(like) else int(value),
                    dtype)  # fmt: skip


def zero(like: Value) -> Value:
    """0 in the dtype of another value."""
    return number(0, like)


def quotient(x: Value, y: Value) -> Value:
    """x / y; of integers, rounded towards 0."""
    if is_float(x):
        return ops.div(x, y)
    down = ops.floordiv(x, y)
    if x.type.dtype == "u8":
        return down
    rest = x - down * y
    up = ops.logical_and(ops.not_equal(rest, zero(x)),
                         ops.not_equal(ops.less(x, zero(x)), ops.less(y, zero(y))))  # fmt: skip
    return ops.where(up, down + number(1, x), down)


def scaled_elu(x: Value, alpha: float, gamma: float) -> Value:
    """gamma * (x above 0, else alpha * (e^x - 1)), for any alpha."""
    if alpha >= 0 and gamma == 1:
        return ops.elu(x, alpha)
    return ops.where(x > 0.0, x, alpha * ops.expm1(x)) * gamma


def _celu(x: Value, alpha: float) -> Value:
    low = ops.minimum(alpha * ops.expm1(x / alpha), zero(x))
    return ops.maximum(x, zero(x)) + low


def _register() -> None:
    for name, rule in _WITH_ATTRIBUTES.items():
        rules.on(name)(rule)
    for name, function in _UNARY.items():
        rules.on(name)(lambda node, x, f=function: f(x))
    for name, pair in _BINARY.items():
        rules.on(name)(lambda node, x, y, f=pair: f(*_as_before_7(node, x, y)))
    for name, pair in _MANY.items():
        rules.on(name)(lambda node, *xs, f=pair: _joined(f, xs))


_register()


def _joined(f: Callable[[Value, Value], Value], xs: tuple[Value, ...]) -> Value:
    total = xs[0]
    for x in xs[1:]:
        total = f(total, x)
    return total


def _as_before_7(node: OnnxNode, x: Value, y: Value) -> tuple[Value, Value]:
    """Before opset 7 `axis` said where the axes of y stand among those of x."""
    axis = node.get("axis")
    if node.version < 7 and node.get("broadcast", 0) and axis is not None:
        behind = rank_of(x) - axis_in(axis, rank_of(x)) - rank_of(y)
        shape: Any = (*(y.type.shape or ()), *(1,) * behind)
        return x, ops.reshape(y, shape)
    return x, y


@rules.on("Mean")
def mean(node: OnnxNode, *xs: Value) -> Value:
    """The mean of its inputs, element by element."""
    return _joined(ops.add, xs) / float(len(xs))


@rules.on("Identity", raw=True)
def identity(node: OnnxNode, x: Any) -> Any:
    """The input, also a sequence."""
    return x


@rules.on("PRelu")
def prelu(node: OnnxNode, x: Value, slope: Value) -> Value:
    """x above 0, else slope * x; before opset 7 the slope is one for each channel."""
    if node.version < 7 and rank_of(slope) == 1 and rank_of(x) > 2:
        slope = ops.reshape(slope, (-1, *(1,) * (rank_of(x) - 2)))
    return ops.where(x < zero(x), x * slope, x)


@rules.on("Shrink")
def shrink(node: OnnxNode, x: Value) -> Value:
    """x less the bias outside [-lambd, lambd], and 0 inside."""
    low, bias = node.get("lambd"), node.get("bias")
    wide = x if is_float(x) else ops.cast(x, "f32")
    y = ops.where(wide < -low, wide + bias, ops.where(wide > low, wide - bias, zero(wide)))
    return ops.cast(y, x.type.dtype)


@rules.on("IsInf")
def is_inf(node: OnnxNode, x: Value) -> Value:
    """Whether x is infinite, on the sides that are looked at."""
    y = ops.is_inf(x)
    if not node.get("detect_positive"):
        y = ops.logical_and(y, x < zero(x))
    if not node.get("detect_negative"):
        y = ops.logical_and(y, x > zero(x))
    return y


@rules.on("Pow")
def power(node: OnnxNode, x: Value, y: Value) -> Value:
    """x^y in the dtype of x."""
    x, y = _as_before_7(node, x, y)
    dtype = x.type.dtype
    if y.type.dtype == dtype:
        return ops.pow(x, y)
    if is_float(x):
        return ops.pow(x, ops.cast(y, dtype))
    return ops.cast(ops.pow(ops.cast(x, "f64"), ops.cast(y, "f64")), dtype)


@rules.on("Mod")
def modulo(node: OnnxNode, x: Value, y: Value) -> Value:
    """The rest of x / y, with the sign of y; with `fmod`, of x."""
    if not node.get("fmod"):
        return ops.mod(x, y)
    rest = ops.mod(ops.abs(x), ops.abs(y))
    return ops.copysign(rest, x) if is_float(x) else ops.sign(x) * rest


@rules.on("BitShift")
def bit_shift(node: OnnxNode, x: Value, y: Value) -> Value:
    """x with its bits moved by y places; u8 is shifted without a sign."""
    shift = ops.shift_left if node.get("direction") == "LEFT" else ops.shift_right
    bits = BITS[x.type.dtype]
    if bits == 64 or x.type.dtype != "u8":
        return shift(x, y)
    return ops.cast(shift(ops.cast(x, "i16"), ops.cast(y, "i16")), x.type.dtype)


@rules.on("Clip")
def clip(node: OnnxNode, x: Value, low: Value | None = None, high: Value | None = None) -> Value:
    """x held between two numbers, which were attributes before opset 11."""
    if node.version < 11:
        limits = node.get("min"), node.get("max")
        low, high = (None if v is None else number(v, x) for v in limits)
    if low is not None:
        x = ops.maximum(x, low)
    return x if high is None else ops.minimum(x, high)


@rules.on("Cast")
def cast(node: OnnxNode, x: Value) -> Value:
    """x in another dtype."""
    to = node.get("to")
    if not isinstance(to, int):  # a name, before opset 6
        raise node.refuse(f"the dtype {to!r}")
    return ops.cast(x, dtype_of(to))


def limits(dtype: str) -> tuple[int, int]:
    """The smallest and the largest number of an integer dtype."""
    low, high = integer_limits(dtype)
    return int(low), int(high)
