"""Small functions of `tf.math`: polynomials, whether elements grow, the inverse of softplus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_tf.api.math.reduce import reduce_all
from byparts_frontend_tf.api.math.unary import expm1, log
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol


@symbol("math.polyval")
def polyval(coeffs: Any, x: TensorLike, name: Optional[str] = None) -> Any:
    """The polynomial with these coefficients, the highest power first."""
    with name_scope(name, "polyval"):
        at = convert_to_tensor(x)
        made: Any = at * 0 if not coeffs else coeffs[0] + at * 0
        for c in coeffs[1:]:
            made = c + made * at
        return made


def _ascending(strict: bool) -> Callable[..., Tensor]:
    def apply(x: TensorLike, name: Optional[str] = None) -> Tensor:
        flat = reshape(convert_to_tensor(x), [-1])
        step = flat[1:] - flat[:-1]
        return reduce_all(step > 0 if strict else step >= 0, name=name)

    apply.__doc__ = "Whether the elements in order " + ("all grow." if strict else "never fall.")
    apply.__module__ = __name__
    return apply


is_strictly_increasing, is_non_decreasing = _ascending(True), _ascending(False)


@symbol("contrib.distributions.softplus_inverse", "math.softplus_inverse")
def softplus_inverse(x: TensorLike, name: Optional[str] = None) -> Any:
    """y with softplus(y) = x."""
    with name_scope(name, "softplus_inverse"):
        return log(expm1(convert_to_tensor(x)))


_GROWING = ("is_strictly_increasing", "is_non_decreasing")
SYMBOLS = {
    **{f"math.{name}": name for name in _GROWING},
    **{name: name for name in _GROWING},
}
