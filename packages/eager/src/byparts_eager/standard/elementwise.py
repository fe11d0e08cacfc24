"""Functions of one, two or three elements, with the standard's promotion.

On arrays of one dtype a function calls the op's plan at once; the rest is cast or refused first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Optional

import byparts_opset as ops
from byparts_eager.array import Array, asarray
from byparts_eager.kind import Kind
from byparts_eager.operators import NUMBERS, binary, lift_beside
from byparts_eager.plan import Plan, plans
from byparts_eager.standard.creation import zeros_like
from byparts_eager.standard.one_dtype import of_one_dtype
from byparts_eager.state import state
from byparts_graph_ir import INTEGERS, Op, Value


def _one(name: str, op: Op, keeps: frozenset[str] = frozenset()) -> Callable[[Any], Any]:
    """A function of one array; arrays of the dtypes `keeps` are what it gives."""
    known: dict[Kind, Plan] = {}

    def function(x: Any, /) -> Any:
        if x.__class__ is Array:
            plan = known.get(x.kind)
            if plan is not None and not state.recorders:
                return plan(x)[0]
        else:
            x = asarray(x)
        if x.type.dtype in keeps:
            return x
        y = op(x)
        if x.__class__ is Array:
            known[x.kind] = plans[op, x.kind]
        return y

    return _named(function, name, op)


def _two(name: str, op: Op, on_bools: Optional[Op] = None) -> Callable[[Any, Any], Any]:
    """A function of two arrays, or an array and a number; `on_bools` takes the place for bools."""
    known: dict[tuple[Kind, Kind], Plan] = {}

    def function(x1: Any, x2: Any, /) -> Any:
        if x1.__class__ is Array:
            if x2.__class__ in NUMBERS:
                x2 = lift_beside(x2, x1)
            if x2.__class__ is Array:
                plan = known.get((x1.kind, x2.kind))
                if plan is not None and not state.recorders:
                    return plan(x1, x2)[0]
                if x1.type.dtype == x2.type.dtype and (on_bools is None or x1.type.dtype != "bool"):
                    y = op(x1, x2)
                    known[x1.kind, x2.kind] = plans[op, x1.kind, x2.kind]
                    return y
        both = [v if isinstance(v, NUMBERS) else asarray(v) for v in (x1, x2)]
        is_bool = any(isinstance(v, Value) and v.type.dtype == "bool" for v in both)
        y = binary(on_bools if on_bools is not None and is_bool else op, *both)
        if y is NotImplemented:
            raise TypeError(f"{name}: {x1!r:.40} and {x2!r:.40}: one of them should be an array")
        return y

    return _named(function, name, op)


def _named(function: Callable[..., Any], name: str, op: Op) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = type(op).__doc__
    return function


abs = _one("abs", ops.Abs())  # the standard's names
acos = _one("acos", ops.Acos())
acosh = _one("acosh", ops.Acosh())
asin = _one("asin", ops.Asin())
asinh = _one("asinh", ops.Asinh())
atan = _one("atan", ops.Atan())
atanh = _one("atanh", ops.Atanh())
ceil = _one("ceil", ops.Ceil(), INTEGERS)
cos = _one("cos", ops.Cos())
cosh = _one("cosh", ops.Cosh())
exp = _one("exp", ops.Exp())
expm1 = _one("expm1", ops.Expm1())
floor = _one("floor", ops.Floor(), INTEGERS)
isfinite = _one("isfinite", ops.IsFinite())
isinf = _one("isinf", ops.IsInf())
isnan = _one("isnan", ops.IsNan())
log = _one("log", ops.Log())
log1p = _one("log1p", ops.Log1p())
logical_not = _one("logical_not", ops.LogicalNot())
negative = _one("negative", ops.Neg())
reciprocal = _one("reciprocal", ops.Reciprocal())
round = _one("round", ops.Round(), INTEGERS)
sign = _one("sign", ops.Sign())
signbit = _one("signbit", ops.SignBit())
sin = _one("sin", ops.Sin())
sinh = _one("sinh", ops.Sinh())
sqrt = _one("sqrt", ops.Sqrt())
square = _one("square", ops.Square())
tan = _one("tan", ops.Tan())
tanh = _one("tanh", ops.Tanh())
trunc = _one("trunc", ops.Trunc(), INTEGERS)

add = _two("add", ops.Add())
atan2 = _two("atan2", ops.Atan2())
bitwise_and = _two("bitwise_and", ops.BitwiseAnd(), ops.LogicalAnd())
bitwise_left_shift = _two("bitwise_left_shift", ops.ShiftLeft())
bitwise_or = _two("bitwise_or", ops.BitwiseOr(), ops.LogicalOr())
bitwise_right_shift = _two("bitwise_right_shift", ops.ShiftRight())
bitwise_xor = _two("bitwise_xor", ops.BitwiseXor(), ops.LogicalXor())
copysign = _two("copysign", ops.CopySign())
divide = _two("divide", ops.Div())
equal = _two("equal", ops.Equal())
floor_divide = _two("floor_divide", ops.Floordiv())
greater = _two("greater", ops.Greater())
greater_equal = _two("greater_equal", ops.GreaterEqual())
less = _two("less", ops.Less())
less_equal = _two("less_equal", ops.LessEqual())
logical_and = _two("logical_and", ops.LogicalAnd())
logical_or = _two("logical_or", ops.LogicalOr())
logical_xor = _two("logical_xor", ops.LogicalXor())
maximum = _two("maximum", ops.Maximum())
minimum = _two("minimum", ops.Minimum())
multiply = _two("multiply", ops.Mul())
nextafter = _two("nextafter", ops.NextAfter())
not_equal = _two("not_equal", ops.NotEqual())
pow = _two("pow", ops.Pow())
remainder = _two("remainder", ops.Mod())
subtract = _two("subtract", ops.Sub())


def bitwise_invert(x: Any, /) -> Any:
    """y = the bits of x turned over; not x of bools."""
    return ops.bitwise_not(asarray(x))


def positive(x: Any, /) -> Any:
    """y = x."""
    return asarray(x)


def conj(x: Any, /) -> Any:
    """y = x, as of every real number."""
    return asarray(x)


def real(x: Any, /) -> Any:
    """y = x, as of every real number."""
    return asarray(x)


def imag(x: Any, /) -> Any:
    """y = 0, as of every real number."""
    return zeros_like(x)


def log2(x: Any, /) -> Any:
    """y = the logarithm of x to base 2."""
    return log(x) / math.log(2)


def log10(x: Any, /) -> Any:
    """y = the logarithm of x to base 10."""
    return log(x) / math.log(10)


def hypot(x1: Any, x2: Any, /) -> Any:
    """z = the root of x^2 + y^2, where neither square overflows; inf if one is, even beside nan."""
    x, y = map(abs, of_one_dtype(x1, x2))
    large, small = maximum(x, y), minimum(x, y)
    plain = ops.logical_or(equal(large, 0.0), equal(large, math.inf))
    ratio = small / ops.select(plain, 1.0, large)
    endless = ops.logical_or(isinf(x), isinf(y))
    return ops.select(endless, math.inf, ops.select(plain, large, large * sqrt(1 + ratio * ratio)))


def logaddexp(x1: Any, x2: Any, /) -> Any:
    """z = log(e^x + e^y), where neither power overflows."""
    x, y = of_one_dtype(x1, x2)
    large = maximum(x, y)
    gap = subtract(x, y)
    same = equal(x, y)  # inf - inf is nan
    return large + log1p(exp(-abs(ops.select(same, 0.0, gap))))


def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:  # the standard's names
    """y = x, but `min` where it is below and `max` where it is above; of the dtype of x."""
    x = asarray(x)
    for bound, function in ((min, maximum), (max, minimum)):
        if bound is not None:
            limit = asarray(bound, dtype=x.type.dtype) if isinstance(bound, Value) else bound
            x = function(x, limit)
    return x
