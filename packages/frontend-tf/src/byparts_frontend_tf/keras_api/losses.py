"""Losses of Keras: functions of targets and predictions, and objects that weigh them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Optional

import byparts_frontend_tf as tf
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.keras_api.objects import (
    deserialize as _deserialize,
    finder,
    serialize as _serialize,
)
from byparts_frontend_tf.keras_api.state import epsilon
from byparts_frontend_tf.symbols import symbol


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
    """What an activation was computed from, if it is one: its logits."""
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
    """Minus the cosine of the angle between targets and predictions."""
    y_true, y_pred = _pair(y_true, y_pred)
    y_true, y_pred = [tf.nn.l2_normalize(y, axis=axis) for y in (y_true, y_pred)]
    return -tf.reduce_sum(y_true * y_pred, axis=axis)


@symbol("keras.losses.Reduction", "python.keras.utils.losses_utils.ReductionV2")
class Reduction:
    """How the losses of examples become a number."""

    AUTO, NONE, SUM, SUM_OVER_BATCH_SIZE = "auto", "none", "sum", "sum_over_batch_size"


def weighed(values: Any, weights: Any) -> Any:
    """The values times the weights, which may lack axes at the end, or have one of size 1."""
    weights = tf.cast(weights, values.dtype)
    rank, own = values.get_shape().ndims, weights.get_shape().ndims
    if rank is not None and own is not None:
        if own == rank + 1 and weights.get_shape().as_list()[-1] == 1:
            weights = tf.squeeze(weights, [-1])
        for _ in range(rank - own if own else 0):
            weights = tf.expand_dims(weights, -1)
    return values * weights


def same_rank(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Without an axis of size 1 at the end that only one of them has."""
    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    a, b = y_true.dims, y_pred.dims
    if a is not None and b is not None:
        if len(a) == len(b) + 1 and a[-1] == 1:
            y_true = tf.squeeze(y_true, [-1])
        elif len(b) == len(a) + 1 and b[-1] == 1:
            y_pred = tf.squeeze(y_pred, [-1])
    return y_true, y_pred


