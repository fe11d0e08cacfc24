"""Heads by name, metrics added to a model, and what classifiers read from `Example`s."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Optional

from byparts_frontend_tf.api.losses.reduction import Reduction
from byparts_frontend_tf.symbols import named, symbol
from byparts_tf_estimator.columns.layer import make_parse_example_spec
from byparts_tf_estimator.estimators.arguments import accepted
from byparts_tf_estimator.estimators.estimator import Estimator
from byparts_tf_estimator.estimators.head_kinds import ManyClasses, Numbers, TwoClasses
from byparts_tf_estimator.estimators.spec import ModeKeys
from byparts_tf_files.dtypes import float32, int64

_MEAN = Reduction.SUM_OVER_BATCH_SIZE


@symbol("contrib.estimator.multi_class_head", "estimator.MultiClassHead")
def multi_class_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _MEAN,
    loss_fn: Optional[Callable[..., Any]] = None,
    name: Optional[str] = None,
) -> ManyClasses:
    """A head of three or more classes, for `DNNEstimator`, `LinearEstimator`."""
    if n_classes < 3:
        raise ValueError(f"n_classes must be > 2: {n_classes}")
    return ManyClasses(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn)


@symbol("contrib.estimator.binary_classification_head", "estimator.BinaryClassHead")
def binary_classification_head(
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _MEAN,
    loss_fn: Optional[Callable[..., Any]] = None,
    name: Optional[str] = None,
) -> TwoClasses:
    """A head of two classes."""
    return TwoClasses(weight_column, label_vocabulary, loss_reduction, loss_fn)


@symbol("contrib.estimator.regression_head", "estimator.RegressionHead")
def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _MEAN,
    loss_fn: Optional[Callable[..., Any]] = None,
    inverse_link_fn: Any = None,
    name: Optional[str] = None,
) -> Numbers:
    """A head of numbers."""
    return Numbers(label_dimension, weight_column, loss_reduction, loss_fn)


@symbol("estimator.add_metrics", "contrib.estimator.add_metrics")
def add_metrics(estimator: Estimator, metric_fn: Callable[..., Any]) -> Estimator:
    """A new estimator of the same folder that has these metrics, too.

    Args:
        estimator: the model.
        metric_fn: of features, labels, predictions and config (those that it takes) gives
            name -> metric.
    """

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        spec = estimator._call_model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        given = {"predictions": spec.predictions, "config": config}
        more = metric_fn(**accepted(metric_fn, features=features, labels=labels, **given))
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, **more})

    return Estimator(model_fn, estimator.model_dir, estimator.config)


def _spec_with(columns: Any, label_key: str, label: Any, weight_column: Any) -> dict[str, Any]:
    found = make_parse_example_spec(columns)
    more: Mapping[str, Any] = {label_key: label}
    if isinstance(weight_column, str):
        more = {**more, weight_column: named("FixedLenFeature")((1,), float32)}
    elif weight_column is not None:
        more = {**more, **weight_column.parse_example_spec}
    for name, feature in more.items():
        if found.setdefault(name, feature) != feature:
            raise ValueError(f"{name} is a feature of a column, and something else: {feature}")
    return found


@symbol("estimator.classifier_parse_example_spec")
def classifier_parse_example_spec(
    feature_columns: Any,
    label_key: str,
    label_dtype: Any = int64,
    label_default: Any = None,
    weight_column: Any = None,
) -> dict[str, Any]:
    """Specs, by name, for reading features, labels and weights from `Example`s."""
    label = named("FixedLenFeature")((1,), label_dtype, label_default)
    return _spec_with(feature_columns, label_key, label, weight_column)


@symbol("estimator.regressor_parse_example_spec")
def regressor_parse_example_spec(
    feature_columns: Any,
    label_key: str,
    label_dtype: Any = float32,
    label_default: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
) -> dict[str, Any]:
    """Specs as of `classifier_parse_example_spec`; labels are `label_dimension` numbers."""
    label = named("FixedLenFeature")((label_dimension,), label_dtype, label_default)
    return _spec_with(feature_columns, label_key, label, weight_column)
