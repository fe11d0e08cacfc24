"""Ready-made estimators of `tf.contrib.learn`: those of `tf.estimator`, with mean losses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.losses.reduction import Reduction
from byparts_frontend_tf.api.math.binary import greater_equal
from byparts_frontend_tf.api.metrics import metrics
from byparts_frontend_tf.api.nn.relu import relu
from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.estimators.estimator import Estimator
from byparts_tf_estimator.estimators.head_kinds import Numbers, TwoClasses, classes_head
from byparts_tf_estimator.estimators.heads import Head
from byparts_tf_estimator.estimators.logits import Linear, Network
from byparts_tf_estimator.estimators.spec import ModeKeys
from byparts_tf_estimator.estimators.steps import Part, minimizing, optimizer_of
from byparts_tf_estimator.learn.estimator import LearnEstimator
from byparts_tf_estimator.learn.model_functions import MetricSpec
from byparts_tf_files.dtypes import float32

_MEAN = Reduction.SUM_OVER_BATCH_SIZE


class Canned(LearnEstimator):
    """Logits of parts, and a head."""

    _default: str

    def __init__(
        self,
        head: Head,
        parts: Sequence[Part],
        model_dir: Any,
        config: Any,
        engineer: Any = None,
        clip_norm: Optional[float] = None,
    ) -> None:
        self._head, self._engineer = head, engineer
        self._parts = [replace(part, clip_norm=clip_norm) for part in parts]
        self._metrics = None
        self._estimator = Estimator(self._model, model_dir, config)

    def _model(self, features: Any, labels: Any, mode: str) -> Any:
        if self._engineer is not None:
            features, labels = self._engineer(features, labels)
        given = features if isinstance(features, dict) else {"": features}
        made = [part.logits(given, mode, self._head.logits_dimension) for part in self._parts]
        logits = made[0] if len(made) == 1 else made[0] + made[1]
        spec = self._head.spec(given, mode, logits, labels, minimizing(self._parts))
        if mode != ModeKeys.EVAL:
            return spec
        measures = self._measures(spec, given, labels)
        return spec._replace(eval_metric_ops=measures)

    def _measures(self, spec: Any, features: Any, labels: Any) -> dict[str, Any]:
        measures = dict(spec.eval_metric_ops)
        measures.pop("average_loss")
        if isinstance(self._head, Numbers):
            measures = {}
        if isinstance(self._head, TwoClasses):
            measures = _old_names(measures, spec.predictions, labels)
        for name, metric in (self._metrics or {}).items():
            key, output = (name, self._default) if isinstance(name, str) else name
            given = metric if isinstance(metric, MetricSpec) else MetricSpec(metric, output)
            output = given.prediction_key or self._default
            asked = MetricSpec(
                given.metric_fn,
                _PREDICTIONS.get(output, output),
                given.label_key,
                given.weight_key,
            )
            measures[key] = asked.create_metric_ops(features, labels, spec.predictions)
        return measures

    def _column(
        self, name: str, x: Any, input_fn: Any, batch_size: Optional[int], as_iterable: bool
    ) -> Any:
        rows = LearnEstimator.predict(self, x, input_fn, batch_size, [name])
        values = (row[name] for row in rows)
        return values if as_iterable else np.stack(list(values))

    def predict(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: Optional[int] = None,
        outputs: Any = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """The classes or the numbers; the predictions that `outputs` names."""
        if not outputs:
            return self._plain(x, input_fn, batch_size, as_iterable)
        names = [_PREDICTIONS.get(name, name) for name in outputs]
        found = super().predict(x, input_fn, batch_size, names, as_iterable, iterate_batches)
        back = dict(zip(names, outputs, strict=True))
        if not as_iterable:
            return {back[name]: value for name, value in found.items()}
        return ({back[name]: value for name, value in row.items()} for row in found)

    def _plain(self, x: Any, input_fn: Any, batch_size: Any, as_iterable: bool) -> Any:
        found = self._column(_PREDICTIONS[self._default], x, input_fn, batch_size, True)
        values = (v[0] if v.shape == (1,) else v for v in found)
        return values if as_iterable else np.array(list(values))


# What contrib.learn called predictions -> what tf.estimator calls them.
_PREDICTIONS = {"classes": "class_ids", "scores": "predictions"}


def _old_names(found: dict[str, Any], predictions: Any, labels: Any) -> dict[str, Any]:
    """The metrics of two classes by their older names."""
    threshold = "threshold_0.500000_mean"
    right = cast(greater_equal(predictions["logistic"], 0.5), float32)
    return {
        "accuracy": found["accuracy"],
        "auc": found["auc"],
        "auc_precision_recall": found["auc_precision_recall"],
        "labels/prediction_mean": found["prediction/mean"],
        "labels/actual_label_mean": found["label/mean"],
        "accuracy/baseline_label_mean": found["label/mean"],
        f"accuracy/{threshold}": metrics.accuracy(cast(labels, float32), right),
        f"precision/positive_{threshold}": found["precision"],
        f"recall/positive_{threshold}": found["recall"],
    }


class _Classifier(Canned):
    _default = "classes"

    def predict_classes(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: Optional[int] = None,
        as_iterable: bool = True,
    ) -> Any:
        """The class of each example."""
        return self._plain(x, input_fn, batch_size, as_iterable)

    def predict_proba(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: Optional[int] = None,
        outputs: Any = None,
        as_iterable: bool = True,
    ) -> Any:
        """The probabilities of all classes for each example."""
        return self._column("probabilities", x, input_fn, batch_size, as_iterable)


class _Regressor(Canned):
    _default = "scores"

    def predict_scores(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: Optional[int] = None,
        as_iterable: bool = True,
    ) -> Any:
        """The number of each example."""
        return self._plain(x, input_fn, batch_size, as_iterable)


def _network(units: Any, columns: Any, optimizer: Any, activation: Any, dropout: Any) -> Part:
    given = Network(units, columns, activation, dropout, False)
    return Part(given, optimizer_of(optimizer or "Adagrad", 0.05), "dnn")


def _linear(columns: Any, optimizer: Any) -> Part:
    given = list(columns)
    rate = min(0.2, 1.0 / math.sqrt(len(given)))
    return Part(Linear(given, "sum"), optimizer_of(optimizer or "Ftrl", rate), "linear")


@symbol("contrib.learn.DNNClassifier")
class DNNClassifier(_Classifier):
    """Dense layers, and classes.  See `tf.estimator.DNNClassifier`."""

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: Optional[str] = None,
        optimizer: Any = None,
        activation_fn: Any = relu,
        dropout: Optional[float] = None,
        gradient_clip_norm: Optional[float] = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: Any = None,
        label_keys: Any = None,
    ) -> None:
        head = classes_head(n_classes, weight_column_name, label_keys, _MEAN)
        part = _network(hidden_units, feature_columns, optimizer, activation_fn, dropout)
        how = feature_engineering_fn, gradient_clip_norm
        super().__init__(head, [part], model_dir, config, *how)


@symbol("contrib.learn.DNNRegressor")
class DNNRegressor(_Regressor):
    """Dense layers, and numbers.  See `tf.estimator.DNNRegressor`."""

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        weight_column_name: Optional[str] = None,
        optimizer: Any = None,
        activation_fn: Any = relu,
        dropout: Optional[float] = None,
        gradient_clip_norm: Optional[float] = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
        label_dimension: int = 1,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: Any = None,
    ) -> None:
        head = Numbers(label_dimension, weight_column_name, _MEAN)
        part = _network(hidden_units, feature_columns, optimizer, activation_fn, dropout)
        how = feature_engineering_fn, gradient_clip_norm
        super().__init__(head, [part], model_dir, config, *how)


@symbol("contrib.learn.LinearClassifier")
class LinearClassifier(_Classifier):
    """A linear model, and classes.  See `tf.estimator.LinearClassifier`."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: Optional[str] = None,
        optimizer: Any = None,
        gradient_clip_norm: Optional[float] = None,
        enable_centered_bias: bool = False,
        _joint_weight: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
        label_keys: Any = None,
    ) -> None:
        head = classes_head(n_classes, weight_column_name, label_keys, _MEAN)
        part = _linear(feature_columns, optimizer)
        how = feature_engineering_fn, gradient_clip_norm
        super().__init__(head, [part], model_dir, config, *how)


