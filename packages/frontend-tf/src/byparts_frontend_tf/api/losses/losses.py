"""`tf.losses`: losses with weights, kept in the collection LOSSES."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.family import family
from byparts_frontend_tf.api.identity import stop_gradient
from byparts_frontend_tf.api.losses.reduction import USUAL, compute_weighted_loss
from byparts_frontend_tf.api.math.binary import (
    minimum,
    multiply,
    squared_difference,
)
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.api.math.unary import absolute, log, square
from byparts_frontend_tf.api.nn.relu import relu
from byparts_frontend_tf.api.nn.softmax import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
)
from byparts_frontend_tf.api.reshape import squeeze
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import float32


def _both(labels: Any, predictions: Any, what: str) -> tuple[Tensor, Tensor]:
    """Labels and predictions of one shape, as floats.

    Raises:
        ValueError: one is missing, or the shapes differ.
    """
    if labels is None:
        raise ValueError("labels must not be None.")
    if predictions is None:
        raise ValueError(f"{what} must not be None.")
    x = cast(convert_to_tensor(predictions), float32)
    y = cast(convert_to_tensor(labels), float32)
    x.shape.assert_is_compatible_with(y.shape)
    return y, x


def _loss(title: str) -> Callable[[Callable[..., Any]], Callable[..., Tensor]]:
    """A loss whose operations are in a scope of this title; it gives losses and their weights."""

    @family
    def loss(
        compute: Callable[[], tuple[Tensor, Any]],
        scope: Optional[str] = None,
        loss_collection: Optional[str] = GraphKeys.LOSSES,
        reduction: str = USUAL,
    ) -> Tensor:
        with name_scope(scope, title) as inside:
            losses, weights = compute()
            return compute_weighted_loss(losses, weights, inside, loss_collection, reduction)

    return loss


@symbol("losses.mean_squared_error")
@_loss("mean_squared_error")
def mean_squared_error(labels: Any, predictions: Any, weights: Any = 1.0) -> Any:
    """The squares of differences."""
    y, x = _both(labels, predictions, "predictions")
    return squared_difference(x, y), weights


@symbol("losses.absolute_difference")
@_loss("absolute_difference")
def absolute_difference(labels: Any, predictions: Any, weights: Any = 1.0) -> Any:
    """The differences without signs."""
    y, x = _both(labels, predictions, "predictions")
    return absolute(x - y), weights


@symbol("losses.huber_loss")
@_loss("huber_loss")
def huber_loss(labels: Any, predictions: Any, weights: Any = 1.0, delta: float = 1.0) -> Any:
    """Half the square of differences up to delta; straight from there on."""
    y, x = _both(labels, predictions, "predictions")
    distance = absolute(x - y)
    near = minimum(distance, delta)
    return 0.5 * square(near) + delta * (distance - near), weights


@symbol("losses.log_loss")
@_loss("log_loss")
def log_loss(labels: Any, predictions: Any, weights: Any = 1.0, epsilon: float = 1e-7) -> Any:
    """-labels log(predictions + epsilon) - (1 - labels) log(1 - predictions + epsilon)."""
    y, x = _both(labels, predictions, "predictions")
    return -y * log(x + epsilon) - (1 - y) * log(1 - x + epsilon), weights


@symbol("losses.hinge_loss")
@_loss("hinge_loss")
def hinge_loss(labels: Any, logits: Any, weights: Any = 1.0) -> Any:
    """max(0, 1 - y logits), for labels 0 and 1 that mean y = -1 and 1."""
    y, x = _both(labels, logits, "logits")
    return relu(1 - (2 * y - 1) * x), weights


@symbol("losses.cosine_distance")
def cosine_distance(
    labels: Any,
    predictions: Any,
    axis: Any = None,
    weights: Any = 1.0,
    scope: Optional[str] = None,
    loss_collection: Optional[str] = GraphKeys.LOSSES,
    reduction: str = USUAL,
    dim: Any = None,
) -> Tensor:
    """1 - the sum of products along the axis, of vectors of length 1."""
    along = dim if axis is None else axis
    if along is None:
        raise ValueError("You must specify 'axis'.")
    with name_scope(scope, "cosine_distance_loss") as inside:
        y, x = _both(labels, predictions, "predictions")
        losses = 1 - reduce_sum(multiply(x, y), axis=(along,), keepdims=True)
        return compute_weighted_loss(losses, weights, inside, loss_collection, reduction)


@symbol("losses.softmax_cross_entropy")
@_loss("softmax_cross_entropy_loss")
def softmax_cross_entropy(
    onehot_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0
) -> Any:
    """`nn.softmax_cross_entropy_with_logits_v2`; no gradient reaches the labels."""
    y, x = _as_logits(onehot_labels, logits)
    if label_smoothing > 0:
        classes = y.dims[1] if y.dims is not None else None
        y = y * (1.0 - label_smoothing) + label_smoothing / float(classes or 1)
    return softmax_cross_entropy_with_logits_v2(stop_gradient(y), x), weights


@symbol("losses.sparse_softmax_cross_entropy")
@_loss("sparse_softmax_cross_entropy_loss")
def sparse_softmax_cross_entropy(labels: Any, logits: Any, weights: Any = 1.0) -> Any:
    """`nn.sparse_softmax_cross_entropy_with_logits`."""
    x, y = convert_to_tensor(logits), convert_to_tensor(labels)
    if x.dims is not None and y.dims is not None and len(y.dims) == len(x.dims):
        y = squeeze(y, [-1])
    losses = sparse_softmax_cross_entropy_with_logits(labels=y, logits=x)
    w = convert_to_tensor(weights)
    if w.dims and losses.dims is not None and len(w.dims) == len(losses.dims) + 1:
        w = squeeze(w, [-1])
    return losses, w


@symbol("losses.sigmoid_cross_entropy")
@_loss("sigmoid_cross_entropy_loss")
def sigmoid_cross_entropy(
    multi_class_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0
) -> Any:
    """`nn.sigmoid_cross_entropy_with_logits`."""
    y, x = _as_logits(multi_class_labels, logits)
    if label_smoothing > 0:
        y = y * (1 - label_smoothing) + 0.5 * label_smoothing
    return sigmoid_cross_entropy_with_logits(labels=y, logits=x), weights


def _as_logits(labels: Any, logits: Any) -> tuple[Tensor, Tensor]:
    """Labels in the dtype of the logits, and the logits.

    Raises:
        ValueError: the shapes differ.
    """
    x = convert_to_tensor(logits)
    y = cast(convert_to_tensor(labels), x.dtype.base_dtype)
    x.shape.assert_is_compatible_with(y.shape)
    return y, x
