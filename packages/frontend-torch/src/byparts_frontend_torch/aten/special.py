"""Special functions that are no ops of ours, as expressions.

The gamma family is Stirling's series, from 8 on; smaller numbers are brought there by recurrence
and negative ones by reflection (Abramowitz and Stegun 1964, 6.1 and 6.3).  Bessel functions are
their integrals, which the rule of trapezoids gives to all digits with few places (Trefethen and
Weideman 2014), and for great numbers their asymptotic series (Abramowitz and Stegun, 9.2 and 9.7).
"""

from __future__ import annotations

from math import inf, nan, pi
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_frontend_torch.errors import UnsupportedOp
from byparts_frontend_torch.promotion import floating
from byparts_frontend_torch.rules import rules
from byparts_graph_ir import Value

# Bernoulli numbers B(2), B(4), ... of the series.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_FAR = 30.0  # from here on the asymptotic series of Bessel functions have all digits


@rules.on("aten.lgamma.default")
def lgamma(x: Value) -> Value:
    x = floating(x)
    below = ops.less(x, 0.5)
    y = ops.where(below, 1 - x, x)
    small = ops.less(y, 8.0)
    z = ops.where(small, y + 8, y)
    near = ops.where(small, y, 1.0)
    product = near
    for i in range(1, 8):
        product = product * (near + i)
    terms = [b / (2 * k * (2 * k - 1)) for k, b in enumerate(_BERNOULLI, 1)]
    series = _power_series(terms, 1 / ops.square(z)) / z
    found = (z - 0.5) * (ops.log(z) - 1) + (0.5 * float(np.log(2 * pi)) - 0.5) + series
    found = ops.where(small, found - ops.log(product), found)
    sine = ops.abs(ops.sin(ops.where(below, x - ops.round(x), 0.5) * pi))
    reflected = ops.where(ops.equal(sine, 0), inf, float(np.log(pi)) - ops.log(sine) - found)
    return ops.where(ops.is_inf(x), inf, ops.where(below, reflected, found))


@rules.on("aten.digamma.default")
def digamma(x: Value) -> Value:
    """At 0 an infinity of the other sign; at -1, -2, ... nan."""
    return _polygamma(0, floating(x))


@rules.on("aten.polygamma.default")
def polygamma(n: int, x: Value) -> Value:
    if n > 1:
        raise UnsupportedOp(f"polygamma of order {n}: orders 0 and 1 are imported")
    return _polygamma(n, floating(x))


def _polygamma(n: int, x: Value) -> Value:
    """The first or second derivative of lgamma."""
    below = ops.less(x, 0.5)
    y = ops.where(below, 1 - x, x)
    small = ops.less(y, 8.0)
    z, near = ops.where(small, y + 8, y), ops.where(small, y, 1.0)
    inverse = 1 / ops.square(z)
    steps = ops.add_n([(near + i) ** -(n + 1) for i in range(8)])
    if n == 0:
        terms = [-b / (2 * k) for k, b in enumerate(_BERNOULLI, 1)]
        found = ops.log(z) - 0.5 / z + _power_series(terms, inverse) * inverse
        found = ops.where(small, found - steps, found)
    else:
        found = 1 / z + 0.5 * inverse + _power_series(_BERNOULLI, inverse) * inverse / z
        found = ops.where(small, found + steps, found)
    angle = ops.where(below, x - ops.round(x), 0.25) * pi
    if n == 1:
        reflected = (pi / ops.sin(angle)) ** 2 - found
    else:
        pole = ops.where(ops.equal(x, 0), ops.copysign(inf, -x), nan)
        sine = ops.sin(angle)
        zero = ops.equal(sine, 0)
        reflected = found - pi * ops.cos(angle) / ops.where(zero, 1, sine)
        reflected = ops.where(zero, pole, reflected)
    return ops.where(below, reflected, found)


@rules.on("aten.special_erfcx.default")
def erfcx(x: Value) -> Value:
    """exp(x^2) erfc(x), whose factors leave the range from 5 on in f32."""
    x = floating(x)
    far = ops.greater(x, 5.0 if x.type.dtype == "f32" else 12.0)
    near, great = ops.where(far, 0.0, x), ops.where(far, x, 12.0)
    terms = [1.0, -1 / 2, 3 / 4, -15 / 8, 105 / 16, -945 / 32, 10395 / 64]
    series = _power_series(terms, 1 / ops.square(great)) / (great * float(np.sqrt(pi)))
    return ops.where(far, series, ops.exp(ops.square(near)) * ops.erfc(near))


@rules.on("aten.special_log_ndtr.default")
def log_ndtr(x: Value) -> Value:
    """log of the normal distribution; each branch gets only numbers whose gradient is finite."""
    x = floating(x) * float(np.sqrt(0.5))
    low = ops.less(x, -0.7)
    below, above = ops.where(low, x, -1.0), ops.where(low, 0.0, x)
    tail = ops.log(erfcx(-below) / 2) - ops.square(below)
    return ops.where(low, tail, ops.log1p(ops.erfc(above) * -0.5))


