"""`contrib.losses`, which are `slim.losses`: those of `tf.losses`, predictions first."""

from __future__ import annotations

from typing import Any

import byparts_frontend_tf.api.losses.losses as newer
import byparts_frontend_tf.api.losses.reduction as newer_reduction
from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.constant import ones_like
from byparts_frontend_tf.api.nn.relu import relu
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol


@symbol("contrib.losses.compute_weighted_loss", "contrib.slim.losses.compute_weighted_loss")
def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: Any = None) -> Tensor:
    """The mean of losses times weights, of those whose weight is not 0; kept in LOSSES."""
    return newer_reduction.compute_weighted_loss(losses, weights, scope)


@symbol("contrib.losses.absolute_difference", "contrib.slim.losses.absolute_difference")
def absolute_difference(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: Any = None
) -> Tensor:
    """The differences without signs."""
    return newer.absolute_difference(labels, predictions, weights, scope)


@symbol("contrib.losses.mean_squared_error", "contrib.slim.losses.mean_squared_error")
def mean_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: Any = None
) -> Tensor:
    """The squares of differences."""
    return newer.mean_squared_error(labels, predictions, weights, scope)


@symbol("contrib.losses.log_loss", "contrib.slim.losses.log_loss")
def log_loss(
    predictions: Any,
    labels: Any = None,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: Any = None,
) -> Tensor:
    """-labels log(predictions + epsilon) - (1 - labels) log(1 - predictions + epsilon)."""
    return newer.log_loss(labels, predictions, weights, epsilon, scope)


@symbol("contrib.losses.sigmoid_cross_entropy", "contrib.slim.losses.sigmoid_cross_entropy")
def sigmoid_cross_entropy(
    logits: Any,
    multi_class_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: Any = None,
) -> Tensor:
    """`nn.sigmoid_cross_entropy_with_logits`."""
    return newer.sigmoid_cross_entropy(multi_class_labels, logits, weights, label_smoothing, scope)


@symbol("contrib.losses.softmax_cross_entropy", "contrib.slim.losses.softmax_cross_entropy")
def softmax_cross_entropy(
    logits: Any,
    onehot_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: Any = None,
) -> Tensor:
    """`nn.softmax_cross_entropy_with_logits`."""
    return newer.softmax_cross_entropy(onehot_labels, logits, weights, label_smoothing, scope)


@symbol(
    *("contrib.losses.sparse_softmax_cross_entropy",),
    *("contrib.slim.losses.sparse_softmax_cross_entropy",),
)
def sparse_softmax_cross_entropy(
    logits: Any, labels: Any, weights: Any = 1.0, scope: Any = None
) -> Tensor:
    """`nn.sparse_softmax_cross_entropy_with_logits`."""
    return newer.sparse_softmax_cross_entropy(labels, logits, weights, scope)


@symbol("contrib.losses.cosine_distance", "contrib.slim.losses.cosine_distance")
def cosine_distance(
    predictions: Any,
    labels: Any = None,
    axis: Any = None,
    weights: Any = 1.0,
    scope: Any = None,
    dim: Any = None,
) -> Tensor:
    """1 - the sum of products along an axis."""
    return newer.cosine_distance(labels, predictions, axis, weights, scope, dim=dim)


@symbol("contrib.losses.hinge_loss", "contrib.slim.losses.hinge_loss")
def hinge_loss(logits: Any, labels: Any = None, scope: Any = None) -> Tensor:
    """max(0, 1 - y logits) of each element, for labels 0 and 1 that mean y = -1 and 1."""
    with name_scope(scope, "hinge_loss", [logits, labels]):
        x, y = convert_to_tensor(logits), convert_to_tensor(labels)
        x.shape.assert_is_compatible_with(y.shape)
        signs = 2 * (y if y.dtype == x.dtype else cast(y, x.dtype)) - ones_like(x)
        return relu(ones_like(x) - signs * x)


SYMBOLS = {
    "contrib.slim.losses.mean_pairwise_squared_error": (
        "byparts_frontend_tf.api.losses.pairwise:old_mean_pairwise_squared_error"
    ),
    **{
        f"contrib.{place}.{name}": f"byparts_frontend_tf.api.losses.reduction:{name}"
        for place in ("losses", "slim.losses")
        for name in (*("add_loss", "get_losses", "get_regularization_losses", "get_total_loss"),)
    },
}
