"""The functions of mathematics as arithmetic on f32, for every emitter alike.

No tables and, for nearly all arguments, no branches and no calls: a handful of multiplications for
each lane of a vector.  The coefficients are least-maximum fits of our own.  The bounds below are in
units of the last place, against f64, over every 397th of the 2^32 arguments (sin, tanh: all; pow:
those of its test); `benchmarks/mathematics.py` measures them, and a test samples them.  NaN
gives NaN, infinities and signed zeros are exact, underflow is gradual.

    exp 1.0  expm1 1.5  log 0.9  log1p 1.5  tanh 1.4  sigmoid 1.5  softplus 2.0  erf 1.2  rsqrt 1.5
    sin 1.0  cos 1.0  tan 1.4  pow 1.0

sin, cos and tan beyond 2^16 call the C library, and so do functions that are not here (asin, sinh,
...), and those of f64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from byparts_tensor_ir.expression import Expr, const, make
from byparts_tensor_ir.functions import bitcast, call, cast, fma, maximum, select, unary

_LOG2_E = float.fromhex("0x1.715476p+0")
_LN2_HIGH = float.fromhex("0x1.62e400p-1")  # 15 bits: its product with a small integer is exact
_LN2_LOW = float.fromhex("0x1.7f7d1cp-20")
_INFINITY = float("inf")
_ONE_AND_A_HALF = float.fromhex("0x1.8p+23")
_TWO_OVER_PI = float.fromhex("0x1.45f306p-1")
_HALF_PI = [float.fromhex(x) for x in ("0x1.921fb6p+0", "-0x1.777a5cp-25", "-0x1.ee59dap-50")]

# (e^r - 1 - r) / r^2 on |r| <= ln(2) / 2
_EXP = (
    *("0x1.000000p-1", "0x1.555556p-3", "0x1.5554aep-5", "0x1.111092p-7"),
    *("0x1.6d749ap-10", "0x1.a19e2ap-13"),
)
# (sin(r) - r) / r^3, (cos(r) - 1 + r^2 / 2) / r^4, (tan(r) - r) / r^3, of r^2 for |r| <= pi / 4
_SIN = ("-0x1.555544p-3", "0x1.1106d4p-7", "-0x1.9920b8p-13")
_COS = ("0x1.55554ap-5", "-0x1.6c0bc4p-10", "0x1.99cb80p-16")
_TAN = (
    *("0x1.555562p-2", "0x1.110d02p-3", "0x1.baf53ap-5", "0x1.5ba3cep-6", "0x1.689d5cp-7"),
    *("-0x1.0f0738p-13", "0x1.260074p-8"),
)
# (tanh(x) - x) / x^3 of x^2, for |x| < 0.56
_TANH = (*("-0x1.555548p-2", "0x1.110c9ap-3", "-0x1.b90fd2p-5", "0x1.5866eap-6", "-0x1.963e2ep-8"),)
# log2(m) / s of s^2, for s = (m - 1) / (m + 1) and sqrt(1/2) <= m <= sqrt(2); of f64
_LOG2 = (
    *("0x1.71547652beefcp+1", "0x1.ec709d117017ap-1", "0x1.277781001625bp-1"),
    *("0x1.a58cfe6aac470p-2", "0x1.5cf2cfb55fcb5p-2"),
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
    return e if rule is None or e.attr == "called" else rule(*e.args)


def _f(x: float) -> Expr:
    return const(x, "f32")


def _polynomial(x: Expr, coefficients: Sequence[str]) -> Expr:
    """The polynomial with these coefficients, of x^0 first, by Horner's rule."""
    p = const(float.fromhex(coefficients[-1]), x.dtype)
    for c in reversed(coefficients[:-1]):
        p = fma(p, x, float.fromhex(c))
    return p


def _nearest(x: Expr, factor: float) -> tuple[Expr, Expr]:
    """The whole number next to x factor, as i32 and as f32; of at most 2^22.

    The sum with 1.5 2^23 has it in its last bits.  No float is converted, which of NaN has no
    meaning in C.
    """
    moved = fma(x, _f(factor), _f(_ONE_AND_A_HALF))
    return bitcast(moved, "i32") - 0x4B400000, moved - _ONE_AND_A_HALF