@rules.on("aten.special_spherical_bessel_j0.default")
def spherical_j0(x: Value) -> Value:
    x = floating(x)
    zero = ops.equal(x, 0)
    divisor = ops.where(zero, 1.0, x)
    return ops.where(zero, 1.0, ops.where(ops.is_inf(x), 0.0, ops.sin(divisor) / divisor))


def _bessel_i(order: int, scaled: bool) -> Any:
    def rule(x: Value) -> Value:
        x = floating(x)
        size = ops.abs(x)
        far = ops.greater(size, _FAR)
        near, great = ops.where(far, 1.0, size), ops.where(far, size, _FAR)
        angles = (np.arange(48) + 0.5) * pi / 48
        found = _over(near, np.cos(angles) - 1, np.cos(angles) ** order / 48, ops.exp)
        series = _power_series(_asymptotic(order), -1 / great) / ops.sqrt(2 * pi * great)
        found = ops.where(far, series, found)
        half = ops.exp(size / 2)  # exp(size) is out of range before the product is
        found = found if scaled else found * half * half
        return found * ops.sign(x) if order else found

    return rule


def _bessel_k(order: int, scaled: bool) -> Any:
    def rule(x: Value) -> Value:
        x = floating(x)
        far, tiny = ops.greater(x, _FAR), ops.less(x, 1e-6)
        near = ops.where(ops.logical_or(far, tiny), 1.0, x)
        great, least = ops.where(far, x, _FAR), ops.where(tiny, ops.maximum(x, 0), 1.0)
        at = np.arange(190) * 0.1
        weights = np.cosh(order * at) * np.where(at == 0, 0.05, 0.1)
        found = _over(near, 1 - np.cosh(at), weights, ops.exp)
        series = _power_series(_asymptotic(order), 1 / great) * ops.sqrt(pi / (2 * great))
        small = 1 / least if order else 0.11593151565841245 - ops.log(least)
        found = ops.where(tiny, small * ops.exp(least), ops.where(far, series, found))
        found = found if scaled else found * ops.exp(-x)
        return ops.where(ops.less(x, 0), nan, found)

    return rule


def _bessel_j(order: int) -> Any:
    def rule(x: Value) -> Value:
        x = floating(x)
        size = ops.abs(x)
        far = ops.greater(size, _FAR)
        near, great = ops.where(far, 1.0, size), ops.where(far, size, _FAR)
        angles = (np.arange(64) + 0.5) * pi / 64
        wave, weights = (ops.sin, np.sin(angles) / 64) if order else (ops.cos, np.ones(64) / 64)
        found = _over(near, np.sin(angles), weights, wave)
        terms, inverse = _asymptotic(order), 1 / great
        signs = (-1.0) ** np.arange(len(terms) // 2)
        p = _power_series(list(terms[::2] * signs), ops.square(inverse))
        q = _power_series(list(terms[1::2] * signs), ops.square(inverse)) * inverse
        phase = great - (order / 2 + 0.25) * pi
        wide = (p * ops.cos(phase) - q * ops.sin(phase)) * ops.sqrt(2 / pi * inverse)
        found = ops.where(far, wide, found)
        return found * ops.sign(x) if order else found

    return rule


def _over(x: Value, places: Any, weights: Any, function: Any) -> Value:
    """The sum of weights * function(x * places), over places."""
    dtype = x.type.dtype
    y = function(ops.expand_dims(x, -1) * ops.cast(ops.constant(places), dtype))
    return ops.sum(y * ops.cast(ops.constant(weights), dtype), -1)


def _asymptotic(order: int) -> Any:
    """Coefficients a(k) of the asymptotic series in 1 / x: those of K, with signs those of I."""
    odd = (2 * np.arange(14) + 1.0) ** 2
    factors = (4.0 * order**2 - odd) / (8 * (np.arange(14) + 1))
    return np.cumprod([1.0, *factors[:13]])


def _power_series(terms: Any, x: Value) -> Value:
    """The sum of terms[k] * x^k."""
    y = ops.zeros_like(x)
    for term in reversed(list(terms)):
        y = y * x + float(term)
    return y


for _order in (0, 1):
    for _scaled in (False, True):
        _rule = _bessel_i(_order, _scaled)
        _old = f"{'' if _order == 0 and not _scaled else 'special_'}i{_order}{'e' * _scaled}"
        rules.on(f"aten.{_old}.default")(_rule)
        _kind = "special_scaled_modified" if _scaled else "special_modified"
        rules.on(f"aten.{_kind}_bessel_k{_order}.default")(_bessel_k(_order, _scaled))
    rules.on(f"aten.special_modified_bessel_i{_order}.default")(_bessel_i(_order, False))
    rules.on(f"aten.special_bessel_j{_order}.default")(_bessel_j(_order))
