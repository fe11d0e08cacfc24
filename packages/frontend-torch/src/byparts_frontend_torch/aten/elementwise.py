"""Elementwise ops: arithmetic, functions, activations, choices."""

from __future__ import annotations

from math import inf, log, pi
from typing import Any

import byparts_opset as ops
from byparts_frontend_torch.promotion import Operand, as_value, floating, promoted
from byparts_frontend_torch.rules import rules
from byparts_graph_ir import FLOATS, Value

_FLOAT_FUNCTIONS = {
    **{"acos": ops.acos, "acosh": ops.acosh, "asin": ops.asin, "asinh": ops.asinh},
    **{"atan": ops.atan, "atanh": ops.atanh, "cos": ops.cos, "cosh": ops.cosh},
    **{"erf": ops.erf, "erfc": ops.erfc, "erfinv": ops.erfinv, "special_erfinv": ops.erfinv},
    **{"exp": ops.exp, "expm1": ops.expm1, "log": ops.log, "log1p": ops.log1p},
    **{"reciprocal": ops.reciprocal, "rsqrt": ops.rsqrt, "sigmoid": ops.sigmoid},
    **{"silu": ops.silu, "sin": ops.sin, "sinh": ops.sinh, "sqrt": ops.sqrt},
    **{"tan": ops.tan, "tanh": ops.tanh},
}
_ROUNDINGS = {"ceil": ops.ceil, "floor": ops.floor, "round": ops.round, "trunc": ops.trunc}
_SAME = {"abs": ops.abs, "neg": ops.neg, "relu": ops.relu, "sign": ops.sign, "square": ops.square}


def _of_floats(function: Any) -> Any:
    return lambda x: function(floating(x))


def _of_numbers(function: Any) -> Any:
    return lambda x: function(x)


def _whole(function: Any) -> Any:
    return lambda x: function(x) if x.type.dtype in FLOATS else x


for _name, _function in _FLOAT_FUNCTIONS.items():
    rules.on(f"aten.{_name}.default")(_of_floats(_function))
for _name, _function in _ROUNDINGS.items():
    rules.on(f"aten.{_name}.default")(_whole(_function))
for _name, _function in _SAME.items():
    rules.on(f"aten.{_name}.default")(_of_numbers(_function))


@rules.on("aten.log2.default")
def log2(x: Value) -> Value:
    return ops.log(floating(x)) * (1 / log(2))


@rules.on("aten.log10.default")
def log10(x: Value) -> Value:
    return ops.log(floating(x)) * (1 / log(10))


@rules.on("aten.exp2.default")
def exp2(x: Value) -> Value:
    return ops.pow(2.0, floating(x))


@rules.on("aten.round.decimals")
def round_to(x: Value, decimals: int = 0) -> Value:
    scale = 10.0**decimals
    return ops.round(x * scale) / scale


@rules.on("aten.add.Tensor", "aten.add.Scalar")
def add(x: Operand, y: Operand, alpha: float = 1) -> Value:
    x, y = promoted(x, y)
    if x.type.dtype == "bool":
        return ops.logical_or(x, y)
    return ops.add(x, y if alpha == 1 else y * alpha)


@rules.on("aten.sub.Tensor", "aten.sub.Scalar")
def sub(x: Operand, y: Operand, alpha: float = 1) -> Value:
    x, y = promoted(x, y)
    return ops.sub(x, y if alpha == 1 else y * alpha)


@rules.on("aten.mul.Tensor", "aten.mul.Scalar")
def mul(x: Operand, y: Operand) -> Value:
    x, y = promoted(x, y)
    return ops.logical_and(x, y) if x.type.dtype == "bool" else ops.mul(x, y)


@rules.on("aten.div.Tensor", "aten.div.Scalar")
def div(x: Operand, y: Operand) -> Value:
    x, y = promoted(x, y)
    return ops.div(floating(x), floating(y))


@rules.on("aten.div.Tensor_mode", "aten.div.Scalar_mode")
def div_rounded(x: Operand, y: Operand, rounding_mode: str | None = None) -> Value:
    if rounding_mode is None:
        return div(x, y)  # type: ignore[no-any-return]
    x, y = promoted(x, y)
    if rounding_mode == "floor":
        return ops.floordiv(x, y)
    if x.type.dtype in FLOATS:
        return ops.trunc(ops.div(x, y))
    return ops.floordiv(ops.abs(x), ops.abs(y)) * ops.sign(x) * ops.sign(y)


@rules.on("aten.floor_divide.default")
def floor_divide(x: Operand, y: Operand) -> Value:
    return ops.floordiv(*promoted(x, y))


@rules.on("aten.remainder.Tensor", "aten.remainder.Scalar")
def remainder(x: Operand, y: Operand) -> Value:
    return ops.mod(*promoted(x, y))


