"""`tf.keras.estimator.model_to_estimator`: a compiled model as an estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

import byparts_frontend_tf as tf
from byparts_frontend_tf.api.train.init_from_checkpoint import begin_with
from byparts_frontend_tf.graph.nest import flatten
from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.estimators.estimator import Estimator
from byparts_tf_keras import metrics
from byparts_tf_keras.compiled import Output, _for_outputs, _metrics_of
from byparts_tf_keras.metric import Metric
from byparts_tf_keras.model_files import clone_model, load_model
from byparts_tf_keras.optimizers import TFOptimizer
from byparts_tf_keras.state import set_learning_phase


@symbol("keras.estimator.model_to_estimator")
def model_to_estimator(
    keras_model: Any = None,
    keras_model_path: Any = None,
    custom_objects: Any = None,
    model_dir: Any = None,
    config: Any = None,
    **more: Any,
) -> Estimator:
    """An estimator that begins with the weights of a compiled model of Keras.

    Features are named by the model's inputs, predictions by its outputs.

    Args:
        keras_model: the model.
        keras_model_path: a file with one, instead.
        custom_objects: name -> class, for the file.
        model_dir: of checkpoints.
        config: a `RunConfig`.
        more: accepted.

    Raises:
        ValueError: neither a model nor a file is given, or both; it is not compiled.
    """
    if (keras_model is None) == (keras_model_path is None):
        raise ValueError("Either `keras_model` or `keras_model_path` needs to be provided.")
    if keras_model is None:
        keras_model = load_model(keras_model_path, custom_objects)
    if keras_model.optimizer is None:
        raise ValueError(
            "The given keras model has not been compiled yet. Please compile the model with "
            "`model.compile()` before calling `model_to_estimator`."
        )
    weights = keras_model.get_weights()

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        return _spec(keras_model, weights, features, labels, mode)

    return Estimator(model_fn, model_dir, config)


def _spec(compiled: Any, weights: Any, features: Any, labels: Any, mode: str) -> Any:
    """The model of one graph: a clone of the compiled one that begins with these weights."""
    training = mode == tf.estimator.ModeKeys.TRAIN
    set_learning_phase(int(training))
    model = clone_model(compiled, _inputs(features, compiled.input_names))
    for variable, value in zip(model.weights, weights, strict=True):
        begin_with(variable, partial(np.asarray, value))
    predictions = dict(zip(model.output_names, model.outputs, strict=True))
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    outputs = _outputs(compiled, model, labels)
    shares = [o.share * o.value(None) for o in outputs if o.loss is not None]
    loss = tf.add_n([*shares, *model.losses])
    return tf.estimator.EstimatorSpec(
        mode,
        predictions=predictions,
        loss=loss,
        train_op=_step(compiled.optimizer, model, loss) if training else None,
        eval_metric_ops=None if training else _metrics(compiled, outputs),
    )


def _inputs(features: Any, names: Sequence[str]) -> list[Any]:
    """The features that a model takes, in its order.

    Raises:
        ValueError: one is missing.
    """
    if not isinstance(features, Mapping):
        return flatten(features)
    missing = [name for name in names if name not in features]
    if missing:
        raise ValueError(f"features have no {missing[0]!r}, which is an input: {list(features)}")
    return [features[name] for name in names]


def _outputs(compiled: Any, model: Any, labels: Any) -> list[Output]:
    given, names = compiled._compile_arguments, model.output_names
    targets = [labels[n] for n in names] if isinstance(labels, Mapping) else flatten(labels)
    chosen = _for_outputs(given["loss"], names, "loss")
    shares = _for_outputs(given["loss_weights"], names, "loss_weights", 1.0)
    rows = zip(names, model.outputs, chosen, shares, targets, strict=True)
    return [Output(n, t, la, s, _like(y, t)) for n, t, la, s, y in rows]


def _like(target: Any, tensor: Any) -> Any:
    """Labels with an axis for each of the output's."""
    rank, own = tensor.get_shape().ndims, target.get_shape().ndims
    return tf.expand_dims(target, -1) if own is not None and rank == own + 1 else target


def _metrics(compiled: Any, outputs: Sequence[Output]) -> dict[str, Any]:
    listed = _metrics_of(compiled._compile_arguments["metrics"], [o.name for o in outputs])
    found: dict[str, Any] = {}
    for o, some in zip(outputs, listed, strict=True):
        for metric in some:
            known = metric in ("accuracy", "acc")
            function = o.accuracy() if known else metrics.get(metric)
            if isinstance(function, Metric):
                raise NotImplementedError(f"model_to_estimator: give {metric!r} as a function")
            name = str(metric) if isinstance(metric, str) else function.__name__
            key = f"{o.name}_{name}" if len(outputs) > 1 else name
            found[key] = tf.metrics.mean(function(o.target, o.tensor))
    return found


def _step(optimizer: Any, model: Any, loss: Any) -> Any:
    """An operation that takes a step and counts it."""
    if isinstance(optimizer, TFOptimizer):
        changes = [optimizer.optimizer.minimize(loss, var_list=model.trainable_weights)]
    else:
        own = type(optimizer).from_config(optimizer.get_config())
        changes = own.get_updates(loss, model.trainable_weights)
    changes += [*model.get_updates_for(None), *model.get_updates_for(model.inputs)]
    with tf.control_dependencies(changes):
        return tf.assign_add(tf.train.get_global_step(), 1).op
