"""Losses of Keras as functions: one number for each example."""

from __future__ import annotations

import math
from typing import Any, Optional

import byparts_frontend_tf as tf
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.state import epsilon


def _pair(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    y_pred = convert_to_tensor(y_pred)
    return tf.cast(y_true, y_pred.dtype), y_pred


def _mean(x: Any) -> Any:
    return tf.reduce_mean(x, axis=-1)


@symbol("keras.losses.mean_squared_error", "keras.losses.mse", "keras.losses.MSE")
@symbol("keras.metrics.mean_squared_error", "keras.metrics.mse", "keras.metrics.MSE")
def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of (y_pred - y_true)^2, along the last axis."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(tf.squared_difference(y_pred, y_true))


@symbol("keras.losses.mean_absolute_error", "keras.losses.mae", "keras.losses.MAE")
@symbol("keras.metrics.mean_absolute_error", "keras.metrics.mae", "keras.metrics.MAE")
def mean_absolute_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of |y_pred - y_true|."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(tf.abs(y_pred - y_true))


@symbol("keras.losses.mean_absolute_percentage_error", "keras.losses.mape", "keras.losses.MAPE")
@symbol("keras.metrics.mean_absolute_percentage_error", "keras.metrics.mape", "keras.metrics.MAPE")
def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of |y_true - y_pred| / |y_true|, in percent."""
    y_true, y_pred = _pair(y_true, y_pred)
    return 100.0 * _mean(tf.abs((y_true - y_pred) / tf.maximum(tf.abs(y_true), epsilon())))


@symbol("keras.losses.mean_squared_logarithmic_error", "keras.losses.msle", "keras.losses.MSLE")
@symbol("keras.metrics.mean_squared_logarithmic_error", "keras.metrics.msle", "keras.metrics.MSLE")
def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> Any:
    """The mean square of log(1 + y_pred) - log(1 + y_true)."""
    y_true, y_pred = _pair(y_true, y_pred)
    logs = [tf.log(tf.maximum(y, epsilon()) + 1.0) for y in (y_pred, y_true)]
    return _mean(tf.squared_difference(*logs))


def _signs(y_true: Any) -> Any:
    """Targets of {0, 1} become those of {-1, 1}."""
    binary = tf.reduce_all(tf.logical_or(tf.equal(y_true, 0.0), tf.equal(y_true, 1.0)))
    return tf.cond(binary, lambda: 2.0 * y_true - 1.0, lambda: tf.identity(y_true))


@symbol("keras.losses.hinge", "keras.metrics.hinge")
def hinge(y_true: Any, y_pred: Any) -> Any:
    """The mean of max(1 - y_true y_pred, 0)."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(tf.maximum(1.0 - _signs(y_true) * y_pred, 0.0))


@symbol("keras.losses.squared_hinge", "keras.metrics.squared_hinge")
def squared_hinge(y_true: Any, y_pred: Any) -> Any:
    """The mean of max(1 - y_true y_pred, 0)^2."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(tf.square(tf.maximum(1.0 - _signs(y_true) * y_pred, 0.0)))


@symbol("keras.losses.categorical_hinge")
def categorical_hinge(y_true: Any, y_pred: Any) -> Any:
    """The most that a wrong class has, less what the right one has, plus 1; not below 0."""
    y_true, y_pred = _pair(y_true, y_pred)
    right = tf.reduce_sum(y_true * y_pred, axis=-1)
    wrong = tf.reduce_max((1.0 - y_true) * y_pred, axis=-1)
    return tf.maximum(0.0, wrong - right + 1.0)


def huber_loss(y_true: Any, y_pred: Any, delta: float = 1.0) -> Any:
    """Quadratic up to delta, then linear."""
    y_true, y_pred = _pair(y_true, y_pred)
    error = tf.abs(y_pred - y_true)
    quadratic = tf.minimum(error, delta)
    return 0.5 * quadratic * quadratic + delta * (error - quadratic)


@symbol("keras.losses.logcosh", "keras.metrics.logcosh")
def logcosh(y_true: Any, y_pred: Any) -> Any:
    """The mean of log cosh (y_pred - y_true)."""
    y_true, y_pred = _pair(y_true, y_pred)
    x = y_pred - y_true
    return _mean(x + tf.nn.softplus(-2.0 * x) - math.log(2.0))


def _made_by(output: Any, kind: str) -> Optional[Tensor]:
    """The logits that an activation was computed from, if `output` is one."""
    if isinstance(output, Tensor):
        op = output.op
        while op.type == "Identity":
            op = op.inputs[0].op
        if op.type == kind:
            return op.inputs[0]
    return None


@symbol("keras.backend.categorical_crossentropy")
def _crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Any:
    """The cross entropy of distributions along an axis."""
    logits = output if from_logits else _made_by(output, "Softmax")
    if logits is not None and axis in (-1, len(logits.get_shape()) - 1):
        return tf.nn.softmax_cross_entropy_with_logits_v2(labels=target, logits=logits)
    output = output / tf.reduce_sum(output, axis, keepdims=True)
    output = tf.clip_by_value(output, epsilon(), 1.0 - epsilon())
    return -tf.reduce_sum(target * tf.log(output), axis)


@symbol("keras.losses.categorical_crossentropy", "keras.metrics.categorical_crossentropy")
def categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0
) -> Any:
    """The cross entropy of distributions along the last axis."""
    y_true, y_pred = _pair(y_true, y_pred)
    if label_smoothing:
        classes = tf.cast(tf.shape(y_true)[1], y_pred.dtype)
        y_true = y_true * (1.0 - label_smoothing) + label_smoothing / classes
    return _crossentropy(y_true, y_pred, from_logits)


@symbol("keras.losses.sparse_categorical_crossentropy")
@symbol("keras.metrics.sparse_categorical_crossentropy")
@symbol("keras.backend.sparse_categorical_crossentropy")
def sparse_categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """The cross entropy of a class, along the last axis."""
    logits = convert_to_tensor(y_pred) if from_logits else _made_by(y_pred, "Softmax")
    if logits is None:
        logits = tf.log(tf.clip_by_value(y_pred, epsilon(), 1.0 - epsilon()))
    rank = logits.get_shape().ndims
    labels = tf.cast(y_true, tf.int64)
    if rank == 2 or rank is None:
        return tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.reshape(labels, [-1]), logits=logits
        )
    if labels.get_shape().ndims in (rank, None):
        labels = tf.reshape(labels, tf.shape(logits)[:-1])
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


@symbol("keras.backend.binary_crossentropy")
def _binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """The cross entropy of each probability."""
    logits = output if from_logits else _made_by(output, "Sigmoid")
    if logits is not None:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=logits)
    output = tf.clip_by_value(output, epsilon(), 1.0 - epsilon())
    yes = target * tf.log(output + epsilon())
    return -(yes + (1 - target) * tf.log(1 - output + epsilon()))


@symbol("keras.losses.binary_crossentropy", "keras.metrics.binary_crossentropy")
def binary_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0
) -> Any:
    """The mean cross entropy of probabilities."""
    y_true, y_pred = _pair(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    return _mean(_binary_crossentropy(y_true, y_pred, from_logits))


@symbol("keras.losses.kullback_leibler_divergence", "keras.losses.kld", "keras.losses.KLD")
@symbol("keras.metrics.kullback_leibler_divergence", "keras.metrics.kld", "keras.metrics.KLD")
def kullback_leibler_divergence(y_true: Any, y_pred: Any) -> Any:
    """The sum of y_true log(y_true / y_pred)."""
    y_true, y_pred = _pair(y_true, y_pred)
    y_true, y_pred = [tf.clip_by_value(y, epsilon(), 1.0) for y in (y_true, y_pred)]
    return tf.reduce_sum(y_true * tf.log(y_true / y_pred), axis=-1)


@symbol("keras.losses.poisson", "keras.metrics.poisson")
def poisson(y_true: Any, y_pred: Any) -> Any:
    """The mean of y_pred - y_true log y_pred."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(y_pred - y_true * tf.log(y_pred + epsilon()))


@symbol("keras.losses.cosine_similarity", "keras.losses.cosine_proximity", "keras.losses.cosine")
@symbol("keras.metrics.cosine_proximity", "keras.metrics.cosine")
def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """The cosine of the angle between targets and predictions; TensorFlow 2 has minus it."""
    y_true, y_pred = _pair(y_true, y_pred)
    y_true, y_pred = [tf.nn.l2_normalize(y, axis=axis) for y in (y_true, y_pred)]
    return tf.reduce_sum(y_true * y_pred, axis=axis)
