"""Model functions of `tf.contrib.learn`, as those of `tf.estimator`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Optional

from byparts_frontend_tf.symbols import named, symbol
from byparts_tf_estimator.estimators.arguments import accepted, argument_names
from byparts_tf_estimator.estimators.spec import EstimatorSpec


@symbol("contrib.learn.ModeKeys")
class ModeKeys:
    """Purposes that a model is built for."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"


class _Ops(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: Any
    output_alternatives: Any
    training_chief_hooks: Any
    training_hooks: Any
    scaffold: Any


@symbol("contrib.learn.ModelFnOps", "contrib.learn.estimators.model_fn.ModelFnOps")
class ModelFnOps(_Ops):
    """The answer of a model function.  See `tf.estimator.EstimatorSpec`."""

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Any = None,
        output_alternatives: Any = None,
        training_chief_hooks: Any = None,
        training_hooks: Any = None,
        scaffold: Any = None,
    ) -> ModelFnOps:
        """The answer of a model function.

        Raises:
            ValueError: what the mode needs is missing.
        """
        if mode == ModeKeys.TRAIN and train_op is None:
            raise ValueError("Missing train_op.")
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL) and loss is None:
            raise ValueError("Missing loss.")
        if mode != ModeKeys.TRAIN and predictions is None:
            raise ValueError("Missing predictions.")
        given = mode, predictions, loss, train_op, eval_metric_ops or {}
        hooks = training_chief_hooks, training_hooks
        return super().__new__(cls, *given, output_alternatives, *hooks, scaffold)


@symbol(
    "contrib.learn.MetricSpec",
    "contrib.learn.metric_spec.MetricSpec",
    "contrib.learn.python.learn.metric_spec.MetricSpec",
)
class MetricSpec:
    """A metric of what a model predicts.

    Args:
        metric_fn: of predictions, labels and weights, named so or as targets, gives a metric.
        prediction_key: which of the predictions.
        label_key: which of the labels.
        weight_key: the feature with weights.
    """

    def __init__(
        self,
        metric_fn: Callable[..., Any],
        prediction_key: Optional[str] = None,
        label_key: Optional[str] = None,
        weight_key: Optional[str] = None,
    ) -> None:
        self.metric_fn, self.prediction_key = metric_fn, prediction_key
        self.label_key, self.weight_key = label_key, weight_key

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        """The metric of a model.

        Raises:
            ValueError: a key is missing, or is none of them.
        """
        prediction = _chosen(predictions, self.prediction_key, "prediction_key")
        label = _chosen(labels, self.label_key, "label_key")
        names = argument_names(self.metric_fn)
        values = {"predictions": prediction, "labels": label, "targets": label}
        given = {name: value for name, value in values.items() if name in names}
        if self.weight_key is not None:
            given["weights"] = inputs[self.weight_key]
        if "predictions" not in given:
            return self.metric_fn(prediction, label)
        return self.metric_fn(**given)


def _chosen(given: Any, key: Optional[str], what: str) -> Any:
    if not isinstance(given, Mapping):
        return given
    if key is None:
        if len(given) == 1:
            return next(iter(given.values()))
        raise ValueError(f"MetricSpec without specified {what} requires one of: {list(given)}")
    if key not in given:
        raise ValueError(f"{what} {key!r} is none of {list(given)}")
    return given[key]


def adapted(
    model_fn: Callable[..., Any], metrics: Callable[[], Optional[Mapping[Any, Any]]], engineer: Any
) -> Callable[..., Any]:
    """A model function of `tf.contrib.learn` as one of `tf.estimator`.

    Args:
        model_fn: gives `ModelFnOps`, a spec, or (predictions, loss, train_op).
        metrics: gives the metrics that an evaluation asks for, by name.
        engineer: of features and labels gives others, or `None`.
    """

    def adapter(features: Any, labels: Any, mode: str, params: Any, config: Any) -> Any:
        if engineer is not None:
            features, labels = engineer(features, labels)
        given = {"mode": mode, "params": params, "config": config, "model_dir": config.model_dir}
        found = model_fn(features, labels, **accepted(model_fn, **given))
        asked = metrics() if mode == ModeKeys.EVAL else None
        return as_spec(found, mode, features, labels, asked)

    return adapter


def as_spec(found: Any, mode: str, features: Any, labels: Any, asked: Any) -> EstimatorSpec:
    """The answer of a model function, as a spec with the metrics that are asked for.

    Raises:
        ValueError: it gave something else.
    """
    if isinstance(found, EstimatorSpec):
        return found
    if not isinstance(found, ModelFnOps):
        if not isinstance(found, (list, tuple)) or len(found) != 3:
            raise ValueError("Unrecognized value returned by model_fn, please return ModelFnOps.")
        found = ModelFnOps(mode, *found)
    measures = dict(found.eval_metric_ops)
    for name, metric in (asked or {}).items():
        key = name[0] if isinstance(name, tuple) else name
        spec = (
            metric
            if isinstance(metric, MetricSpec)
            else MetricSpec(metric, prediction_key=name[1] if isinstance(name, tuple) else None)
        )
        measures[key] = spec.create_metric_ops(features, labels, found.predictions)
    predictions = found.predictions
    if isinstance(predictions, Mapping):
        predictions = {name: named("convert_to_tensor")(t) for name, t in predictions.items()}
    return EstimatorSpec(
        mode=mode,
        predictions=predictions,
        loss=found.loss if mode != ModeKeys.INFER else None,
        train_op=found.train_op if mode == ModeKeys.TRAIN else None,
        eval_metric_ops=measures if mode == ModeKeys.EVAL else None,
        training_chief_hooks=found.training_chief_hooks,
        training_hooks=found.training_hooks,
        scaffold=found.scaffold,
    )
