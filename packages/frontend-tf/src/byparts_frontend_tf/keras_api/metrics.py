"""Metrics of Keras: functions and objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import byparts_frontend_tf as tf
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.keras_api import losses
from byparts_frontend_tf.keras_api.losses import same_rank, weighed
from byparts_frontend_tf.keras_api.metric import Mean, MeanMetricWrapper, Metric
from byparts_frontend_tf.keras_api.objects import (
    deserialize as _deserialize,
    finder,
    serialize as _serialize,
)
from byparts_frontend_tf.keras_api.state import floatx
from byparts_frontend_tf.symbols import symbol


def _agree(a: Any, b: Any) -> Any:
    return tf.cast(tf.equal(a, b), floatx())


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """Whether targets and predictions are equal."""
    y_true, y_pred = same_rank(y_true, y_pred)
    return _agree(tf.cast(y_true, y_pred.dtype), y_pred)


@symbol("keras.metrics.binary_accuracy")
def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Any:
    """How many of the predictions are on the right side of the threshold."""
    y_pred = convert_to_tensor(y_pred)
    made = tf.cast(y_pred > threshold, y_pred.dtype)
    return tf.reduce_mean(_agree(tf.cast(y_true, y_pred.dtype), made), axis=-1)


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


def _cosine(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    return -losses.cosine_similarity(y_true, y_pred, axis)


def _metric_class(
    class_name: str, function: Callable[..., Any], usual: str, **defaults: Any
) -> Any:
    """A class of metrics: the mean of a function; `usual` is its name."""

    class Made(MeanMetricWrapper):
        def __init__(self, name: Optional[str] = usual, dtype: Any = None, **given: Any) -> None:
            own = {k: given.pop(k, v) for k, v in defaults.items()}
            if given:
                raise TypeError(f"{class_name} takes no {sorted(given)}")
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
    _metric_class("MeanSquaredError", losses.mean_squared_error, "mean_squared_error"),
    _metric_class("MeanAbsoluteError", losses.mean_absolute_error, "mean_absolute_error"),
    _metric_class(
        "MeanAbsolutePercentageError",
        losses.mean_absolute_percentage_error,
        "mean_absolute_percentage_error",
    ),
    _metric_class(
        "MeanSquaredLogarithmicError",
        losses.mean_squared_logarithmic_error,
        "mean_squared_logarithmic_error",
    ),
    _metric_class(
        "BinaryCrossentropy", losses.binary_crossentropy, "binary_crossentropy", **_LOGITS
    ),
    _metric_class(
        "CategoricalCrossentropy",
        losses.categorical_crossentropy,
        "categorical_crossentropy",
        **_LOGITS,
    ),
    _metric_class(
        "SparseCategoricalCrossentropy",
        losses.sparse_categorical_crossentropy,
        "sparse_categorical_crossentropy",
        from_logits=False,
        axis=-1,
    ),
    _metric_class("Hinge", losses.hinge, "hinge"),
    _metric_class("SquaredHinge", losses.squared_hinge, "squared_hinge"),
    _metric_class("CategoricalHinge", losses.categorical_hinge, "categorical_hinge"),
    _metric_class("LogCoshError", losses.logcosh, "logcosh"),
    _metric_class("Poisson", losses.poisson, "poisson"),
    _metric_class(
        "KLDivergence", losses.kullback_leibler_divergence, "kullback_leibler_divergence"
    ),
    _metric_class("CosineSimilarity", _cosine, "cosine_similarity", axis=-1),
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


class _Counts(Metric):
    """Positives and negatives, right or wrong, at thresholds; `kept` are the numbers it needs."""

    kept: tuple[str, ...] = ()
    usual = ""

    def __init__(
        self,
        thresholds: Any = None,
        name: Optional[str] = None,
        dtype: Any = None,
        top_k: Any = None,
        class_id: Any = None,
    ) -> None:
        super().__init__(name or self.usual, dtype)
        if top_k is not None:
            raise NotImplementedError(f"{type(self).__name__}: top_k is not here")
        self.thresholds = 0.5 if thresholds is None else thresholds
        self.class_id = class_id
        self._limits = (
            self.thresholds if isinstance(self.thresholds, (list, tuple)) else [self.thresholds]
        )
        for kept in self.kept:
            setattr(self, kept, self.add_weight(kept, (len(self._limits),)))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Add a batch."""
        y_true, y_pred = same_rank(y_true, y_pred)
        if self.class_id is not None:
            y_true, y_pred = y_true[..., self.class_id], y_pred[..., self.class_id]
        ones = tf.ones_like(y_pred)
        weights = ones if sample_weight is None else weighed(ones, sample_weight)
        weights = tf.reshape(weights, [1, -1])
        true = tf.reshape(tf.cast(y_true, tf.bool), [1, -1])
        limits = tf.constant([[float(t)] for t in self._limits], y_pred.dtype)
        found = tf.reshape(y_pred, [1, -1]) > limits
        both = {
            "true_positives": tf.logical_and(true, found),
            "false_positives": tf.logical_and(tf.logical_not(true), found),
            "true_negatives": tf.logical_and(tf.logical_not(true), tf.logical_not(found)),
            "false_negatives": tf.logical_and(true, tf.logical_not(found)),
        }
        updates = [
            tf.assign_add(
                getattr(self, k),
                tf.reduce_sum(tf.cast(both[k], y_pred.dtype) * weights, axis=1),
            ).op
            for k in self.kept
        ]
        return tf.group(*updates)

    def result(self) -> Any:
        """The one number that is counted."""
        return self._one(tf.identity(getattr(self, self.kept[0])))

    def _one(self, numbers: Any) -> Any:
        return numbers if isinstance(self.thresholds, (list, tuple)) else numbers[0]

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal one."""
        return {**super().get_config(), "thresholds": self.thresholds}


@symbol("keras.metrics.TruePositives")
class TruePositives(_Counts):
    """How many positives were found."""

    kept, usual = ("true_positives",), "true_positives"


@symbol("keras.metrics.FalsePositives")
class FalsePositives(_Counts):
    """How many negatives were taken for positives."""

    kept, usual = ("false_positives",), "false_positives"


@symbol("keras.metrics.TrueNegatives")
class TrueNegatives(_Counts):
    """How many negatives were found."""

    kept, usual = ("true_negatives",), "true_negatives"


@symbol("keras.metrics.FalseNegatives")
class FalseNegatives(_Counts):
    """How many positives were taken for negatives."""

    kept, usual = ("false_negatives",), "false_negatives"


@symbol("keras.metrics.Precision")
class Precision(_Counts):
    """How many of the positives found are positive."""

    kept, usual = ("true_positives", "false_positives"), "precision"

    def result(self) -> Any:
        """The share."""
        right, wrong = [tf.identity(getattr(self, k)) for k in self.kept]
        return self._one(tf.div_no_nan(right, right + wrong))


@symbol("keras.metrics.Recall")
class Recall(Precision):
    """How many of the positives were found."""

    kept, usual = ("true_positives", "false_negatives"), "recall"


@symbol("keras.metrics.AUC")
class AUC(_Counts):
    """The area under a curve through points at thresholds: ROC, or PR."""

    kept, usual = ("true_positives", "true_negatives", "false_positives", "false_negatives"), "auc"

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: str = "ROC",
        summation_method: str = "interpolation",
        name: Optional[str] = None,
        dtype: Any = None,
    ) -> None:
        self.num_thresholds, self.curve = num_thresholds, curve
        inner = [(i + 1) / (num_thresholds - 1) for i in range(num_thresholds - 2)]
        super().__init__([-1e-7, *inner, 1.0 + 1e-7], name, dtype)

    def result(self) -> Any:
        """The area, by trapezia."""
        tp, tn, fp, fn = [tf.identity(getattr(self, k)) for k in self.kept]
        recall = tf.div_no_nan(tp, tp + fn)
        if self.curve == "ROC":
            x, y = tf.div_no_nan(fp, fp + tn), recall
        else:
            x, y = recall, tf.div_no_nan(tp, tp + fp)
        return tf.reduce_sum((x[:-1] - x[1:]) * (y[:-1] + y[1:]) / 2.0)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal one."""
        return {
            **Metric.get_config(self),
            "num_thresholds": self.num_thresholds,
            "curve": self.curve,
        }


