"""Metrics of Keras: means of functions, and by their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import byparts_frontend_tf as tf
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras import loss_functions, losses
from byparts_tf_keras.counting_metrics import (
    AUC,
    FalseNegatives,
    FalsePositives,
    MeanIoU,
    Precision,
    Recall,
    TrueNegatives,
    TruePositives,
)
from byparts_tf_keras.losses import same_rank
from byparts_tf_keras.metric import Mean, MeanMetricWrapper
from byparts_tf_keras.objects import (
    deserialize as _deserialize,
    finder,
    serialize as _serialize,
)
from byparts_tf_keras.state import floatx


def _agree(a: Any, b: Any) -> Any:
    return tf.cast(tf.equal(a, b), floatx())


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """Whether targets and predictions are equal."""
    y_true, y_pred = same_rank(y_true, y_pred)
    return _agree(tf.cast(y_true, y_pred.dtype), y_pred)


@symbol("keras.metrics.binary_accuracy")
def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Any:
    """The share of predictions that are on the right side of the threshold."""
    y_pred = convert_to_tensor(y_pred)
    classes = tf.cast(y_pred > threshold, y_pred.dtype)
    return tf.reduce_mean(_agree(tf.cast(y_true, y_pred.dtype), classes), axis=-1)


@symbol("keras.metrics.categorical_accuracy")
def categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Whether the likeliest class is that of the target."""
    return _agree(tf.argmax(y_true, axis=-1), tf.argmax(y_pred, axis=-1))