def _power_of_2(k: Expr) -> Expr:
    """2^k of an i32 between -126 and 127."""
    return bitcast((k + 127) << 23, "f32")


def _reduced(x: Expr) -> tuple[Expr, Expr]:
    """(k, e^r - 1) with x = k log(2) + r, |r| <= log(2) / 2; k is i32."""
    k, n = _nearest(x, _LOG2_E)
    r = fma(n, _f(-_LN2_LOW), fma(n, _f(-_LN2_HIGH), x))
    return k, fma(_polynomial(r, _EXP), r * r, r)


def _clamped(x: Expr, low: float, high: float) -> Expr:
    """x between two numbers; NaN stays."""
    x = select(x < low, const(low, x.dtype), x)
    return select(x > high, const(high, x.dtype), x)


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
    exponent, rest = _parts(select(small, x * float.fromhex("0x1p+23"), x))
    exponent = exponent - select(small, const(23, "i32"), const(0, "i32"))
    f = rest - 1.0
    square = f * f
    p = _polynomial(f, _LOG) * f * square
    return cast(exponent, "f32"), fma(square, _f(-0.5), p) + f


def _parts(x: Expr) -> tuple[Expr, Expr]:
    """(exponent as i32, the rest between sqrt(1/2) and sqrt(2)) of a normal number."""
    apart = bitcast(x, "i32") - 0x3F3504F3  # so that the exponent counts from sqrt(1/2)
    return apart >> 23, bitcast((apart & 0x007FFFFF) + 0x3F3504F3, "f32")


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
    """1 - 2 / (e^2|x| + 1); of small numbers a polynomial."""
    a, t = unary("abs", x), x * x
    k, q = _reduced(_clamped(a + a, 0.0, 20.0))
    power = _power_of_2(k)
    large = 1.0 - _f(2.0) / fma(q, power, power + 1.0)
    small = fma(_polynomial(t, _TANH) * t, x, x)
    return _with_sign_of(select(a < 0.55, small, large), x)


def _sigmoid(x: Expr) -> Expr:
    """y = 1 / (1 + 2^k e^r), with both sides times 2^-c, so that 2^(k - c) is finite.

    What the sum has lost corrects the quotient: 1 / (s + lost) = y - y (y lost).  The last product,
    by 2^-c, rounds once where y is subnormal.
    """
    k, q = _reduced(_clamped(-x, -18.0, 104.0))
    c = maximum(k - 100, const(0, "i32"))
    power, scale = _power_of_2(k - c), _power_of_2(-c)
    one = power + scale
    below = fma(q, power, one)
    lost = fma(q, power, one - below) + (scale - (one - power))
    y = _f(1.0) / below
    return fma(-(y * lost), y, y) * scale


def _sigmoid_of_any(x: Expr) -> Expr:
    if x.dtype == "f32":
        return _sigmoid(x)
    e = call("exp", -unary("abs", x))
    return select(x < 0.0, e, const(1.0, x.dtype)) / (e + 1.0)


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


def _quarters(x: Expr) -> tuple[Expr, Expr, Expr]:
    """(n, r, rest) with x = n pi / 2 + r + rest, |r| <= pi / 4, for |x| < 2^16.

    n times the first part of pi / 2 is subtracted without error; of the second, what rounding loses
    is kept.
    """
    k, n = _nearest(x, _TWO_OVER_PI)
    first, second = fma(n, _f(-_HALF_PI[0]), x), n * _HALF_PI[1]
    r = first - second
    moved = r - first
    lost = (first - (r - moved)) - (second + moved) - fma(n, _f(_HALF_PI[1]), -second)
    return k, r, fma(n, _f(-_HALF_PI[2]), lost)


def _rare_if_large(name: str, x: Expr, y: Expr) -> Expr:
    """y, but of large numbers what the C library says: a branch, taken if any lane is large."""
    called = make(name, (x,), "f32", "called")
    return make("select", (_f(65536.0) < unary("abs", x), called, y), "f32", "rare")