@rules.on("aten.fmod.Tensor", "aten.fmod.Scalar")
def fmod(x: Operand, y: Operand) -> Value:
    """The remainder that has the sign of x."""
    x, y = promoted(x, y)
    below = ops.less(x, 0)
    rest = ops.mod(ops.where(below, -x, x), ops.abs(y))  # not of abs(x), which is flat at 0
    return ops.where(below, -rest, rest)


@rules.on("aten.pow.Tensor_Tensor", "aten.pow.Tensor_Scalar", "aten.pow.Scalar")
def pow(x: Operand, y: Operand) -> Value:
    """Powers that people write become what they are: faster, and with a gradient at 0."""
    base, power = promoted(x, y)
    if isinstance(y, (int, float)) and base.type.dtype in FLOATS:
        if y == 3:
            return base * ops.square(base)
        simple = {
            1: ops.identity,
            2: ops.square,
            0.5: ops.sqrt,
            -0.5: ops.rsqrt,
            -1: ops.reciprocal,
        }
        if y in simple:
            return simple[y](base)
    return ops.pow(base, power)


@rules.on("aten.atan2.default")
def atan2(y: Value, x: Value) -> Value:
    return ops.atan2(*map(floating, promoted(y, x)))


@rules.on("aten.hypot.default")
def hypot(x: Value, y: Value) -> Value:
    """The root of x^2 + y^2, whose squares may be out of range; inf beside a nan is inf."""
    x, y = (ops.abs(floating(v)) for v in promoted(x, y))
    infinite = ops.logical_or(ops.equal(x, inf), ops.equal(y, inf))
    long, short = ops.maximum(x, y), ops.minimum(x, y)
    ratio = short / ops.where(ops.equal(long, 0), 1, long)
    return ops.where(infinite, inf, long * ops.sqrt(1 + ratio * ratio))


@rules.on("aten.maximum.default")
def maximum(x: Value, y: Value) -> Value:
    return ops.maximum(*promoted(x, y))


@rules.on("aten.minimum.default")
def minimum(x: Value, y: Value) -> Value:
    return ops.minimum(*promoted(x, y))


@rules.on("aten.clamp.default", "aten.clamp.Tensor")
def clamp(x: Value, min: Operand | None = None, max: Operand | None = None) -> Value:
    bounds = [b for b in (min, max) if b is not None]
    dtype = promoted(x, *bounds)[0].type.dtype
    x = ops.cast(x, dtype)
    if dtype in FLOATS and not any(isinstance(b, Value) for b in bounds):
        low, high = (-inf if min is None else min), (inf if max is None else max)
        if low <= high:  # type: ignore[operator]  # numbers, the two of them
            return ops.clip(x, float(low), float(high))  # type: ignore[arg-type]
    if min is not None:
        x = _held(x, as_value(min, dtype), ops.maximum, ops.less)
    return x if max is None else _held(x, as_value(max, dtype), ops.minimum, ops.greater)


@rules.on("aten.hardtanh.default")
def hardtanh(x: Value, min_val: float = -1, max_val: float = 1) -> Value:
    if (min_val, max_val) == (0, 6):
        return ops.relu6(x)
    return ops.clip(x, float(min_val), float(max_val), strict=True)


@rules.on("aten.hardsigmoid.default")
def hardsigmoid(x: Value) -> Value:
    return ops.relu6(x + 3.0) / 6.0


@rules.on("aten.hardswish.default")
def hardswish(x: Value) -> Value:
    return x * ops.relu6(x + 3.0) / 6.0


@rules.on("aten.sinc.default", "aten.special_sinc.default")
def sinc(x: Value) -> Value:
    """sin(pi x) / (pi x), and 1 at 0, where the quotient is not computed: its gradient is nan."""
    x = floating(x)
    zero = ops.equal(x, 0)
    angle = ops.where(zero, 1, x) * pi
    return ops.where(zero, 1, ops.sin(angle) / angle)


@rules.on("aten.gelu.default")
def gelu(x: Value, approximate: str = "none") -> Value:
    return ops.gelu(x, approximate=approximate == "tanh")