@symbol("keras.metrics.MeanIoU")
class MeanIoU(Metric):
    """The mean of intersection over union of classes."""

    def __init__(self, num_classes: int, name: Optional[str] = None, dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self.num_classes = num_classes
        self.total_cm = self.add_weight("total_confusion_matrix", (num_classes, num_classes))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Add a batch."""
        rows, columns = [
            tf.one_hot(tf.cast(tf.reshape(y, [-1]), tf.int32), self.num_classes)
            for y in (y_true, y_pred)
        ]
        if sample_weight is not None:
            rows = rows * tf.reshape(tf.cast(sample_weight, rows.dtype), [-1, 1])
        return tf.assign_add(self.total_cm, tf.matmul(rows, columns, transpose_a=True)).op

    def result(self) -> Any:
        """The mean over classes that occur."""
        matrix = tf.identity(self.total_cm)
        right = tf.reduce_sum(matrix * tf.eye(self.num_classes), axis=0)
        union = tf.reduce_sum(matrix, axis=0) + tf.reduce_sum(matrix, axis=1) - right
        valid = tf.reduce_sum(tf.cast(tf.not_equal(union, 0.0), matrix.dtype))
        return tf.div_no_nan(tf.reduce_sum(tf.div_no_nan(right, union)), valid)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal one."""
        return {**super().get_config(), "num_classes": self.num_classes}


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
