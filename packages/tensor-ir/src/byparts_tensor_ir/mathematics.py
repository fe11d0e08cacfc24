"""The functions of mathematics as arithmetic on f32, for every emitter alike.

No tables, no branches, no calls: what is written here is a handful of multiplications for each lane
of a vector.  The coefficients are least-maximum fits of our own (reweighted least squares on 400
Chebyshev points); the bounds below are over every seventh of the 2^32 arguments, against f64, in
units of the last place, and a test samples them.  NaN gives NaN, infinities and signed zeros are
exact, underflow is gradual but for sigmoid.

    exp 1.0  expm1 1.5  log 0.9  log1p 1.5  tanh 2.5  sigmoid 2.4  softplus 2.0  erf 1.2  rsqrt 1.5

Functions that are not here (sin, pow, ...), and those of f64, are calls of the C library.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from byparts_tensor_ir.expression import Expr, const
from byparts_tensor_ir.functions import bitcast, call, cast, fma, maximum, select, unary

_LOG2_E = float.fromhex("0x1.715476p+0")
_LN2_HIGH = float.fromhex("0x1.62e400p-1")  # 15 bits: its product with a small integer is exact
_LN2_LOW = float.fromhex("0x1.7f7d1cp-20")
_INFINITY = float("inf")

# (e^r - 1 - r) / r^2 on |r| <= ln(2) / 2
_EXP = (
    *("0x1.000000p-1", "0x1.555556p-3", "0x1.5554aep-5", "0x1.111092p-7"),
    *("0x1.6d749ap-10", "0x1.a19e2ap-13"),
)
# (log(1 + f) - f + f^2 / 2) / f^3 on sqrt(1/2) <= 1 + f <= sqrt(2)
_LOG = (
    *("0x1.555546p-2", "-0x1.ffffeep-3", "0x1.99a546p-3", "-0x1.5562e0p-3", "0x1.2332b4p-3"),
    *("-0x1.fb438ep-4", "0x1.e651a4p-4", "-0x1.e2e7cep-4", "0x1.1b3e58p-4"),
)
# erf(x) / x - 1 of x^2, for |x| < 1
_ERF_SMALL = (
    *("0x1.06eba8p-3", "-0x1.81273ep-2", "0x1.ce2d20p-4", "-0x1.b7fbb4p-6", "0x1.5419f4p-8"),
    *("-0x1.a485e8p-11", "0x1.4ae4c6p-14"),
)
# -log(1 - erf(x)) for 0.95 < x < 4
_ERF_LARGE = (
    *("-0x1.80b6c0p-13", "0x1.212aa4p+0", "0x1.443afep-1", "0x1.bbe4cep-4", "-0x1.9c884ep-6"),
    *("0x1.12d536p-8", "-0x1.cc700ap-12", "0x1.68a590p-16"),
)


def expanded(e: Expr) -> Expr:
    """A function of f32 as arithmetic; any other expression as it is.  Its operands are left."""
    rule = _OF_ANY_FLOAT.get(e.op) or (_OF_F32.get(e.op) if e.dtype == "f32" else None)
    return e if rule is None else rule(*e.args)


def _f(x: float) -> Expr:
    return const(x, "f32")


def _polynomial(x: Expr, coefficients: Sequence[str]) -> Expr:
    """The polynomial with these coefficients, of x^0 first, by Horner's rule."""
    p = _f(float.fromhex(coefficients[-1]))
    for c in reversed(coefficients[:-1]):
        p = fma(p, x, _f(float.fromhex(c)))
    return p


def _power_of_2(k: Expr) -> Expr:
    """2^k of an i32 between -126 and 127."""
    return bitcast((k + 127) << 23, "f32")


def _reduced(x: Expr) -> tuple[Expr, Expr]:
    """(k, e^r - 1) with x = k log(2) + r, |r| <= log(2) / 2; k is i32."""
    n = unary("rint", x * _LOG2_E)
    r = fma(n, _f(-_LN2_LOW), fma(n, _f(-_LN2_HIGH), x))
    q = fma(_polynomial(r, _EXP), r * r, r)
    return cast(n, "i32"), q


def _clamped(x: Expr, low: float, high: float) -> Expr:
    """x between two numbers; NaN stays."""
    x = select(x < low, _f(low), x)
    return select(x > high, _f(high), x)


