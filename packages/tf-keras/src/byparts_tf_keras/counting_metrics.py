"""Metrics of Keras that count: true and false positives, curves, classes that agree."""

from __future__ import annotations

from typing import Any, Optional

import byparts_frontend_tf as tf
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.losses import same_rank, weighed
from byparts_tf_keras.metric import Metric


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
        positive = tf.reshape(y_pred, [1, -1]) > limits
        both = {
            "true_positives": tf.logical_and(true, positive),
            "false_positives": tf.logical_and(tf.logical_not(true), positive),
            "true_negatives": tf.logical_and(tf.logical_not(true), tf.logical_not(positive)),
            "false_negatives": tf.logical_and(true, tf.logical_not(positive)),
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
    """The number of positives that were found."""

    kept, usual = ("true_positives",), "true_positives"


@symbol("keras.metrics.FalsePositives")
class FalsePositives(_Counts):
    """The number of negatives that were taken for positives."""

    kept, usual = ("false_positives",), "false_positives"


@symbol("keras.metrics.TrueNegatives")
class TrueNegatives(_Counts):
    """The number of negatives that were found."""

    kept, usual = ("true_negatives",), "true_negatives"


@symbol("keras.metrics.FalseNegatives")
class FalseNegatives(_Counts):
    """The number of positives that were taken for negatives."""

    kept, usual = ("false_negatives",), "false_negatives"


@symbol("keras.metrics.Precision")
class Precision(_Counts):
    """The share of positives among what was taken for positive."""

    kept, usual = ("true_positives", "false_positives"), "precision"

    def result(self) -> Any:
        """The share."""
        right, wrong = [tf.identity(getattr(self, k)) for k in self.kept]
        return self._one(tf.div_no_nan(right, right + wrong))


@symbol("keras.metrics.Recall")
class Recall(Precision):
    """The share of the positives that were found."""

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
