"""Metrics of the best k classes: precision, recall, average precision; and of classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.constant import ones_like
from byparts_frontend_tf.api.identity import identity
from byparts_frontend_tf.api.linalg.diag import matrix_diag_part
from byparts_frontend_tf.api.math.binary import (
    div_no_nan,
    equal,
    logical_and,
    maximum,
    minimum,
    multiply,
    not_equal,
    realdiv,
)
from byparts_frontend_tf.api.math.bincount import confusion_matrix
from byparts_frontend_tf.api.math.cumsum import cumsum
from byparts_frontend_tf.api.math.reduce import reduce_any, reduce_mean, reduce_sum
from byparts_frontend_tf.api.math.segment import unsorted_segment_sum
from byparts_frontend_tf.api.math.unary import absolute
from byparts_frontend_tf.api.metrics.metrics import (
    Metric,
    alike,
    mean,
    metric,
    metric_variable,
    ratio,
    tracked,
    weighted,
)
from byparts_frontend_tf.api.nn.softmax import top_k
from byparts_frontend_tf.api.reshape import expand_dims, reshape
from byparts_frontend_tf.api.sparse.dense import is_sparse, sparse_tensor_to_dense
from byparts_frontend_tf.api.variables.variable_scope import variable_scope
from byparts_frontend_tf.api.variables.variables import assign_add
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import bool_, float32, float64, int64


def _labels(given: Any, predicted: Tensor) -> Tensor:
    """Labels [..., n], -1 where there is none."""
    whole = sparse_tensor_to_dense(given, -1) if is_sparse(given) else convert_to_tensor(given)
    y: Tensor = cast(whole, int64)
    if y.dims is not None and predicted.dims is not None and len(y.dims) < len(predicted.dims):
        y = expand_dims(y, -1)
    return y


def _new(labels: Value) -> Value:
    """Whether a label is one, and stands at none of the places before."""
    n = labels.type.dims[-1]
    same = ops.equal(ops.expand_dims(labels, -1), ops.expand_dims(labels, -2))  # [..., i, j]
    before = ops.constant([[j < i for j in range(n)] for i in range(n)])
    again = ops.any(ops.logical_and(same, before), [-1])
    return ops.logical_and(labels >= 0, ops.logical_not(again))


NEW = Kind("NewLabels", _new, shape=like_first, dtype=bool_, gradient=False)


def _hits(labels: Tensor, best: Tensor, class_id: Any) -> tuple[Tensor, Tensor, Tensor]:
    """For each row which of the best are labels, and count at all; how many labels there are."""
    hit = reduce_any(equal(expand_dims(best, -1), expand_dims(labels, -2)), -1)
    counted, new = ones_like(hit), NEW(labels)
    if class_id is not None:
        counted = equal(best, cast(convert_to_tensor(class_id), int64))
        new = logical_and(new, equal(labels, cast(convert_to_tensor(class_id), int64)))
    return logical_and(hit, counted), counted, reduce_sum(cast(new, float32), -1)


def _rate(
    what: str,
    labels: Any,
    best: Tensor,
    k: Any,
    class_id: Any,
    weights: Any,
    name: Optional[str],
) -> Metric:
    """True positives over those predicted ("precision"), or over the labels ("recall")."""
    at = f"at_{'k' if k is None else k}" + ("" if class_id is None else f"_class{class_id}")
    with variable_scope(name, f"{what}_{at}", [best]):
        hit, counted, there = _hits(_labels(labels, best), best, class_id)
        true = reduce_sum(cast(hit, float32), -1)
        whole = there if what == "recall" else reduce_sum(cast(counted, float32), -1)
        other = "false_negative" if what == "recall" else "false_positive"
        parts = [
            (f"{part}_{at}", cast(reduce_sum(weighted(x, weights)[0]), float64))
            for part, x in (("true_positive", true), (other, whole - true))
        ]
        return tracked(parts, lambda a, b, n: realdiv(a, a + b, n))


def _at_k(what: str, from_ids: bool) -> Callable[..., Metric]:
    def of_ids(
        labels: Any,
        predictions_idx: Any,
        k: Any = None,
        class_id: Any = None,
        weights: Any = None,
        *,
        name: Optional[str],
    ) -> Metric:
        best = cast(convert_to_tensor(predictions_idx), int64)
        return _rate(what, labels, best, k, class_id, weights, name)

    def of_scores(
        labels: Any,
        predictions: Any,
        k: int,
        class_id: Any = None,
        weights: Any = None,
        *,
        name: Optional[str],
    ) -> Metric:
        best = cast(top_k(predictions, k).indices, int64)
        return _rate(what, labels, best, k, class_id, weights, name)

    at_k: Any = of_ids if from_ids else of_scores
    at_k.__name__ = f"{what}_at_k"
    at_k.__doc__ = f"TensorFlow's `{what}_at_k`: labels [..., n], and classes by their scores."
    return metric(at_k)


precision_at_k, recall_at_k = _at_k("precision", False), _at_k("recall", False)
precision_at_top_k, recall_at_top_k = _at_k("precision", True), _at_k("recall", True)


@symbol("metrics.average_precision_at_k", "metrics.sparse_average_precision_at_k")
@metric
def average_precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    weights: Any = None,
    *,
    name: Optional[str],
) -> Metric:
    """The mean of the precisions at each of the best k that is a label."""
    with variable_scope(name, f"average_precision_at_{k}", [predictions]):
        best = cast(top_k(predictions, k).indices, int64)
        hit, _, there = _hits(_labels(labels, best), best, None)
        hits = cast(hit, float32)
        precision = cumsum(hits, -1) / cumsum(ones_like(hits), -1)
        of_row = div_no_nan(reduce_sum(precision * hits, -1), minimum(there, float(k)))
        total, count = (cast(reduce_sum(t), float64) for t in weighted(of_row, weights))
        return tracked([("max_1", count), ("total", total)], lambda c, t, n: ratio(t, c, n))


def _mean_iou(matrix: Tensor, name: Optional[str]) -> Tensor:
    rows, columns = reduce_sum(matrix, 0), reduce_sum(matrix, 1)
    right = matrix_diag_part(matrix)
    union = cast(rows + columns - right, float32)
    count = reduce_sum(cast(not_equal(union, 0.0), float32))
    over = cast(right, float32) / where(union > 0, union, ones_like(union))
    return where(count > 0, reduce_sum(over) / maximum(count, 1.0), 0.0 * count, name=name)


@symbol("metrics.mean_iou")
@metric
def mean_iou(
    labels: Any,
    predictions: Any,
    num_classes: Any,
    weights: Any = None,
    *,
    name: Optional[str],
) -> Metric:
    """Mean over the classes of intersection over union.

    The second result gives the confusion matrix so far.
    """
    with variable_scope(name, "mean_iou", [predictions, labels]):
        y, x = (reshape(cast(convert_to_tensor(t), int64), [-1]) for t in (labels, predictions))
        w = None if weights is None else reshape(convert_to_tensor(weights), [-1])
        batch = confusion_matrix(y, x, num_classes, float64, weights=w)
        total = metric_variable([num_classes] * 2, float64, name="total_confusion_matrix")
        now = _mean_iou(identity(total), "mean_iou")
        return now, assign_add(total, batch, name="update_op")


@symbol("metrics.mean_per_class_accuracy")
@metric
def mean_per_class_accuracy(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    *,
    name: Optional[str],
) -> Metric:
    """Mean over the classes of the share of a class's labels that are predicted.

    The second result gives them for each class.
    """
    with variable_scope(name, "mean_accuracy", [predictions, labels]):
        y, x = (reshape(cast(convert_to_tensor(t), int64), [-1]) for t in (labels, predictions))
        w = cast(ones_like(y), float32)
        w = w if weights is None else w * reshape(cast(convert_to_tensor(weights), float32), [-1])
        right = w * cast(equal(y, x), float32)
        sums = [unsorted_segment_sum(t, y, num_classes) for t in (w, right)]
        total, count = (metric_variable([num_classes], float32, name=n) for n in ("total", "count"))
        now = reduce_mean(div_no_nan(identity(count), identity(total)), name="mean_accuracy")
        updates = [assign_add(v, t) for v, t in zip((total, count), sums, strict=True)]
        return now, div_no_nan(updates[1], updates[0], name="update_op")


@symbol("metrics.mean_tensor")
@metric
def mean_tensor(
    values: Any,
    weights: Any = None,
    *,
    name: Optional[str],
) -> Metric:
    """The mean of tensors of one shape, element by element."""
    with variable_scope(name, "mean", [values]):
        total, count = weighted(cast(convert_to_tensor(values), float32), weights)
        parts = [("total_tensor", total), ("count_tensor", count)]
        return tracked(parts, ratio)


@symbol("metrics.percentage_below")
@metric
def percentage_below(
    values: Any,
    threshold: Any,
    weights: Any = None,
    *,
    name: Optional[str],
) -> Metric:
    """Share of the values that are below a threshold."""
    below = cast(convert_to_tensor(values) < threshold, float32)
    return mean(below, weights, name=name or "percentage_below_threshold")


@symbol("metrics.mean_relative_error")
@metric
def mean_relative_error(
    labels: Any,
    predictions: Any,
    normalizer: Any,
    weights: Any = None,
    *,
    name: Optional[str],
) -> Metric:
    """The mean of differences, without signs, over a normalizer; 0 where that is 0."""
    y, x = alike(labels, predictions)
    errors = div_no_nan(absolute(cast(y, x.dtype.base_dtype) - x), convert_to_tensor(normalizer))
    return mean(errors, weights, name=name or "mean_relative_error")


@symbol("metrics.mean_cosine_distance")
@metric
def mean_cosine_distance(
    labels: Any,
    predictions: Any,
    dim: int,
    weights: Any = None,
    *,
    name: Optional[str],
) -> Metric:
    """1 - the mean of the products of vectors of length 1 along an axis."""
    y, x = alike(labels, predictions)
    products = reduce_sum(multiply(cast(x, float32), cast(y, float32)), [dim], True)
    value, update = mean(products, weights, name=name or "mean_cosine_distance")
    return 1.0 - value, 1.0 - update


SYMBOLS = {
    "metrics.precision_at_k": "precision_at_k",
    "metrics.sparse_precision_at_k": "precision_at_k",
    "metrics.recall_at_k": "recall_at_k",
    "metrics.precision_at_top_k": "precision_at_top_k",
    "metrics.recall_at_top_k": "recall_at_top_k",
}
