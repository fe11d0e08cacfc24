"""Incomplete gamma and beta functions, Bessel functions, zeta: `tf.igamma`, `tf.math.bessel_i0e`.

They are computed on the host, in float64, with their derivatives: by power series where these are
short, else by continued fractions (modified Lentz) or asymptotic series; relative error 1e-12.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.broadcast_to import broadcast_dynamic_shape, broadcast_to
from byparts_frontend_tf.api.custom_gradient import with_gradient
from byparts_frontend_tf.api.elementwise import FLOATS, binary, check_dtype
from byparts_frontend_tf.api.math.binary import equal, floormod
from byparts_frontend_tf.api.math.gamma import digamma, lgamma
from byparts_frontend_tf.api.math.unary import exp
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.where import where_v2
from byparts_frontend_tf.graph.convert import TensorLike, convert_all
from byparts_frontend_tf.graph.infer import broadcast
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.shape import TensorShape

_ROUNDS = 300  # of a series or a continued fraction: enough for what float64 can tell
_TINY = 1e-300
_log_gamma = np.vectorize(math.lgamma, otypes=[float])


def _gamma_ratios(a: Any, x: Any) -> tuple[Any, Any]:
    """The lower and the upper incomplete gamma function, each over gamma(a)."""
    front = np.exp(a * np.log(x) - x - _log_gamma(a))
    term = total = 1 / a
    for k in range(1, _ROUNDS):
        term = term * x / (a + k)
        total = total + term
    b = x + 1 - a
    c, d = np.full_like(x, 1 / _TINY), 1 / np.where(b == 0, _TINY, b)
    fraction = d
    for k in range(1, _ROUNDS):
        step, b = -k * (k - a), b + 2
        d = 1 / _not_zero(step * d + b)
        c = _not_zero(b + step / c)
        fraction = fraction * d * c
    near = x < a + 1
    lower = np.where(near, front * total, 1 - front * fraction)
    upper = np.where(near, 1 - front * total, front * fraction)
    ends = [x == 0, x == np.inf, ~(a > 0) | ~(x >= 0)]
    return np.select(ends, [0.0, 1.0, np.nan], lower), np.select(ends, [1.0, 0.0, np.nan], upper)


def _not_zero(x: Any) -> Any:
    return np.where(np.abs(x) < _TINY, _TINY, x)


def _beta_ratio(a: Any, b: Any, x: Any) -> Any:
    """The incomplete beta function over the whole one."""
    turned = x > (a + 1) / (a + b + 2)
    a, b, x = np.where(turned, b, a), np.where(turned, a, b), np.where(turned, 1 - x, x)
    front = a * np.log(x) + b * np.log1p(-x)
    front = np.exp(front + _log_gamma(a + b) - _log_gamma(a) - _log_gamma(b)) / a
    c, d = np.ones_like(x), 1 / _not_zero(1 - (a + b) * x / (a + 1))
    fraction = d
    for k in range(1, _ROUNDS):
        even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
        odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
        for step in (even, odd):
            d = 1 / _not_zero(1 + step * d)
            c = _not_zero(1 + step / c)
            fraction = fraction * d * c
    made = front * fraction
    return np.where(turned, 1 - made, made)


def _bessel(order: int, scaled: bool) -> Callable[[Any], Any]:
    """The modified Bessel function of the first kind, of order 0 or 1, over exp |x| if scaled."""

    def values(x: Any) -> Any:
        size = np.abs(x)
        small, large = np.minimum(size, 25.0), np.maximum(size, 25.0)
        term = total = (small / 2) ** order
        far = last = np.ones_like(size)
        for k in range(1, 80):
            term = term * (small / 2) ** 2 / (k * (k + order))
            total = total + term
            last = last * ((2 * k - 1) ** 2 - 4 * order**2) / (8 * k * large) if k < 30 else 0
            far = far + last
        far = far / np.sqrt(2 * np.pi * large)
        found = np.where(size < 25.0, total * np.exp(-small), far)
        return (np.sign(x) if order else 1) * found * (1 if scaled else np.exp(size))

    return values


def _special(
    type: str, values: Callable[..., Any], slopes: Callable[..., Sequence[Any]]
) -> Callable[..., Tensor]:
    """A function of tensors of floats that are repeated to one shape.

    Args:
        type: TensorFlow's name.
        values: arrays of float64 -> an array.
        slopes: (result, *arrays) -> derivatives by them; `None` where TensorFlow has none.
    """

    def host(*arrays: Any) -> tuple[Any, ...]:
        with np.errstate(all="ignore"):
            exact = [a.astype(np.float64) for a in arrays]
            result = values(*exact)
            by_input = [0 * result if s is None else s for s in slopes(result, *exact)]
            return tuple([a.astype(arrays[0].dtype) for a in (result, *by_input)])

    kind = Kind(
        type,
        host=host,
        shape=lambda inputs: [inputs[0].dims] * (1 + len(inputs)),
        dtype=lambda inputs: [inputs[0].dtype.base_dtype] * (1 + len(inputs)),
        gradient=False,
    )

    def apply(*given: TensorLike, name: Optional[str] = None) -> Tensor:
        with name_scope(name, type):
            tensors = [check_dtype(t, FLOATS) for t in convert_all(given)]
            dims = broadcast(tensors)
            if any(t.dims is None or t.dims != tensors[0].dims for t in tensors):
                size = shape_of(tensors[0])
                for t in tensors[1:]:
                    size = broadcast_dynamic_shape(size, shape_of(t))
                tensors = [broadcast_to(t, size) for t in tensors]
            result, *by_input = kind.outputs(*tensors)
            result.set_shape(TensorShape(dims))
            return with_gradient([result], [*tensors, *by_input], _times_slopes)[0]

    return apply


def _times_slopes(op: Any, dy: Tensor) -> list[Any]:
    slopes = op.inputs[len(op.inputs) // 2 + 1 :]
    return [*[dy * s for s in slopes], *[None for _ in slopes]]


def _igamma_slopes(lower: Any, a: Any, x: Any) -> list[Any]:
    """Slopes of the lower function by a (a difference of fourth order) and by x."""
    h = 1e-3 * a
    near = _gamma_ratios(a + h, x)[0] - _gamma_ratios(a - h, x)[0]
    far = _gamma_ratios(a + 2 * h, x)[0] - _gamma_ratios(a - 2 * h, x)[0]
    return [(8 * near - far) / (12 * h), np.exp(-x + (a - 1) * np.log(x) - _log_gamma(a))]


_igamma = _special("Igamma", lambda a, x: _gamma_ratios(a, x)[0], _igamma_slopes)
_igammac = _special(
    "Igammac",
    lambda a, x: _gamma_ratios(a, x)[1],
    lambda y, a, x: [-s for s in _igamma_slopes(y, a, x)],
)


def _beta_slopes(y: Any, a: Any, b: Any, x: Any) -> list[Any]:
    norm = _log_gamma(a) + _log_gamma(b) - _log_gamma(a + b)
    return [None, None, np.exp((b - 1) * np.log1p(-x) + (a - 1) * np.log(x) - norm)]


_betainc = _special("Betainc", _beta_ratio, _beta_slopes)


def _over_x(y: Any, x: Any) -> Any:
    """y / x; 1/2 where x is 0."""
    return np.where(x == 0, 0.5, y / np.where(x == 0, 1, x))


_I0E, _I1E, _I0, _I1 = (_bessel(n, scaled) for scaled in (True, False) for n in (0, 1))
_i0e = _special("BesselI0e", _I0E, lambda y, x: [_I1E(x) - np.sign(x) * y])
_i1e = _special("BesselI1e", _I1E, lambda y, x: [_I0E(x) - np.sign(x) * y - _over_x(y, x)])
_i0 = _special("BesselI0", _I0, lambda y, x: [_I1(x)])
_i1 = _special("BesselI1", _I1, lambda y, x: [_I0(x) - _over_x(y, x)])


@symbol("igamma", "math.igamma")
def igamma(a: TensorLike, x: TensorLike, name: Optional[str] = None) -> Tensor:
    """The lower incomplete gamma function over gamma(a)."""
    return _igamma(a, x, name=name)


@symbol("igammac", "math.igammac")
def igammac(a: TensorLike, x: TensorLike, name: Optional[str] = None) -> Tensor:
    """The upper incomplete gamma function over gamma(a)."""
    return _igammac(a, x, name=name)


@symbol("betainc", "math.betainc")
def betainc(a: TensorLike, b: TensorLike, x: TensorLike, name: Optional[str] = None) -> Tensor:
    """The incomplete beta function over the whole one."""
    return _betainc(a, b, x, name=name)


@symbol("math.bessel_i0e")
def bessel_i0e(x: TensorLike, name: Optional[str] = None) -> Tensor:
    """exp(-|x|) times the modified Bessel function of order 0."""
    return _i0e(x, name=name)


@symbol("math.bessel_i1e")
def bessel_i1e(x: TensorLike, name: Optional[str] = None) -> Tensor:
    """exp(-|x|) times the modified Bessel function of order 1."""
    return _i1e(x, name=name)


@symbol("math.bessel_i0")
def bessel_i0(x: TensorLike, name: Optional[str] = None) -> Tensor:
    """The modified Bessel function of order 0."""
    return _i0(x, name=name)


@symbol("math.bessel_i1")
def bessel_i1(x: TensorLike, name: Optional[str] = None) -> Tensor:
    """The modified Bessel function of order 1."""
    return _i1(x, name=name)


_EVEN = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)  # Bernoulli's numbers


def _zeta(given: Value, at: Value) -> Value:
    """The sum of (q + k)^-x for k >= 0: ten of its terms, and Euler and Maclaurin's rest."""
    x, q = ops.cast(given, "f64"), ops.cast(at, "f64")
    total = ops.pow(q, -x)
    for _ in range(9):
        q = q + 1
        total = total + ops.pow(q, -x)
    q = q + 1
    power = ops.pow(q, -x)
    total = total + power * q / (x - 1) + power / 2
    rising, size = x * power / q, 1.0
    for k, b in enumerate(_EVEN, 1):
        size *= (2 * k - 1) * 2 * k
        total = total + b / size * rising
        rising = rising * (x + 2 * k - 1) * (x + 2 * k) / (q * q)
    return ops.cast(total, given.type.dtype)


zeta = binary("Zeta", _zeta, FLOATS)


@symbol("polygamma", "math.polygamma")
def polygamma(a: TensorLike, x: TensorLike, name: Optional[str] = None) -> Tensor:
    """The derivative number a of digamma(x)."""
    with name_scope(name, "polygamma"):
        n, at = convert_all([a, x])
        size = exp(lgamma(n + 1.0)) * zeta(where_v2(equal(n, 0.0), n + 1.0, n) + 1.0, at)
        signed = (floormod(n, 2.0) * 2.0 - 1.0) * size
        return where_v2(equal(n + 0.0 * at, 0.0), digamma(at), signed)


SYMBOLS = {"zeta": "zeta", "math.zeta": "zeta"}
