"""Losses of elements as one number, and the collection of all losses."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.constant import constant, ones_like
from byparts_frontend_tf.api.math.binary import (
    add_n,
    div_no_nan,
    multiply,
)
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import add_to_collection, get_collection, name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import float32


@symbol("losses.Reduction")
class Reduction:
    """Ways to reduce the losses of all elements."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All of them."""
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_BY_NONZERO_WEIGHTS)

    @classmethod
    def validate(cls, key: str) -> None:
        """Raise `ValueError` for another one."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


USUAL = Reduction.SUM_BY_NONZERO_WEIGHTS


def _safely(total: Tensor, count: Tensor) -> Tensor:
    """total / count; 0 where the count is."""
    return div_no_nan(total, count, name="value")


def _spread(weights: Tensor, losses: Tensor) -> Tensor:
    """Weights in the shape of the losses."""
    if weights.dims is not None and losses.dims is not None:
        rank = len(losses.dims)
        own = weights.dims or ()
        pairs = zip(own, losses.dims, strict=False)
        if len(own) not in (0, rank) or any(n and w not in (1, n, None) for w, n in pairs):
            raise ValueError(
                f"weights can not be broadcast to values. values.shape={losses.shape}. "
                f"weights.shape={weights.shape}."
            )
    return multiply(ones_like(losses), weights)


@symbol("losses.compute_weighted_loss")
def compute_weighted_loss(
    losses: Any,
    weights: Any = 1.0,
    scope: Optional[str] = None,
    loss_collection: Optional[str] = GraphKeys.LOSSES,
    reduction: str = USUAL,
) -> Tensor:
    """The losses times weights, reduced to a number; added to `loss_collection`.

    Raises:
        ValueError: another reduction.
    """
    Reduction.validate(reduction)
    with name_scope(scope, "weighted_loss"):
        given = convert_to_tensor(losses)
        values = cast(given, float32)
        factors = cast(convert_to_tensor(weights), float32)
        weighted = multiply(values, factors if factors.dims == () else _spread(factors, values))
        made: Tensor = weighted
        if reduction != Reduction.NONE:
            made = reduce_sum(weighted)
        if reduction == Reduction.MEAN:
            made = _safely(made, reduce_sum(_spread(factors, values)))
        elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
            made = _safely(made, reduce_sum(ones_like(values)))
        elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
            present = cast(_spread(factors, values), "bool")
            made = _safely(made, reduce_sum(cast(present, float32)))
        made = cast(made, given.dtype.base_dtype)
        add_loss(made, loss_collection)
        return made


@symbol("losses.add_loss")
def add_loss(loss: Any, loss_collection: Optional[str] = GraphKeys.LOSSES) -> None:
    """Add to a collection."""
    if loss_collection:
        add_to_collection(loss_collection, loss)


@symbol("losses.get_losses")
def get_losses(scope: Optional[str] = None, loss_collection: str = GraphKeys.LOSSES) -> list[Any]:
    """The losses of a scope."""
    return list(get_collection(loss_collection, scope))


@symbol("losses.get_regularization_losses")
def get_regularization_losses(scope: Optional[str] = None) -> list[Any]:
    """The penalties on variables."""
    return list(get_collection(GraphKeys.REGULARIZATION_LOSSES, scope))


@symbol("losses.get_regularization_loss")
def get_regularization_loss(
    scope: Optional[str] = None, name: str = "total_regularization_loss"
) -> Tensor:
    """Sum of the regularization losses in a scope; 0 where there are none."""
    found = get_regularization_losses(scope)
    return add_n(found, name=name) if found else constant(0.0)


@symbol("losses.get_total_loss")
def get_total_loss(
    add_regularization_losses: bool = True,
    name: str = "total_loss",
    scope: Optional[str] = None,
) -> Tensor:
    """The sum of all losses, and of the penalties."""
    found = get_losses(scope)
    if add_regularization_losses:
        found += get_regularization_losses(scope)
    return add_n(found, name=name)
