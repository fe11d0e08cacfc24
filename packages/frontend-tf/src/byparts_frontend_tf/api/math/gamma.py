"""The gamma function's logarithm and what comes of it, in float64.

Stirling's series for x >= 8; smaller x by gamma(x + 1) = x gamma(x), negative ones by reflection.
Relative error about 1e-12, but near the zeros of the logarithm at 1 and 2, where it is absolute.
"""

from __future__ import annotations

import math
from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.api.elementwise import FLOATS, unary
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.api.math.unary import negative, softplus
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
_SHIFT = 8  # from here on the series is good to the last digits


def _positive_log_gamma(x: Value) -> Value:
    """Logarithm of gamma of x >= 0.5."""
    product, y = x, x + 1
    for _ in range(_SHIFT - 1):
        product, y = product * y, y + 1
    series = ops.zeros_like(y)
    for k, b in reversed(list(enumerate(_BERNOULLI, 1))):
        series = series / (y * y) + b / (2 * k * (2 * k - 1))
    whole = (y - 0.5) * ops.log(y) - y + 0.5 * math.log(2 * math.pi) + series / y
    large = x > 1e6  # the product overflows and is not needed
    stirling = (x - 0.5) * ops.log(x) - x + 0.5 * math.log(2 * math.pi) + 1 / (12 * x)
    return ops.select(
        large, stirling, whole - ops.log(ops.select(large, ops.ones_like(x), product))
    )


def _log_gamma(given: Value) -> Value:
    x = ops.cast(given, "f64")
    low = x < 0.5
    mirrored = ops.select(low, 1 - x, x)
    found = _positive_log_gamma(mirrored)
    sine = ops.abs(
        ops.sin(math.pi * ops.select(low, x - ops.stop_gradient(ops.round(x)), 0.5 + 0 * x))
    )
    return ops.cast(
        ops.select(low, math.log(math.pi) - ops.log(sine) - found, found), given.type.dtype
    )


def _digamma(given: Value) -> Value:
    x = ops.cast(given, "f64")
    low = x < 0.5
    y = ops.select(low, 1 - x, x)
    total = ops.zeros_like(y)
    for _ in range(_SHIFT):
        total, y = total - 1 / y, y + 1
    series = ops.zeros_like(y)
    for k, b in reversed(list(enumerate(_BERNOULLI, 1))):
        series = (series + b / (2 * k)) / (y * y)
    found = total + ops.log(y) - 0.5 / y - series
    angle = math.pi * ops.select(low, x - ops.stop_gradient(ops.round(x)), 0.25 + 0 * x)
    return ops.cast(ops.select(low, found - math.pi / ops.tan(angle), found), given.type.dtype)


lgamma = unary("Lgamma", _log_gamma, FLOATS)
digamma = unary("Digamma", _digamma, FLOATS)


@symbol("lbeta", "math.lbeta")
def lbeta(x: TensorLike, name: Optional[str] = None) -> Tensor:
    """The logarithm of the beta function of the last axis: sum lgamma(x) - lgamma(sum x)."""
    with name_scope(name, "lbeta"):
        given = convert_to_tensor(x)
        made: Tensor = reduce_sum(lgamma(given), [-1]) - lgamma(reduce_sum(given, [-1]))
        return made


@symbol("log_sigmoid", "math.log_sigmoid")
def log_sigmoid(x: TensorLike, name: Optional[str] = None) -> Any:
    """log(sigmoid(x))."""
    with name_scope(name, "LogSigmoid") as scope:
        return negative(softplus(negative(convert_to_tensor(x))), name=scope)


SYMBOLS = {
    "lgamma": "lgamma",
    "math.lgamma": "lgamma",
    "digamma": "digamma",
    "math.digamma": "digamma",
}