@rules.on("aten.elu.default")
def elu(x: Value, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Value:
    if (scale, input_scale) == (1, 1) and alpha >= 0:
        return ops.elu(x, float(alpha))
    above = x > 0
    inner = ops.expm1(ops.where(above, 0, x) * input_scale) * (alpha * scale)
    return ops.where(above, x * scale, inner)


@rules.on("aten.leaky_relu.default")
def leaky_relu(x: Value, negative_slope: float = 0.01) -> Value:
    if negative_slope >= 0:
        return ops.leaky_relu(x, float(negative_slope))
    return ops.where(x > 0, x, x * negative_slope)


@rules.on("aten.softplus.default")
def softplus(x: Value, beta: float = 1, threshold: float = 20) -> Value:
    """Torch gives x itself above the threshold; so do the digits of ours, from 17 on in f32."""
    if beta == 1 and threshold >= 20 and x.type.dtype != "f64":
        return ops.softplus(x)
    scaled = x * beta
    return ops.where(scaled > threshold, x, ops.softplus(scaled) / beta)


@rules.on("aten.where.self", "aten.where.Scalar", "aten.where.ScalarSelf", "aten.where.ScalarOther")
def where(condition: Value, x: Operand, y: Operand) -> Value:
    return ops.where(condition, *promoted(x, y))


@rules.on("aten.logical_and.default")
def logical_and(x: Value, y: Value) -> Value:
    return ops.logical_and(_true(x), _true(y))


@rules.on("aten.logical_or.default")
def logical_or(x: Value, y: Value) -> Value:
    return ops.logical_or(_true(x), _true(y))


@rules.on("aten.logical_xor.default")
def logical_xor(x: Value, y: Value) -> Value:
    return ops.logical_xor(_true(x), _true(y))


@rules.on("aten.logical_not.default")
def logical_not(x: Value) -> Value:
    return ops.logical_not(_true(x))


def _of_two(function: Any) -> Any:
    return lambda x, y: function(*promoted(x, y))


_BITS = {"and": ops.bitwise_and, "or": ops.bitwise_or, "xor": ops.bitwise_xor}
_SHIFTS = {"left": ops.shift_left, "right": ops.shift_right}
_OF_TWO: dict[str, Any] = {
    **{f"bitwise_{name}": function for name, function in _BITS.items()},
    **{f"bitwise_{name}_shift": function for name, function in _SHIFTS.items()},
}
for _name, _binary in _OF_TWO.items():
    for _overload in ("Tensor", "Tensor_Scalar" if "shift" in _name else "Scalar", "Scalar_Tensor"):
        rules.on(f"aten.{_name}.{_overload}")(_of_two(_binary))
rules.on("aten.nextafter.default")(_of_two(ops.nextafter))
rules.on("aten.bitwise_not.default")(ops.bitwise_not)


@rules.on("aten.signbit.default")
def signbit(x: Value) -> Value:
    return ops.signbit(x) if x.type.dtype in FLOATS else ops.cast(ops.less(_ordered(x), 0), "bool")


@rules.on("aten.copysign.Tensor", "aten.copysign.Scalar")
def copysign(x: Operand, y: Operand) -> Value:
    return ops.copysign(*map(floating, promoted(x, y)))


@rules.on("aten.ldexp.Tensor")
def ldexp(x: Value, y: Value) -> Value:
    return mul(x, ops.pow(2.0, floating(y)))  # type: ignore[no-any-return]


@rules.on("aten.fmax.default")
def fmax(x: Value, y: Value) -> Value:
    """The greater of two; of a nan and a number the number."""
    return _skipping(ops.maximum, *promoted(x, y))


@rules.on("aten.fmin.default")
def fmin(x: Value, y: Value) -> Value:
    return _skipping(ops.minimum, *promoted(x, y))


@rules.on("aten.angle.default")
def angle(x: Value) -> Value:
    """pi for a negative number, 0 for others, nan for nan."""
    x = floating(x)
    turned = ops.where(ops.less(x, 0), pi, ops.zeros_like(x))
    return ops.where(ops.is_nan(x), x, turned)


@rules.on(
    *("aten.alias.default", "aten.clone.default", "aten.lift_fresh_copy.default"),
    *("aten.contiguous.default", "aten.detach_copy.default", "aten.lift_fresh.default"),
)
def same(x: Value) -> Value:
    return x


@rules.on("aten.detach.default")
def detach(x: Value) -> Value:
    return ops.stop_gradient(x)


@rules.on("aten._to_copy.default")
def to_copy(x: Value, dtype: str | None = None) -> Value:
    return x if dtype is None else ops.cast(x, dtype)


@rules.on("aten.copy.default")
def copy(x: Value, source: Value) -> Value:
    """The elements of `source`, in the type of x."""
    return ops.broadcast_like(ops.cast(source, x.type.dtype), x)


def _held(x: Value, bound: Value, extreme: Any, beyond: Any) -> Value:
    """`extreme(x, bound)`, but where the two are equal x gets the whole gradient, as in torch."""
    if x.type.dtype not in FLOATS:
        held: Value = extreme(x, bound)
        return held
    return ops.where(ops.logical_or(beyond(x, bound), ops.is_nan(bound)), bound, x)


def _skipping(extreme: Any, x: Value, y: Value) -> Value:
    if x.type.dtype not in FLOATS:
        plain: Value = extreme(x, y)
        return plain
    return ops.where(ops.is_nan(x), y, ops.where(ops.is_nan(y), x, extreme(x, y)))


def _ordered(x: Value) -> Value:
    return ops.cast(x, "u8") if x.type.dtype == "bool" else x


def _true(x: Value) -> Value:
    """The truth of x as torch takes numbers for it: whether x is not 0; nan is true."""
    return x if x.type.dtype == "bool" else ops.not_equal(x, 0)
