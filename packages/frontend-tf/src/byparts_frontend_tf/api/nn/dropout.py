"""`tf.nn.dropout`."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.math.unary import floor, rsqrt
from byparts_frontend_tf.api.random.random import random_uniform
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import symbol


@symbol("nn.dropout")
def dropout(
    x: TensorLike,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: Optional[int] = None,
    name: Optional[str] = None,
    rate: Any = None,
) -> Tensor:
    """x with elements set to 0 at random, each with probability `rate`; the others grow.

    Raises:
        ValueError: both or none of keep_prob and rate; the rate is outside of [0, 1); x is not of
            floats.
    """
    if keep_prob is not None and rate is not None:
        raise ValueError("Only one of keep_prob and rate may be given: rate = 1 - keep_prob")
    with name_scope(name, "dropout"):
        given = convert_to_tensor(x, name="x")
        dtype = given.dtype.base_dtype
        if not dtype.is_floating:
            raise ValueError(
                f"x has to be a floating point tensor since it's going to be scaled. Got a "
                f"{dtype.name} tensor instead."
            )
        given_rate = _rate(keep_prob, rate)
        known = given_rate if isinstance(given_rate, float) else static_value(given_rate)
        if known is not None and float(known) == 0.0:
            return given
        dropped = cast(convert_to_tensor(given_rate, name="rate"), dtype)
        size = shape_of(given) if noise_shape is None else _noise(given, noise_shape)
        chosen = random_uniform(size, dtype=dtype, seed=seed)
        made: Tensor = given * (1.0 / (1.0 - dropped)) * cast(chosen >= dropped, dtype)
        if given.dims is not None:
            made.set_shape(given.dims)
        return made


_LEAST_OF_SELU = -1.7580993408473766  # what SELU gives for very negative numbers


@symbol("contrib.nn.alpha_dropout")
def alpha_dropout(
    x: TensorLike,
    keep_prob: Any,
    noise_shape: Any = None,
    seed: Optional[int] = None,
    name: Optional[str] = None,
) -> Tensor:
    """x with elements set to the least of SELU at random; mean and variance stay (0, 1)."""
    with name_scope(name, "alpha_dropout"):
        given = convert_to_tensor(x, name="x")
        keep = convert_to_tensor(keep_prob, given.dtype.base_dtype)
        size = shape_of(given) if noise_shape is None else _noise(given, noise_shape)
        kept = floor(keep + random_uniform(size, dtype=given.dtype.base_dtype, seed=seed))
        low = _LEAST_OF_SELU
        scale = rsqrt(keep + low**2 * keep * (1 - keep))
        made: Tensor = scale * (given * kept + low * (1 - kept)) - scale * low * (1 - keep)
        return made


def _noise(x: Tensor, given: Any) -> Any:
    """`noise_shape`, where `None` and -1 are the extent of x."""
    if not isinstance(given, (list, tuple)):
        return given
    sizes = shape_of(x)
    return [sizes[i] if n in (None, -1) else n for i, n in enumerate(given)]


def _rate(keep_prob: Any, rate: Any) -> Any:
    """The probability to drop an element: a number or a tensor."""
    given = keep_prob if rate is None else rate
    if given is None:
        raise ValueError("You must provide a rate to dropout.")
    if not isinstance(given, (int, float)):
        tensor = convert_to_tensor(given)
        return 1.0 - tensor if rate is None else tensor
    dropped = 1.0 - float(given) if rate is None else float(given)
    if not 0.0 <= dropped < 1.0:
        raise ValueError(
            f"rate must be a scalar tensor or a float in the range [0, 1), got {dropped:g}"
        )
    return dropped
