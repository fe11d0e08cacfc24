"""`tf.losses`: losses with weights, kept in the collection LOSSES."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
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


@symbol("losses.mean_squared_error")
def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: Optional[str] = None,
    loss_collection: Optional[str] = GraphKeys.LOSSES,
    reduction: str = USUAL,
) -> Tensor:
    """The squares of differences."""
    with name_scope(scope, "mean_squared_error") as inside:
        y, x = _both(labels, predictions, "predictions")
        return compute_weighted_loss(
            squared_difference(x, y), weights, inside, loss_collection, reduction
        )


@symbol("losses.absolute_difference")
def absolute_difference(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: Optional[str] = None,
    loss_collection: Optional[str] = GraphKeys.LOSSES,
    reduction: str = USUAL,
) -> Tensor:
    """The differences without signs."""
    with name_scope(scope, "absolute_difference") as inside:
        y, x = _both(labels, predictions, "predictions")
        return compute_weighted_loss(absolute(x - y), weights, inside, loss_collection, reduction)


@symbol("losses.huber_loss")
def huber_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    delta: float = 1.0,
    scope: Optional[str] = None,
    loss_collection: Optional[str] = GraphKeys.LOSSES,
    reduction: str = USUAL,
) -> Tensor:
    """Half the square of differences up to delta; straight from there on."""
    with name_scope(scope, "huber_loss") as inside:
        y, x = _both(labels, predictions, "predictions")
        distance = absolute(x - y)
        near = minimum(distance, delta)
        losses = 0.5 * square(near) + delta * (distance - near)
        return compute_weighted_loss(losses, weights, inside, loss_collection, reduction)


@symbol("losses.log_loss")
def log_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: Optional[str] = None,
    loss_collection: Optional[str] = GraphKeys.LOSSES,
    reduction: str = USUAL,
) -> Tensor:
    """-labels log(predictions + epsilon) - (1 - labels) log(1 - predictions + epsilon)."""
    with name_scope(scope, "log_loss") as inside:
        y, x = _both(labels, predictions, "predictions")
        losses = -y * log(x + epsilon) - (1 - y) * log(1 - x + epsilon)
        return compute_weighted_loss(losses, weights, inside, loss_collection, reduction)


@symbol("losses.hinge_loss")
def hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: Optional[str] = None,
    loss_collection: Optional[str] = GraphKeys.LOSSES,
    reduction: str = USUAL,
) -> Tensor:
    """max(0, 1 - y logits), for labels 0 and 1 that mean y = -1 and 1."""
    with name_scope(scope, "hinge_loss") as inside:
        y, x = _both(labels, logits, "logits")
        losses = relu(1 - (2 * y - 1) * x)
        return compute_weighted_loss(losses, weights, inside, loss_collection, reduction)


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
def softmax_cross_entropy(
    onehot_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: Optional[str] = None,
    loss_collection: Optional[str] = GraphKeys.LOSSES,
    reduction: str = USUAL,
) -> Tensor:
    """`nn.softmax_cross_entropy_with_logits_v2`; no gradient reaches the labels."""
    with name_scope(scope, "softmax_cross_entropy_loss") as inside:
        x = convert_to_tensor(logits)
        y = cast(convert_to_tensor(onehot_labels), x.dtype.base_dtype)
        x.shape.assert_is_compatible_with(y.shape)
        if label_smoothing > 0:
            classes = y.dims[1] if y.dims is not None else None
            y = y * (1.0 - label_smoothing) + label_smoothing / float(classes or 1)
        losses = softmax_cross_entropy_with_logits_v2(stop_gradient(y), x)
        return compute_weighted_loss(losses, weights, inside, loss_collection, reduction)


@symbol("losses.sparse_softmax_cross_entropy")
def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: Optional[str] = None,
    loss_collection: Optional[str] = GraphKeys.LOSSES,
    reduction: str = USUAL,
) -> Tensor:
    """`nn.sparse_softmax_cross_entropy_with_logits`."""
    with name_scope(scope, "sparse_softmax_cross_entropy_loss") as inside:
        x, y = convert_to_tensor(logits), convert_to_tensor(labels)
        if x.dims is not None and y.dims is not None and len(y.dims) == len(x.dims):
            y = squeeze(y, [-1])
        losses = sparse_softmax_cross_entropy_with_logits(labels=y, logits=x)
        w = convert_to_tensor(weights)
        if w.dims and losses.dims is not None and len(w.dims) == len(losses.dims) + 1:
            w = squeeze(w, [-1])
        return compute_weighted_loss(losses, w, inside, loss_collection, reduction)


@symbol("losses.sigmoid_cross_entropy")
def sigmoid_cross_entropy(
    multi_class_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: Optional[str] = None,
    loss_collection: Optional[str] = GraphKeys.LOSSES,
    reduction: str = USUAL,
) -> Tensor:
    """`nn.sigmoid_cross_entropy_with_logits`."""
    with name_scope(scope, "sigmoid_cross_entropy_loss") as inside:
        x = convert_to_tensor(logits)
        y = cast(convert_to_tensor(multi_class_labels), x.dtype.base_dtype)
        x.shape.assert_is_compatible_with(y.shape)
        if label_smoothing > 0:
            y = y * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(labels=y, logits=x)
        return compute_weighted_loss(losses, weights, inside, loss_collection, reduction)
