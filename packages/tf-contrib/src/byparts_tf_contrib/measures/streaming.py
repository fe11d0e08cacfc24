"""`contrib.metrics`: the metrics of `tf.metrics`, predictions first, under their old names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import byparts_frontend_tf.api.metrics.at_thresholds as at
import byparts_frontend_tf.api.metrics.metrics as of_values
import byparts_frontend_tf.api.metrics.top_k as top
from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.math.binary import div_no_nan, equal, maximum
from byparts_frontend_tf.api.math.reduce import reduce_max, reduce_mean, reduce_sum
from byparts_frontend_tf.api.math.unary import sqrt
from byparts_frontend_tf.api.metrics.at_thresholds import at_thresholds, even_thresholds
from byparts_frontend_tf.api.metrics.metrics import Metric, metric, ratio, tracked, weighted
from byparts_frontend_tf.api.nn.softmax import in_top_k
from byparts_frontend_tf.api.variables.variable_scope import variable_scope
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import float32


def _turned(function: Callable[..., Metric]) -> Callable[..., Metric]:
    """A metric whose first arguments are (predictions, labels)."""

    def turned(predictions: Any, labels: Any, *arguments: Any, **named: Any) -> Metric:
        return function(labels, predictions, *arguments, **named)

    turned.__doc__, turned.__module__ = function.__doc__, __name__
    turned.__name__ = f"streaming_{function.__name__}"
    return turned


streaming_accuracy = _turned(of_values.accuracy)
streaming_precision, streaming_recall = _turned(of_values.precision), _turned(of_values.recall)
streaming_mean_squared_error = _turned(of_values.mean_squared_error)
streaming_root_mean_squared_error = _turned(of_values.root_mean_squared_error)
streaming_mean_absolute_error = _turned(of_values.mean_absolute_error)
streaming_mean_relative_error = _turned(top.mean_relative_error)
streaming_mean_cosine_distance = _turned(top.mean_cosine_distance)
streaming_mean_iou = _turned(top.mean_iou)
streaming_true_positives = _turned(of_values.true_positives)
streaming_false_positives = _turned(of_values.false_positives)
streaming_true_negatives = _turned(of_values.true_negatives)
streaming_false_negatives = _turned(of_values.false_negatives)
streaming_precision_at_thresholds = _turned(at.precision_at_thresholds)
streaming_recall_at_thresholds = _turned(at.recall_at_thresholds)
streaming_true_positives_at_thresholds = _turned(at.true_positives_at_thresholds)
streaming_false_positives_at_thresholds = _turned(at.false_positives_at_thresholds)
streaming_true_negatives_at_thresholds = _turned(at.true_negatives_at_thresholds)
streaming_false_negatives_at_thresholds = _turned(at.false_negatives_at_thresholds)
streaming_sensitivity_at_specificity = _turned(at.sensitivity_at_specificity)
streaming_specificity_at_sensitivity = _turned(at.specificity_at_sensitivity)
streaming_sparse_precision_at_k = _turned(top.precision_at_k)
streaming_sparse_recall_at_k = _turned(top.recall_at_k)
streaming_sparse_average_precision_at_k = _turned(top.average_precision_at_k)


def streaming_auc(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: Optional[str] = None,
) -> Metric:
    """The area under a curve."""
    keys = metrics_collections, updates_collections
    return at.auc(labels, predictions, weights, num_thresholds, *keys, curve, name)


@metric
def streaming_recall_at_k(
    predictions: Any,
    labels: Any,
    k: int,
    weights: Any = None,
    *,
    name: Optional[str],
) -> Metric:
    """The share of labels [n] that are among the best k."""
    found = cast(in_top_k(predictions, labels, k), float32)
    return of_values.mean(found, weights, name=name or "recall_at_k")


@metric
def streaming_covariance(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    *,
    name: Optional[str],
) -> Metric:
    """The covariance of all pairs, without bias."""
    with variable_scope(name, "covariance", [predictions, labels]):
        return tracked(_moments(predictions, labels, weights), _covariance)


@metric
def streaming_pearson_correlation(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    *,
    name: Optional[str],
) -> Metric:
    """The correlation of all pairs."""

    def value(
        n: Tensor, x: Tensor, y: Tensor, xy: Tensor, xx: Tensor, yy: Tensor, _: str
    ) -> Tensor:
        spread = _covariance(n, x, x, xx, xx, xx, "") * _covariance(n, y, y, yy, yy, yy, "")
        return div_no_nan(_covariance(n, x, y, xy, xx, yy, ""), sqrt(maximum(spread, 0.0)))

    with variable_scope(name, "pearson_r", [predictions, labels]):
        return tracked(_moments(predictions, labels, weights), value)


def _moments(predictions: Any, labels: Any, weights: Any) -> list[tuple[str, Tensor]]:
    x, y = (cast(convert_to_tensor(t), float32) for t in (predictions, labels))
    _, w = weighted(x, weights)
    sums = {"count": w, "x": w * x, "y": w * y, "xy": w * x * y, "xx": w * x * x, "yy": w * y * y}
    return [(name, reduce_sum(t)) for name, t in sums.items()]


def _covariance(
    n: Tensor, x: Tensor, y: Tensor, xy: Tensor, xx: Tensor, yy: Tensor, name: str
) -> Tensor:
    return div_no_nan(xy - div_no_nan(x * y, n), maximum(n - 1.0, 0.0))


@symbol("contrib.metrics.accuracy")
def accuracy(
    predictions: Any, labels: Any, weights: Any = None, name: Optional[str] = None
) -> Tensor:
    """The share of predictions that are the labels, in this batch.

    Raises:
        ValueError: dtypes differ.
    """
    with name_scope(name, "accuracy"):
        x, y = convert_to_tensor(predictions), convert_to_tensor(labels)
        if x.dtype.base_dtype is not y.dtype.base_dtype:
            raise ValueError(
                f"Dtypes of predictions and labels should match. Given: predictions "
                f"({x.dtype!r}) and labels ({y.dtype!r})"
            )
        right = cast(equal(x, y), float32)
        if weights is None:
            return reduce_mean(right)
        total, count = weighted(right, weights)
        return ratio(reduce_sum(total), reduce_sum(count), "value")


@symbol("contrib.metrics.f1_score")
@metric
def f1_score(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    *,
    name: Optional[str],
) -> Metric:
    """The best harmonic mean of precision and recall at any threshold."""

    def value(c: dict[str, Tensor], name: str) -> Tensor:
        precision = c["tp"] / (1e-7 + c["tp"] + c["fp"])
        recall = c["tp"] / (1e-7 + c["tp"] + c["fn"])
        return reduce_max(2.0 * precision * recall / (1e-7 + precision + recall))

    given = labels, predictions, even_thresholds(num_thresholds), weights
    return at_thresholds("f1", ("tp", "fp", "fn"), value, given, name)


@symbol("contrib.metrics.aggregate_metrics", "contrib.slim.metrics.aggregate_metrics")
def aggregate_metrics(*value_update_tuples: Metric) -> tuple[list[Any], list[Any]]:
    """The values and the updates of several metrics.

    Raises:
        ValueError: there is none.
    """
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


@symbol("contrib.metrics.aggregate_metric_map", "contrib.slim.metrics.aggregate_metric_map")
def aggregate_metric_map(
    names_to_tuples: dict[str, Metric],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values and the updates of several metrics, by their names."""
    pairs = names_to_tuples.items()
    return {k: v for k, (v, _) in pairs}, {k: u for k, (_, u) in pairs}


_STREAMING = tuple([name for name in dir() if name.startswith("streaming_")])
SYMBOLS = {
    **{f"{p}.metrics.{n}": n for p in ("contrib", "contrib.slim") for n in _STREAMING},
    **{
        f"{p}.metrics.{new}": f"byparts_frontend_tf.api.metrics.{place}"
        for p in ("contrib", "contrib.slim")
        for new, place in (
            ("streaming_mean", "metrics:mean"),
            ("streaming_mean_tensor", "top_k:mean_tensor"),
            ("streaming_percentage_less", "top_k:percentage_below"),
        )
    },
}