@symbol("contrib.learn.LinearRegressor")
class LinearRegressor(_Regressor):
    """A linear model, and numbers.  See `tf.estimator.LinearRegressor`."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        weight_column_name: Optional[str] = None,
        optimizer: Any = None,
        gradient_clip_norm: Optional[float] = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
    ) -> None:
        head = Numbers(label_dimension, weight_column_name, _MEAN)
        part = _linear(feature_columns, optimizer)
        how = feature_engineering_fn, gradient_clip_norm
        super().__init__(head, [part], model_dir, config, *how)


@symbol("contrib.learn.DNNLinearCombinedClassifier")
class DNNLinearCombinedClassifier(_Classifier):
    """A linear model and a network, and classes."""

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: Optional[str] = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Optional[Sequence[int]] = None,
        dnn_activation_fn: Any = relu,
        dnn_dropout: Optional[float] = None,
        gradient_clip_norm: Optional[float] = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
        **more: Any,
    ) -> None:
        head = classes_head(n_classes, weight_column_name, None, _MEAN)
        linear = linear_feature_columns, linear_optimizer
        dnn = dnn_hidden_units, dnn_feature_columns, dnn_optimizer, dnn_activation_fn, dnn_dropout
        parts = [_network(*dnn)] if dnn_feature_columns else []
        parts += [_linear(*linear)] if linear_feature_columns else []
        if not parts:
            raise ValueError(
                "Either linear_feature_columns or dnn_feature_columns must be defined."
            )
        how = feature_engineering_fn, gradient_clip_norm
        super().__init__(head, parts, model_dir, config, *how)
