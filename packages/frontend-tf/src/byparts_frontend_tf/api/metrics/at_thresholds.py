"""Metrics over thresholds: areas under curves, precision and recall at each of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.constant import zeros_like
from byparts_frontend_tf.api.gather import gather
from byparts_frontend_tf.api.math.binary import div_no_nan, logical_and, maximum, minimum
from byparts_frontend_tf.api.math.reduce import argmax, argmin, reduce_sum
from byparts_frontend_tf.api.math.unary import absolute, log, logical_not
from byparts_frontend_tf.api.metrics.metrics import Metric, collected, metric, tracked
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.variables.variable_scope import variable_scope
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import bool_, float32

_EPSILON = 1e-7
_NAMES = {
    "tp": "true_positives",
    "fn": "false_negatives",
    "tn": "true_negatives",
    "fp": "false_positives",
}
Values = Callable[..., Tensor]  # (counts by their short names, name) -> the value


def even_thresholds(count: int) -> list[float]:
    """Evenly spaced thresholds from just below 0 to just above 1."""
    inner = [(i + 1) * 1.0 / (count - 1) for i in range(count - 2)]
    return [0.0 - _EPSILON, *inner, 1.0 + _EPSILON]


def counts_at(
    labels: Any, predictions: Any, thresholds: Sequence[float], weights: Any
) -> dict[str, Tensor]:
    """Number of true and false positives and negatives at each threshold."""
    truth = reshape(cast(convert_to_tensor(labels), bool_), [1, -1])
    scores = reshape(cast(convert_to_tensor(predictions), float32), [1, -1])
    said = scores > convert_to_tensor(np.array(thresholds, np.float32)[:, None])
    each = {
        "tp": logical_and(truth, said),
        "fn": logical_and(truth, logical_not(said)),
        "tn": logical_and(logical_not(truth), logical_not(said)),
        "fp": logical_and(logical_not(truth), said),
    }
    made = {k: cast(v, float32) for k, v in each.items()}
    if weights is not None:
        w = cast(convert_to_tensor(weights), float32) + zeros_like(
            cast(convert_to_tensor(predictions), float32)
        )
        made = {k: v * reshape(w, [1, -1]) for k, v in made.items()}
    return {k: reduce_sum(v, 1) for k, v in made.items()}


def at_thresholds(
    scope: str,
    used: Sequence[str],
    value: Values,
    given: tuple[Any, Any, Any, Any],
    name: Optional[str],
) -> Metric:
    """A metric of counts at thresholds; `given`: labels, predictions, thresholds, weights."""
    labels, predictions, thresholds, weights = given
    with variable_scope(name, scope, [labels, predictions]):
        counts = counts_at(labels, predictions, thresholds, weights)
        parts = [(_NAMES[k], counts[k]) for k in used]
        return tracked(
            parts, lambda *sums: value(dict(zip(used, sums[:-1], strict=True)), sums[-1])
        )


def _area(x: Tensor, y: Tensor, method: str, name: str) -> Tensor:
    widths, left, right = x[:-1] - x[1:], y[:-1], y[1:]
    if method == "trapezoidal":
        heights: Tensor = (left + right) / 2.0
    elif method in ("minoring", "majoring"):
        heights = (minimum if method == "minoring" else maximum)(left, right)
    else:
        raise ValueError(f"Invalid summation_method: {method}")
    return reduce_sum(widths * heights, name=name)


def _interpolated(c: dict[str, Tensor], name: str) -> Tensor:
    """The area under precision over recall, as Davis and Goadrich 2006 interpolate it."""
    tp, p = c["tp"], c["tp"] + c["fp"]
    dtp, dp = tp[:-1] - tp[1:], p[:-1] - p[1:]
    slope = div_no_nan(dtp, maximum(dp, zeros_like(dp)))
    intercept = tp[1:] - slope * p[1:]
    both = logical_and(p[:-1] > 0, p[1:] > 0)
    relative = where(both, div_no_nan(p[:-1], maximum(p[1:], zeros_like(dp))), zeros_like(dp) + 1)
    total = slope * (dtp + intercept * log(relative))
    positives = maximum(tp[1:] + c["fn"][1:], zeros_like(dp))
    return reduce_sum(div_no_nan(total, positives), name=name)


@symbol("metrics.auc")
def auc(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: Optional[str] = None,
    summation_method: str = "trapezoidal",
    thresholds: Any = None,
) -> Metric:
    """The area under a curve: "ROC" (recall over false positives) or "PR" (precision over recall).

    Raises:
        ValueError: another curve or method.
    """
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    at = (
        even_thresholds(num_thresholds)
        if thresholds is None
        else [0.0 - _EPSILON, *sorted(thresholds), 1.0 + _EPSILON]
    )

    def value(c: dict[str, Tensor], name: str) -> Tensor:
        if curve == "PR" and summation_method == "careful_interpolation":
            return _interpolated(c, name)
        recall = (c["tp"] + _EPSILON) / (c["tp"] + c["fn"] + _EPSILON)
        if curve == "ROC":
            false_rate = c["fp"] / (c["fp"] + c["tn"] + _EPSILON)
            return _area(false_rate, recall, summation_method, name)
        precision = (c["tp"] + _EPSILON) / (c["tp"] + c["fp"] + _EPSILON)
        return _area(recall, precision, summation_method, name)

    given = labels, predictions, at, weights
    made = at_thresholds("auc", ("tp", "fn", "tn", "fp"), value, given, name)
    return collected(made, metrics_collections, updates_collections)


def _at_each(name: str, scope: str, used: Sequence[str], value: Values) -> Callable[..., Metric]:
    """The metric of this name: counts at each threshold, in a scope."""

    def of_thresholds(
        labels: Any, predictions: Any, thresholds: Any, weights: Any = None, *, name: Optional[str]
    ) -> Metric:
        return at_thresholds(scope, used, value, (labels, predictions, thresholds, weights), name)

    of_thresholds.__name__ = name
    of_thresholds.__doc__ = f"TensorFlow's `{name}`: one number for each threshold."
    return metric(of_thresholds)


def _rate_at(scope: str, beside: str) -> Callable[..., Metric]:
    """Precision or recall at each threshold."""

    def value(c: dict[str, Tensor], name: str) -> Tensor:
        rate: Tensor = c["tp"] / (_EPSILON + c["tp"] + c[beside])
        return rate

    return _at_each(scope, scope, ("tp", beside), value)


precision_at_thresholds = _rate_at("precision_at_thresholds", "fp")
recall_at_thresholds = _rate_at("recall_at_thresholds", "fn")


def _count_at(kind: str) -> Callable[..., Metric]:
    name = f"{_NAMES[kind]}_at_thresholds"
    return _at_each(name, _NAMES[kind], (kind,), lambda c, n: c[kind] + 0.0)


true_positives_at_thresholds = _count_at("tp")
false_negatives_at_thresholds = _count_at("fn")
true_negatives_at_thresholds = _count_at("tn")
false_positives_at_thresholds = _count_at("fp")


def _specific(c: dict[str, Tensor], name: str, specificity: float) -> Tensor:
    """The recall at the threshold where the specificity is nearest to what is asked for."""
    found = c["tn"] / (c["tn"] + c["fp"] + _EPSILON)
    at = cast(argmin(absolute(found - specificity), 0), "int32")
    recall: Tensor = gather(c["tp"], at) / (gather(c["tp"], at) + gather(c["fn"], at) + _EPSILON)
    return recall


def _sensitive(c: dict[str, Tensor], name: str, sensitivity: float) -> Tensor:
    """The specificity at the last threshold where the recall is nearest to what is asked for."""
    recall = c["tp"] / (c["tp"] + c["fn"] + _EPSILON)
    distance = absolute(recall - sensitivity)
    nearest = distance <= gather(distance, argmin(distance, 0))
    places = convert_to_tensor(np.arange(int(recall.shape[0]), dtype=np.int32))
    at = cast(argmax(cast(nearest, "int32") * (places + 1), 0), "int32")
    made: Tensor = gather(c["tn"], at) / (gather(c["tn"], at) + gather(c["fp"], at) + _EPSILON)
    return made


def _where_near(scope: str, wanted: str, value: Callable[..., Tensor]) -> Callable[..., Metric]:
    def where_near(
        labels: Any,
        predictions: Any,
        target: Any = None,
        weights: Any = None,
        num_thresholds: int = 200,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: Optional[str] = None,
        **named: Any,
    ) -> Metric:
        aim = named.pop(wanted) if target is None else target
        if named:
            raise TypeError(f"{scope}() got an unexpected keyword argument {next(iter(named))!r}")
        if not 0 <= aim <= 1:
            raise ValueError(f"`{wanted}` must be in the range [0, 1].")
        given = labels, predictions, even_thresholds(num_thresholds), weights
        counts = ("tp", "fn", "tn", "fp")
        made = at_thresholds(scope, counts, lambda c, n: value(c, n, aim), given, name)
        return collected(made, metrics_collections, updates_collections)

    where_near.__name__, where_near.__module__ = scope, __name__
    where_near.__doc__ = f"TensorFlow's `{scope}`."
    return where_near


sensitivity_at_specificity = _where_near("sensitivity_at_specificity", "specificity", _specific)
specificity_at_sensitivity = _where_near("specificity_at_sensitivity", "sensitivity", _sensitive)

_AT = ("precision", "recall", *_NAMES.values())
SYMBOLS = {
    **{f"metrics.{name}_at_thresholds": f"{name}_at_thresholds" for name in _AT},
    "metrics.sensitivity_at_specificity": "sensitivity_at_specificity",
    "metrics.specificity_at_sensitivity": "specificity_at_sensitivity",
}
