"""Modes that a model function is asked for, and its answer: `ModeKeys`, `EstimatorSpec`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Optional

from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.estimators.export_outputs import ExportOutput, checked_outputs
from byparts_tf_estimator.training.scaffold import Scaffold


@symbol("estimator.ModeKeys")
class ModeKeys:
    """Purposes that a model is built for."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


class _Spec(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: Any
    export_outputs: Any
    training_chief_hooks: tuple[Any, ...]
    training_hooks: tuple[Any, ...]
    scaffold: Any
    evaluation_hooks: tuple[Any, ...]
    prediction_hooks: tuple[Any, ...]


@symbol("estimator.EstimatorSpec")
class EstimatorSpec(_Spec):
    """A model in one mode.

    Args:
        mode: of `ModeKeys`.
        predictions: a tensor, or name -> tensor.
        loss: a number; needed to train and to evaluate.
        train_op: takes a step; needed to train.
        eval_metric_ops: name -> (value, update) or a metric of Keras.
        export_outputs: name -> `ExportOutput`, of a saved model.
        training_chief_hooks: of the training.
        training_hooks: of the training.
        scaffold: how a session begins.
        evaluation_hooks: of the evaluation.
        prediction_hooks: of the prediction.

    Raises:
        ValueError: what the mode needs is missing, or of a graph that is not the default one.
        TypeError: something is no tensor, no operation or no hook.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Optional[Mapping[str, Any]] = None,
        export_outputs: Optional[Mapping[str, ExportOutput]] = None,
        training_chief_hooks: Any = None,
        training_hooks: Any = None,
        scaffold: Any = None,
        evaluation_hooks: Any = None,
        prediction_hooks: Any = None,
    ) -> EstimatorSpec:
        """The answer of a model function, checked."""
        hooks = [
            _hooks(given)
            for given in (
                training_chief_hooks,
                training_hooks,
                evaluation_hooks,
                prediction_hooks,
            )
        ]
        return super().__new__(
            cls,
            mode=mode,
            predictions=_predictions(predictions, mode),
            loss=_loss(loss, mode),
            train_op=_train_op(train_op, mode),
            eval_metric_ops=_metrics(eval_metric_ops),
            export_outputs=checked_outputs(export_outputs, predictions, mode == ModeKeys.PREDICT),
            training_chief_hooks=hooks[0],
            training_hooks=hooks[1],
            scaffold=_scaffold(scaffold),
            evaluation_hooks=hooks[2],
            prediction_hooks=hooks[3],
        )


def _train_op(given: Any, mode: str) -> Any:
    if given is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        return None
    if not isinstance(given, (Operation, Tensor)) and not hasattr(given, "_as_tensor"):
        raise TypeError(f"train_op must be Operation or Tensor, given: {given}")
    return given


def _loss(given: Any, mode: str) -> Any:
    if given is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    if not isinstance(given, Tensor) and not hasattr(given, "_as_tensor"):
        raise TypeError(f"loss must be Tensor, given: {given}")
    loss = convert_to_tensor(given)
    count = loss.get_shape().num_elements()
    if count is not None and count != 1:
        raise ValueError(f"Loss must be scalar, given: {given}")
    return reshape(loss, []) if loss.get_shape().ndims else loss


def _predictions(given: Any, mode: str) -> Any:
    if given is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions.")
        return {}
    tensors = given.values() if isinstance(given, dict) else [given]
    for t in tensors:
        if not isinstance(t, Tensor) and not hasattr(t, "_as_tensor") and not _composite(t):
            raise TypeError(f"predictions must be Tensor, given: {t}")
    return given


def _composite(t: Any) -> bool:
    return hasattr(t, "dense_shape")


def _metrics(given: Optional[Mapping[str, Any]]) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {given}")
    for name, metric in given.items():
        pair = isinstance(metric, tuple) and len(metric) == 2
        if not pair and not hasattr(metric, "update_state"):
            raise TypeError(
                "Values of eval_metric_ops must be (metric_value, update_op) tuples, given: "
                f"{metric} for key: {name}"
            )
    return given


def _hooks(given: Any) -> tuple[Any, ...]:
    hooks = tuple(given or ())
    for hook in hooks:
        if not hasattr(hook, "after_run"):
            raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
    return hooks


def _scaffold(given: Any) -> Any:
    if given is not None and not isinstance(given, Scaffold):
        raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {given}")
    return Scaffold() if given is None else given