@symbol("keras.losses.Loss")
class Loss:
    """A subclass says the loss of each example in `call`.

    Args:
        reduction: how they become a number.
        name: of the scope.
    """

    def __init__(self, reduction: str = Reduction.AUTO, name: Optional[str] = None) -> None:
        self.reduction, self.name = reduction, name

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The loss."""
        with tf.name_scope((self.name or type(self).__name__.lower()).strip("<>")):
            return reduced(self.call(y_true, y_pred), sample_weight, self.reduction)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The loss of each example."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal one."""
        return {"reduction": self.reduction, "name": self.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """One with these arguments."""
        return cls(**config)


def reduced(values: Any, weights: Any = None, reduction: str = Reduction.AUTO) -> Any:
    """The losses of examples as a number, or as they are."""
    values = convert_to_tensor(values)
    if weights is not None:
        values = weighed(values, weights)
    if reduction == Reduction.NONE:
        return values
    return tf.reduce_sum(values) if reduction == Reduction.SUM else tf.reduce_mean(values)


class LossFunctionWrapper(Loss):
    """A function of targets and predictions as a loss."""

    def __init__(
        self,
        fn: Callable[..., Any],
        reduction: str = Reduction.AUTO,
        name: Optional[str] = None,
        **given: Any,
    ) -> None:
        super().__init__(reduction, name)
        self.fn, self._given = fn, given

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The loss of each example."""
        return self.fn(*same_rank(y_true, y_pred), **self._given)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal one."""
        return {**super().get_config(), **self._given}


def _loss_class(name: str, function: Callable[..., Any], **defaults: Any) -> Any:
    """A class of losses that is a function with arguments."""

    class Made(LossFunctionWrapper):
        def __init__(self, *arguments: Any, **given: Any) -> None:
            named = [*defaults, "reduction", "name"]
            given = {**dict(zip(named, arguments, strict=False)), **given}
            own = {k: given.pop(k, v) for k, v in defaults.items()}
            given.setdefault("name", function.__name__)
            super().__init__(function, **given, **own)

    Made.__name__ = Made.__qualname__ = name
    Made.__doc__ = f"`{function.__name__}` as an object."
    return Made


_LOGITS = {"from_logits": False, "label_smoothing": 0}
MeanSquaredError = _loss_class("MeanSquaredError", mean_squared_error)
MeanAbsoluteError = _loss_class("MeanAbsoluteError", mean_absolute_error)
MeanAbsolutePercentageError = _loss_class(
    "MeanAbsolutePercentageError", mean_absolute_percentage_error
)
MeanSquaredLogarithmicError = _loss_class(
    "MeanSquaredLogarithmicError", mean_squared_logarithmic_error
)
BinaryCrossentropy = _loss_class("BinaryCrossentropy", binary_crossentropy, **_LOGITS)
CategoricalCrossentropy = _loss_class(
    "CategoricalCrossentropy", categorical_crossentropy, **_LOGITS
)
SparseCategoricalCrossentropy = _loss_class(
    "SparseCategoricalCrossentropy", sparse_categorical_crossentropy, from_logits=False
)
Hinge = _loss_class("Hinge", hinge)
SquaredHinge = _loss_class("SquaredHinge", squared_hinge)
CategoricalHinge = _loss_class("CategoricalHinge", categorical_hinge)
Huber = _loss_class("Huber", huber_loss, delta=1.0)
LogCosh = _loss_class("LogCosh", logcosh)
Poisson = _loss_class("Poisson", poisson)
KLDivergence = _loss_class("KLDivergence", kullback_leibler_divergence)
CosineSimilarity = _loss_class("CosineSimilarity", cosine_similarity, axis=-1)

CLASSES = {
    k.__name__: k
    for k in (
        *(MeanSquaredError, MeanAbsoluteError, MeanAbsolutePercentageError),
        *(MeanSquaredLogarithmicError, BinaryCrossentropy, CategoricalCrossentropy),
        *(SparseCategoricalCrossentropy, Hinge, SquaredHinge, CategoricalHinge, Huber, LogCosh),
        *(Poisson, KLDivergence, CosineSimilarity),
    )
}
FUNCTIONS: dict[str, Any] = {
    f.__name__: f
    for f in (
        *(mean_squared_error, mean_absolute_error, mean_absolute_percentage_error),
        *(mean_squared_logarithmic_error, hinge, squared_hinge, categorical_hinge, logcosh),
        *(categorical_crossentropy, sparse_categorical_crossentropy, binary_crossentropy),
        *(kullback_leibler_divergence, poisson, cosine_similarity, huber_loss),
    )
}
FUNCTIONS.update(
    mse=mean_squared_error,
    MSE=mean_squared_error,
    mae=mean_absolute_error,
    MAE=mean_absolute_error,
    mape=mean_absolute_percentage_error,
    MAPE=mean_absolute_percentage_error,
    msle=mean_squared_logarithmic_error,
    MSLE=mean_squared_logarithmic_error,
    kld=kullback_leibler_divergence,
    KLD=kullback_leibler_divergence,
    cosine=cosine_similarity,
    cosine_proximity=cosine_similarity,
)
_find = finder(lambda: {**CLASSES, **FUNCTIONS}, "loss function")


@symbol("keras.losses.get")
def get(identifier: Any) -> Any:
    """The loss of this name or configuration, or itself."""
    return _find(identifier)


@symbol("keras.losses.deserialize")
def deserialize(name: Any, custom_objects: Any = None) -> Any:
    """The loss of this name or configuration."""
    return _deserialize(name, {**CLASSES, **FUNCTIONS}, custom_objects, "loss function")


@symbol("keras.losses.serialize")
def serialize(loss: Any) -> Any:
    """The name of a loss, or its class and arguments."""
    return _serialize(loss)


SYMBOLS = {f"keras.losses.{name}": name for name in CLASSES}