@symbol("keras.metrics.sparse_categorical_accuracy")
def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Whether the likeliest class is the target."""
    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    if y_true.dims is not None and y_pred.dims is not None and len(y_true.dims) == len(y_pred.dims):
        y_true = tf.squeeze(y_true, [-1])
    return _agree(tf.cast(y_true, tf.int64), tf.argmax(y_pred, axis=-1))


@symbol("keras.metrics.top_k_categorical_accuracy")
def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """Whether the class of the target is among the k likeliest."""
    return tf.cast(tf.nn.in_top_k(y_pred, tf.argmax(y_true, axis=-1), k), floatx())


@symbol("keras.metrics.sparse_top_k_categorical_accuracy")
def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """Whether the target is among the k likeliest classes."""
    labels = tf.cast(tf.reshape(y_true, [-1]), tf.int32)
    return tf.cast(tf.nn.in_top_k(y_pred, labels, k), floatx())


def _metric_class(
    class_name: str, function: Callable[..., Any], usual: str, **defaults: Any
) -> Any:
    """A class of metrics: the mean of a function; `usual` is its name."""

    class Made(MeanMetricWrapper):
        def __init__(self, name: Optional[str] = usual, dtype: Any = None, **kwargs: Any) -> None:
            own = {k: kwargs.pop(k, v) for k, v in defaults.items()}
            if kwargs:
                raise TypeError(f"{class_name} takes no {sorted(kwargs)}")
            super().__init__(function, name, dtype, **own)

    Made.__name__ = Made.__qualname__ = class_name
    Made.__doc__ = f"The mean of `{function.__name__}`."
    return Made


_LOGITS = {"from_logits": False, "label_smoothing": 0}
_MADE: list[Any] = [
    _metric_class("Accuracy", accuracy, "accuracy"),
    _metric_class("BinaryAccuracy", binary_accuracy, "binary_accuracy", threshold=0.5),
    _metric_class("CategoricalAccuracy", categorical_accuracy, "categorical_accuracy"),
    _metric_class(
        "SparseCategoricalAccuracy", sparse_categorical_accuracy, "sparse_categorical_accuracy"
    ),
    _metric_class(
        "TopKCategoricalAccuracy", top_k_categorical_accuracy, "top_k_categorical_accuracy", k=5
    ),
    _metric_class(
        "SparseTopKCategoricalAccuracy",
        sparse_top_k_categorical_accuracy,
        "sparse_top_k_categorical_accuracy",
        k=5,
    ),
    _metric_class("MeanSquaredError", loss_functions.mean_squared_error, "mean_squared_error"),
    _metric_class("MeanAbsoluteError", loss_functions.mean_absolute_error, "mean_absolute_error"),
    _metric_class(
        "MeanAbsolutePercentageError",
        loss_functions.mean_absolute_percentage_error,
        "mean_absolute_percentage_error",
    ),
    _metric_class(
        "MeanSquaredLogarithmicError",
        loss_functions.mean_squared_logarithmic_error,
        "mean_squared_logarithmic_error",
    ),
    _metric_class(
        "BinaryCrossentropy", loss_functions.binary_crossentropy, "binary_crossentropy", **_LOGITS
    ),
    _metric_class(
        "CategoricalCrossentropy",
        loss_functions.categorical_crossentropy,
        "categorical_crossentropy",
        **_LOGITS,
    ),
    _metric_class(
        "SparseCategoricalCrossentropy",
        loss_functions.sparse_categorical_crossentropy,
        "sparse_categorical_crossentropy",
        from_logits=False,
        axis=-1,
    ),
    _metric_class("Hinge", loss_functions.hinge, "hinge"),
    _metric_class("SquaredHinge", loss_functions.squared_hinge, "squared_hinge"),
    _metric_class("CategoricalHinge", loss_functions.categorical_hinge, "categorical_hinge"),
    _metric_class("LogCoshError", loss_functions.logcosh, "logcosh"),
    _metric_class("Poisson", loss_functions.poisson, "poisson"),
    _metric_class(
        "KLDivergence", loss_functions.kullback_leibler_divergence, "kullback_leibler_divergence"
    ),
    _metric_class(
        "CosineSimilarity", loss_functions.cosine_similarity, "cosine_similarity", axis=-1
    ),
]
_MEANS = {k.__name__: k for k in _MADE}
globals().update(_MEANS)


@symbol("keras.metrics.RootMeanSquaredError")
class RootMeanSquaredError(Mean):
    """The root of the mean square of the error."""

    def __init__(self, name: str = "root_mean_squared_error", dtype: Any = None) -> None:
        super().__init__(name, dtype)

    def update_state(  # type: ignore[override]  # a metric of two
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> Any:
        """Add a batch."""
        y_true, y_pred = same_rank(y_true, y_pred)
        error = tf.squared_difference(y_pred, tf.cast(y_true, y_pred.dtype))
        return super().update_state(error, sample_weight)

    def result(self) -> Any:
        """The root of the mean."""
        return tf.sqrt(super().result())


_OBJECTS: dict[str, Any] = {
    **_MEANS,
    **{
        k.__name__: k
        for k in (
            *(RootMeanSquaredError, TruePositives, FalsePositives, TrueNegatives),
            *(FalseNegatives, Precision, Recall, AUC, MeanIoU, Mean),
        )
    },
}
FUNCTIONS: dict[str, Any] = {
    **losses.FUNCTIONS,
    **{
        f.__name__: f
        for f in (
            *(binary_accuracy, categorical_accuracy, sparse_categorical_accuracy),
            *(top_k_categorical_accuracy, sparse_top_k_categorical_accuracy),
        )
    },
}
_find = finder(lambda: {**_OBJECTS, **FUNCTIONS}, "metric function")


@symbol("keras.metrics.get")
def get(identifier: Any) -> Any:
    """The metric of this name or configuration, or itself."""
    return _find(identifier)


@symbol("keras.metrics.deserialize")
def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The metric of this name or configuration."""
    return _deserialize(config, {**_OBJECTS, **FUNCTIONS}, custom_objects, "metric function")


@symbol("keras.metrics.serialize")
def serialize(metric: Any) -> Any:
    """The name of a metric, or its class and arguments."""
    return _serialize(metric)


SYMBOLS = {f"keras.metrics.{name}": name for name in _MEANS}
