"""Penalties on variables: `tf.contrib.layers.l2_regularizer` and its kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_tf.api.constant import constant
from byparts_frontend_tf.api.math.binary import add_n, multiply
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.api.math.unary import absolute
from byparts_frontend_tf.api.nn.activations import l2_loss
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.scopes import add_to_collection, get_collection, name_scope
from byparts_frontend_tf.symbols import symbol

Penalty = Callable[[Any], Any]


def _checked(scale: Any) -> float:
    if isinstance(scale, int) and not isinstance(scale, bool):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if scale < 0.0:
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale:g}")
    return float(scale)


@symbol("contrib.layers.l1_regularizer", "contrib.slim.l1_regularizer")
def l1_regularizer(scale: float, scope: Optional[str] = None) -> Penalty:
    """scale times the sum of the elements without signs; `None` for 0.

    Raises:
        ValueError: an integer, or negative.
    """
    factor = _checked(scale)

    def penalty(weights: Any, name: Optional[str] = None) -> Any:
        if factor == 0.0:
            return None
        with name_scope(scope, "l1_regularizer", [weights]) as inside:
            x = convert_to_tensor(weights)
            return multiply(
                convert_to_tensor(factor, x.dtype.base_dtype), reduce_sum(absolute(x)), name=inside
            )

    return penalty


@symbol("contrib.layers.l2_regularizer", "contrib.slim.l2_regularizer")
def l2_regularizer(scale: float, scope: Optional[str] = None) -> Penalty:
    """scale times half the sum of squares; `None` for 0.

    Raises:
        ValueError: an integer, or negative.
    """
    factor = _checked(scale)

    def penalty(weights: Any) -> Any:
        if factor == 0.0:
            return None
        with name_scope(scope, "l2_regularizer", [weights]) as inside:
            x = convert_to_tensor(weights)
            return multiply(convert_to_tensor(factor, x.dtype.base_dtype), l2_loss(x), name=inside)

    return penalty


@symbol("contrib.layers.sum_regularizer")
def sum_regularizer(regularizer_list: Any, scope: Optional[str] = None) -> Optional[Penalty]:
    """The sum of penalties."""
    some = [r for r in regularizer_list if r is not None]
    if not some:
        return None

    def penalty(weights: Any) -> Any:
        with name_scope(scope, "sum_regularizer", [weights]) as name:
            parts = [p for p in (r(weights) for r in some) if p is not None]
            return add_n(parts, name=name) if parts else None

    return penalty


@symbol("contrib.layers.l1_l2_regularizer")
def l1_l2_regularizer(
    scale_l1: float = 1.0, scale_l2: float = 1.0, scope: Optional[str] = None
) -> Optional[Penalty]:
    """The sum of both."""
    name = scope or "l1_l2_regularizer"
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope=name)


@symbol("contrib.layers.apply_regularization")
def apply_regularization(regularizer: Penalty, weights_list: Any = None) -> Any:
    """The sum of the penalties on weights, those of the collection WEIGHTS by default.

    It is added to REGULARIZATION_LOSSES.
    """
    chosen = get_collection(GraphKeys.WEIGHTS) if weights_list is None else weights_list
    parts = [p for p in (regularizer(w) for w in chosen) if p is not None]
    with name_scope("get_regularization_penalty"):
        total = add_n(parts) if parts else constant(0.0)
    add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
    return total