def _exp(x: Expr) -> Expr:
    """2^k e^r; in two factors, so that subnormal results round once."""
    k, q = _reduced(_clamped(x, -104.0, 89.0))
    half = k >> 1
    return (q + 1.0) * _power_of_2(half) * _power_of_2(k - half)


def _expm1(x: Expr) -> Expr:
    """2^k (q + 1 - 2^-k); what is next to nothing beside q is left out."""
    k, q = _reduced(_clamped(x, -17.5, 89.0))
    less = select(const(30, "i32") < k, _f(0.0), _power_of_2(-_least(k, 30)))
    half = k >> 1
    y = (q + (_f(1.0) - less)) * _power_of_2(half) * _power_of_2(k - half)
    return select(x.equal(0.0), x, y)


def _least(k: Expr, limit: int) -> Expr:
    return select(const(limit, "i32") < k, const(limit, "i32"), k)


def _log_parts(x: Expr) -> tuple[Expr, Expr]:
    """(exponent as f32, log of the rest) of a positive number; subnormal ones are scaled first."""
    small = x < float.fromhex("0x1p-126")
    scaled = select(small, x * float.fromhex("0x1p+23"), x)
    bits = bitcast(scaled, "i32")
    # Without sqrt(1/2) the exponent counts from there, and the rest is in [sqrt 1/2, sqrt 2).
    apart = bits - 0x3F3504F3
    exponent = (apart >> 23) - select(small, const(23, "i32"), const(0, "i32"))
    rest = bitcast((apart & 0x007FFFFF) + 0x3F3504F3, "f32")
    f = rest - 1.0
    square = f * f
    p = _polynomial(f, _LOG) * f * square
    return cast(exponent, "f32"), fma(square, _f(-0.5), p) + f


def _log(x: Expr) -> Expr:
    n, y = _log_parts(x)
    y = fma(n, _f(_LN2_HIGH), fma(n, _f(_LN2_LOW), y))
    y = select(x.equal(0.0), _f(-_INFINITY), y)
    y = select(x < 0.0, _f(float("nan")), y)
    return select(x < _INFINITY, y, x)  # infinity and NaN themselves


def _log1p(x: Expr) -> Expr:
    """log(u) of u = 1 + x rounded, and what rounding lost, over u."""
    u = x + 1.0
    lost = x - (u - 1.0)
    n, y = _log_parts(u)
    y = fma(n, _f(_LN2_HIGH), fma(n, _f(_LN2_LOW), y) + lost / u)
    y = select(x.equal(-1.0), _f(-_INFINITY), y)
    y = select(x < -1.0, _f(float("nan")), y)
    y = select(unary("abs", x) < float.fromhex("0x1p-24"), x, y)
    return select(x < _INFINITY, y, x)


def _with_sign_of(y: Expr, x: Expr) -> Expr:
    sign = bitcast(x, "i32") & -0x80000000
    return bitcast(bitcast(y, "i32") | sign, "f32")


def _tanh(x: Expr) -> Expr:
    """t / (t + 2) of t = e^2|x| - 1."""
    a = _clamped(unary("abs", x), 0.0, 10.0)
    k, q = _reduced(a + a)
    t = fma(q, _power_of_2(k), _power_of_2(k) - 1.0)
    return _with_sign_of(t / (t + 2.0), x)


def _sigmoid(x: Expr) -> Expr:
    """0 below -88.7, where e^-x is infinite: the one function here that underflows at once."""
    return const(1.0, x.dtype) / (call("exp", -x) + 1.0)


def _softplus(x: Expr) -> Expr:
    return maximum(x, const(0.0, x.dtype)) + call("log1p", call("exp", -unary("abs", x)))


def _erf(x: Expr) -> Expr:
    a = unary("abs", x)
    t = x * x
    small = fma(_polynomial(t, _ERF_SMALL), x, x)
    large = -call("expm1", -_polynomial(_clamped(a, 0.0, 4.0), _ERF_LARGE))
    return select(a < 1.0, small, _with_sign_of(large, x))


def _rsqrt(x: Expr) -> Expr:
    return const(1.0, x.dtype) / unary("sqrt", x)


_OF_ANY_FLOAT: dict[str, Callable[..., Expr]] = {
    **{"sigmoid": _sigmoid, "softplus": _softplus, "rsqrt": _rsqrt},
}
_OF_F32: dict[str, Callable[..., Expr]] = {
    **{"exp": _exp, "expm1": _expm1, "log": _log, "log1p": _log1p, "tanh": _tanh, "erf": _erf},
}