def _sine(name: str, x: Expr) -> Expr:
    k, r, rest = _quarters(x)
    z = r * r
    sine = fma(_polynomial(z, _SIN), z * r, rest) + r
    half = z * 0.5
    w = 1.0 - half
    cosine = w + fma(_polynomial(z, _COS), z * z, fma(-r, rest, (1.0 - w) - half))
    k = k + 1 if name == "cos" else k
    y = select((k & 1).equal(0), sine, cosine)
    y = bitcast(bitcast(y, "i32") ^ ((k & 2) << 30), "f32")
    return _rare_if_large(name, x, select(x.equal(0.0), x, y) if name == "sin" else y)


def _sin(x: Expr) -> Expr:
    return _sine("sin", x)


def _cos(x: Expr) -> Expr:
    return _sine("cos", x)


def _tan(x: Expr) -> Expr:
    """t = tan(r), or y = -1 / t, corrected by what t and the division have lost."""
    k, r, rest = _quarters(x)
    z = r * r
    tail = fma(_polynomial(z, _TAN), z * r, rest)
    tail = fma(rest, z, tail)
    t = r + tail
    y = _f(-1.0) / t
    y = fma(y, fma(y, tail - (t - r), fma(y, t, 1.0)), y)
    y = select((k & 1).equal(0), t, y)
    return _rare_if_large("tan", x, select(x.equal(0.0), x, y))


def _pow(x: Expr, y: Expr) -> Expr:
    """2^(y log2 |x|), the logarithm and the product in f64; then what C says of special numbers."""
    a = unary("abs", x)
    exact = cast(y, "f64") * _log2(a)
    t = select(a.equal(0.0), y * -_INFINITY, select(a < _INFINITY, cast(exact, "f32"), y * a))
    k, n = _nearest(_clamped(t, -160.0, 130.0), 1.0)
    r = cast((exact - cast(n, "f64")) * math.log(2), "f32")
    half = k >> 1
    q = fma(_polynomial(r, _EXP), r * r, r)
    z = (q + 1.0) * _power_of_2(half) * _power_of_2(k - half)
    z = select(unary("abs", t) < 160.0, z, select(t < 0.0, _f(0.0), t * _INFINITY))
    return _special_powers(x, y, z)


def _log2(a: Expr) -> Expr:
    """The logarithm of a positive f32, as f64, with an error of 2^-37 of it."""
    small = a < float.fromhex("0x1p-126")
    exponent, rest = _parts(select(small, a * float.fromhex("0x1p+23"), a))
    exponent = exponent - select(small, const(23, "i32"), const(0, "i32"))
    m = cast(rest, "f64")
    s = (m - 1.0) / (m + 1.0)
    return fma(_polynomial(s * s, _LOG2), s, cast(exponent, "f64"))


def _special_powers(x: Expr, y: Expr, z: Expr) -> Expr:
    """x^y from z = |x|^y."""
    whole = unary("rint", y).equal(y)
    halved = y * 0.5
    odd = whole & ~unary("rint", halved).equal(halved)
    sign = select(odd, bitcast(x, "i32") & -0x80000000, const(0, "i32"))
    z = bitcast(bitcast(z, "i32") ^ sign, "f32")
    z = select((x < 0.0) & (unary("abs", x) < _INFINITY) & ~whole, _f(float("nan")), z)
    one = x.equal(1.0) | y.equal(0.0) | (x.equal(-1.0) & unary("abs", y).equal(_INFINITY))
    return select(one, _f(1.0), z)


_OF_ANY_FLOAT: dict[str, Callable[..., Expr]] = {
    **{"sigmoid": _sigmoid_of_any, "softplus": _softplus, "rsqrt": _rsqrt},
}
_OF_F32: dict[str, Callable[..., Expr]] = {
    **{"exp": _exp, "expm1": _expm1, "log": _log, "log1p": _log1p, "tanh": _tanh, "erf": _erf},
    **{"sin": _sin, "cos": _cos, "tan": _tan, "pow": _pow},
}
