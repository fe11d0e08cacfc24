"""Elementwise ops: what one element is, of the elements of the inputs in its place."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf, nan, pi, sqrt
from typing import Any

import byparts_opset as ops
from byparts_graph_ir import Op, Table
from byparts_op_loops.narrow import held, takes as takes
from byparts_tensor_ir.expression import BYTES, FLOATS, HALVES, Expr, const, make, widened
from byparts_tensor_ir.functions import call, cast, maximum, minimum, select, unary

Rule = Callable[..., Expr]


class _Elements(Table[Rule]):
    """Rules that see halves as f32, and whose result is rounded once."""

    def get(self, op: Op | type[Op]) -> Rule | None:
        """The rule for an op, or `None`."""
        rule = super().get(op)
        return None if rule is None else partial(_rounded_once, rule)


def _rounded_once(rule: Rule, op: Op, *elements: Expr) -> Expr:
    y = rule(op, *map(widened, elements))
    half = next((x.dtype for x in elements if x.dtype in HALVES), "")
    made_by_op = getattr(op, "dtype", half)  # of a cast
    return cast(y, half) if half and y.dtype == "f32" and made_by_op == half else y


element: Table[Rule] = _Elements("tensor expression")  # op -> rule(op, *elements)


def _row(rule: Callable[..., Expr], *classes: type[Op]) -> None:
    element.on(*classes)(rule)


def _ignoring_op(function: Callable[..., Expr]) -> Rule:
    return lambda op, *xs: function(*xs)


def _number(value: float, like: Expr) -> Expr:
    return const(value, like.dtype)


def _selected(condition: Expr, x: Expr, y: Expr) -> Expr:
    """Select x or y; bools are selected by logic, because a vector of bool is a mask."""
    if x.dtype == "bool":
        return (condition & x) | (~condition & y)
    return select(condition, x, y)


# -- one NumPy function each ----------------------------------------------------------------------

_CALLS: dict[type[Op], str] = {
    **{ops.Exp: "exp", ops.Expm1: "expm1", ops.Log: "log", ops.Log1p: "log1p"},
    **{
        ops.Tanh: "tanh",
        ops.Erf: "erf",
        ops.Erfc: "erfc",
        ops.Sigmoid: "sigmoid",
        ops.Softplus: "softplus",
    },
    **{ops.Sin: "sin", ops.Cos: "cos", ops.Tan: "tan"},
    **{ops.Asin: "asin", ops.Acos: "acos", ops.Atan: "atan"},
    **{ops.Sinh: "sinh", ops.Cosh: "cosh"},
    **{ops.Asinh: "asinh", ops.Acosh: "acosh", ops.Atanh: "atanh"},
    **{ops.Atan2: "atan2"},
}
for _kind, _name in _CALLS.items():
    _row(lambda op, *xs, name=_name: call(name, *xs), _kind)

_OPERATIONS: dict[type[Op], str] = {
    **{ops.Sqrt: "sqrt", ops.Floor: "floor", ops.Ceil: "ceil"},
    **{ops.Round: "rint", ops.Trunc: "trunc", ops.Abs: "abs"},
}
for _kind, _name in _OPERATIONS.items():
    _row(lambda op, x, name=_name: unary(name, x), _kind)

_EXPRESSIONS: dict[type[Op], Callable[..., Expr]] = {
    **{ops.Add: lambda x, y: x + y, ops.Sub: lambda x, y: x - y, ops.Mul: lambda x, y: x * y},
    **{ops.Div: lambda x, y: x / y, ops.Maximum: maximum, ops.Minimum: minimum},
    **{ops.SquaredDifference: lambda x, y: (x - y) * (x - y)},
    **{ops.Neg: lambda x: -x, ops.Square: lambda x: x * x},
    **{ops.Equal: lambda x, y: x.equal(y), ops.NotEqual: lambda x, y: ~x.equal(y)},
    **{ops.Less: lambda x, y: x < y, ops.LessEqual: lambda x, y: x <= y},
    **{ops.Greater: lambda x, y: x > y, ops.GreaterEqual: lambda x, y: x >= y},
    **{ops.LogicalAnd: lambda x, y: x & y, ops.LogicalOr: lambda x, y: x | y},
    **{ops.LogicalXor: lambda x, y: x ^ y, ops.LogicalNot: lambda x: ~x},
    **{ops.BitwiseAnd: lambda x, y: x & y, ops.BitwiseOr: lambda x, y: x | y},
    **{ops.BitwiseXor: lambda x, y: x ^ y, ops.Select: _selected},
    **{ops.ShiftLeft: lambda x, y: x << y, ops.ShiftRight: lambda x, y: x >> y},
    **{ops.Identity: lambda x: x, ops.StopGradient: lambda x: x},
}
for _kind, _function in _EXPRESSIONS.items():
    _row(_ignoring_op(_function), _kind)

# -- a line each ----------------------------------------------------------------------------------


@element.on(ops.Reciprocal)
def _reciprocal(op: Op, x: Expr) -> Expr:
    return _number(1, x) / x


@element.on(ops.Rsqrt)
def _rsqrt(op: Op, x: Expr) -> Expr:
    return _number(1, x) / unary("sqrt", x)


@element.on(ops.Sign)
def _sign(op: Op, x: Expr) -> Expr:
    zero, one = _number(0, x), _number(1, x)
    if x.dtype[0] == "u":
        return select(zero < x, one, zero)
    other = select(x < zero, _number(-1, x), zero)
    sign = select(zero < x, one, other)
    return select(x.equal(x), sign, x) if x.dtype in FLOATS else sign


@element.on(ops.Relu)
def _relu(op: Op, x: Expr) -> Expr:
    return maximum(x, _number(0, x))


@element.on(ops.Clip)
def _clip(op: ops.Clip, x: Expr) -> Expr:
    return minimum(maximum(x, _number(op.low, x)), _number(op.high, x))


@element.on(ops.ReluGradient)
def _relu_gradient(op: Op, dy: Expr, y: Expr) -> Expr:
    return select(y <= _number(0, y), _number(0, dy), dy)


@element.on(ops.SigmoidGradient)
def _sigmoid_gradient(op: Op, dy: Expr, y: Expr) -> Expr:
    return dy * (y * (_number(1, y) - y))


@element.on(ops.TanhGradient)
def _tanh_gradient(op: Op, dy: Expr, y: Expr) -> Expr:
    return dy * (_number(1, y) - y * y)


@element.on(ops.IsNan)
def _is_nan(op: Op, x: Expr) -> Expr:
    return ~x.equal(x)


@element.on(ops.IsInf)
def _is_inf(op: Op, x: Expr) -> Expr:
    if x.dtype not in FLOATS:
        return const(False, "bool")
    return unary("abs", x).equal(_number(float("inf"), x))


@element.on(ops.IsFinite)
def _is_finite(op: Op, x: Expr) -> Expr:
    if x.dtype not in FLOATS:
        return const(True, "bool")
    return unary("abs", x) < _number(float("inf"), x)


@element.on(ops.Pow)
def _pow(op: Op, x: Expr, y: Expr) -> Expr:
    """Raise x to y: integers by squaring, with a step for each bit that counts modulo 2^bits."""
    if x.dtype in FLOATS:
        return call("pow", x, y)
    one, dtype = _number(1, x), "u64" if x.dtype == "i64" else x.dtype  # i64 is for indices
    square, power = cast(x, dtype), const(1, dtype)
    for k in range(8 * BYTES[dtype] - (x.dtype[0] == "i")):
        odd = ~_bit(y, k).equal(0)
        power = select(odd, power * square, power)
        square = square * square
    if x.dtype[0] == "u":
        return power
    unit = select(x.equal(-1), select(_bit(y, 0).equal(0), one, x), select(x.equal(1), one, x - x))
    return select(y < _number(0, y), unit, cast(power, x.dtype))


def _bit(y: Expr, k: int) -> Expr:
    return (y >> _number(k, y)) & _number(1, y)


@element.on(ops.Floordiv)
def _floordiv(op: Op, x: Expr, y: Expr) -> Expr:
    """Divide and round down; floats use the remainder of `fmod`, which is exact."""
    if x.dtype not in FLOATS:
        return make("floordiv", (x, y), x.dtype)  # `//` of indices is for divisors that are not 0
    quotient, rest = x / y, call("fmod", x, y)
    whole = (x - rest) / y
    whole = select(_opposite(rest, y), whole - 1.0, whole)
    down = unary("floor", whole)
    down = select(_number(0.5, x) < whole - down, down + 1.0, down)
    return select(y.equal(0.0), quotient, select(whole.equal(0.0), quotient * 0.0, down))


@element.on(ops.Mod)
def _mod(op: Op, x: Expr, y: Expr) -> Expr:
    if x.dtype not in FLOATS:
        return make("mod", (x, y), x.dtype)
    rest = call("fmod", x, y)
    zero = select(y < _number(0, y), _number(-0.0, x), _number(0, x))
    return select(rest.equal(0.0), zero, select(_opposite(rest, y), rest + y, rest))


def _opposite(rest: Expr, y: Expr) -> Expr:
    """Whether a remainder other than 0 has not the sign of the divisor."""
    zero = _number(0, y)
    return ~rest.equal(zero) & ((rest < zero) ^ (y < zero))


@element.on(ops.Erfinv)
def _erfinv(op: Op, x: Expr) -> Expr:
    """Winitzki's approximation, within 0.3 percent, and Halley's method, which cubes the error.

    Where erf is near 1, erfc has the digits.
    """
    a, one = unary("abs", x), _number(1, x)
    log = call("log1p", -(a * a))
    half = log * 0.5 + 2 / (pi * 0.147)
    y = unary("sqrt", unary("sqrt", half * half - log / 0.147) - half)
    for _ in range(2 if x.dtype == "f32" else 3):
        above = select(a < 0.5, call("erf", y) - a, (one - a) - call("erfc", y))
        step = above / (call("exp", -(y * y)) * (2 / sqrt(pi)))
        y = y - step / (step * y + 1.0)
    y = select(a < one, y, select(a.equal(one), _number(inf, x), _number(nan, x)))
    return select(x < _number(0, x), -y, select(x.equal(0.0), x, y))


@element.on(ops.Constant, ops.Fill)
def _constant(op: Op) -> Expr:
    """The element of a constant, which has just one."""
    (y,) = op.infer()
    return const(op.evaluate()[0].reshape(-1)[0].item(), held(y.dtype))


@element.on(ops.Cast)
def _cast(op: ops.Cast, x: Expr) -> Expr:
    return cast(x, held(op.dtype))


def cost(kind: Any) -> int:
    """About how many additions an element of the op costs; decides what is computed twice."""
    if kind in _DEAR:
        return 20
    return 8 if kind in (ops.Div, ops.Reciprocal, ops.Rsqrt, ops.Sqrt) else 1


_DEAR = {
    *(ops.Exp, ops.Expm1, ops.Log, ops.Log1p, ops.Tanh, ops.Erf, ops.Sigmoid, ops.Softplus),
    *(ops.Sin, ops.Cos, ops.Tan, ops.Asin, ops.Acos, ops.Atan, ops.Sinh, ops.Cosh),
    *(ops.Asinh, ops.Acosh, ops.Atanh, ops.Atan2, ops.Pow, ops.Floordiv, ops.Mod),
    *(ops.Erfc, ops.Erfinv),
}
