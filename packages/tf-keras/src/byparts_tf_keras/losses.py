"""Losses of Keras as classes, with reductions; and by their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import byparts_frontend_tf as tf
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.loss_functions import (
    binary_crossentropy,
    categorical_crossentropy,
    categorical_hinge,
    cosine_similarity,
    hinge,
    huber_loss,
    kullback_leibler_divergence,
    logcosh,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
    poisson,
    sparse_categorical_crossentropy,
    squared_hinge,
)
from byparts_tf_keras.objects import (
    deserialize as _deserialize,
    finder,
    serialize as _serialize,
)


@symbol("keras.losses.Reduction", "python.keras.utils.losses_utils.ReductionV2")
class Reduction:
    """Ways to make a number of the losses of examples."""

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
        """Make a loss with these arguments."""
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
        **kwargs: Any,
    ) -> None:
        super().__init__(reduction, name)
        self.fn, self._given = fn, kwargs

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The loss of each example."""
        return self.fn(*same_rank(y_true, y_pred), **self._given)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal one."""
        return {**super().get_config(), **self._given}


def _loss_class(name: str, function: Callable[..., Any], **defaults: Any) -> Any:
    """A class of losses that is a function with arguments."""

    class Made(LossFunctionWrapper):
        def __init__(self, *arguments: Any, **kwargs: Any) -> None:
            named = [*defaults, "reduction", "name"]
            kwargs = {**dict(zip(named, arguments, strict=False)), **kwargs}
            own = {k: kwargs.pop(k, v) for k, v in defaults.items()}
            kwargs.setdefault("name", function.__name__)
            super().__init__(function, **kwargs, **own)

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
