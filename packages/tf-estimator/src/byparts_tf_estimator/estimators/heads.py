"""Gives logits of a ready-made model a meaning: predictions, loss and metrics in each mode."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.gather import gather
from byparts_frontend_tf.api.identity import group
from byparts_frontend_tf.api.losses.reduction import compute_weighted_loss
from byparts_frontend_tf.api.metrics import metrics
from byparts_frontend_tf.api.reshape import expand_dims
from byparts_frontend_tf.api.summary import summary
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import get_collection
from byparts_frontend_tf.symbols import named
from byparts_tf_estimator.columns.column import Batch
from byparts_tf_estimator.columns.vocabularies import (
    Vocabulary,
    categorical_column_with_vocabulary_list,
)
from byparts_tf_estimator.estimators.export_outputs import (
    DEFAULT_KEY,
    ClassificationOutput,
    ExportOutput,
    PredictOutput,
)
from byparts_tf_estimator.estimators.spec import EstimatorSpec, ModeKeys
from byparts_tf_files.dtypes import float32, int64

Minimize = Callable[[Tensor], Any]  # a loss -> an operation that takes a step


class Head(ABC):
    """The meaning of logits.

    Args:
        logits_dimension: of each example.
        weight_column: a feature (or a numeric column) that has a weight for each example.
        reduction: how the losses of a batch become one, of `losses.Reduction`.
        loss_fn: of labels and logits gives the loss of each example.
    """

    def __init__(
        self, logits_dimension: int, weight_column: Any, reduction: str, loss_fn: Any = None
    ) -> None:
        if reduction == "none":
            raise ValueError(f"Invalid loss_reduction: {reduction}")
        self.logits_dimension, self.weight_column = logits_dimension, weight_column
        self.reduction, self.loss_fn = reduction, loss_fn

    @abstractmethod
    def labels(self, given: Any) -> Tensor:
        """Labels of the shape and dtype that the loss takes.

        Raises:
            ValueError: they are of another shape.
        """

    @abstractmethod
    def each_loss(self, labels: Tensor, logits: Tensor) -> Tensor:
        """The loss of each example, [examples, 1]."""

    @abstractmethod
    def predictions(self, logits: Tensor) -> dict[str, Tensor]:
        """The predictions of a model, by name."""

    @abstractmethod
    def outputs(self, predictions: Mapping[str, Tensor]) -> dict[str, ExportOutput]:
        """The outputs of a saved model, by key."""

    @abstractmethod
    def more_metrics(
        self, labels: Tensor, predictions: Mapping[str, Tensor], weights: Any
    ) -> dict[str, Any]:
        """Metrics besides the average loss."""

    def weights(self, features: Any) -> Any:
        """A weight for each example, [examples, 1]; 1 where there are none."""
        column = self.weight_column
        if column is None:
            return 1.0
        if isinstance(column, str):
            return cast(Batch(features).raw(column), float32)
        return column.dense(Batch(features), False, None)

    def spec(
        self, features: Any, mode: str, logits: Any, labels: Any, minimize: Optional[Minimize]
    ) -> EstimatorSpec:
        """The answer of a model function.

        Raises:
            ValueError: labels are missing, or the logits have another last dimension.
        """
        found = self.predictions(_checked_logits(logits, self.logits_dimension))
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(mode, predictions=found, export_outputs=self.outputs(found))
        if labels is None:
            raise ValueError(
                "You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: "
                "Check that your data contain your label feature. Check that your input_fn "
                "properly parses and returns labels."
            )
        targets = self.labels(labels)
        weights = self.weights(features)
        each = self.each_loss(targets, logits)
        loss = compute_weighted_loss(each, weights, reduction=self.reduction)
        if mode == ModeKeys.EVAL:
            measures = {"average_loss": metrics.mean(each, _plain(weights))}
            measures.update(self.more_metrics(targets, found, _plain(weights)))
            return EstimatorSpec(mode, predictions=found, loss=loss, eval_metric_ops=measures)
        summary.scalar("loss", loss)
        if minimize is None:
            raise ValueError("train_op_fn and optimizer cannot both be None.")
        step = minimize(loss)
        updates = get_collection(GraphKeys.UPDATE_OPS)
        return EstimatorSpec(
            mode, predictions=found, loss=loss, train_op=group(step, *updates) if updates else step
        )


def _plain(weights: Any) -> Any:
    return None if isinstance(weights, float) else weights


def _checked_logits(logits: Tensor, dimension: int) -> Tensor:
    dims = logits.get_shape().as_list()
    if dims[-1] not in (None, dimension):
        raise ValueError(f"logits shape must be [D0, ..., {dimension}], got {dims}.")
    return logits


def column_of_labels(labels: Any, dimension: int) -> Tensor:
    """Labels as [examples, dimension].

    Raises:
        ValueError: they have another last dimension.
    """
    if isinstance(labels, Mapping):
        raise ValueError(f"labels must be a tensor, and is a dict of {list(labels)}")
    found = convert_to_tensor(labels)
    dims = found.get_shape()
    if dims.ndims == 1:
        found = expand_dims(found, -1)
    if dims.ndims not in (None, 1) and dims[-1].value not in (None, dimension):
        raise ValueError(
            "Mismatched label shape. Expected labels dimension="
            f"{dimension}.  Received {dims[-1].value}. Suggested Fix:If your classifier expects "
            "one-hot encoding label,check your n_classes argument to the estimator and/or the "
            "shape of your label. Otherwise, check the shape of your label."
        )
    return found


class Words:
    """Names of classes.

    Args:
        n_classes: how many classes there are.
        vocabulary: their names, or `None`: their numbers.
    """

    def __init__(self, n_classes: int, vocabulary: Any) -> None:
        self.n_classes, self.vocabulary = n_classes, vocabulary
        if vocabulary is not None and not isinstance(vocabulary, (list, tuple)):
            raise ValueError(
                f"label_vocabulary should be a list or a tuple. Given type: {type(vocabulary)}"
            )
        words = vocabulary or [str(i) for i in range(n_classes)]
        self.names = [w.encode() if isinstance(w, str) else w for w in words]

    def numbers(self, labels: Tensor) -> Tensor:
        """The class of each label."""
        if self.vocabulary is None:
            if not labels.dtype.is_integer:
                raise ValueError(
                    f"Labels dtype should be integer. Instead got {labels.dtype.name}."
                )
            made: Tensor = cast(labels, int64)
            return made
        column: Vocabulary = categorical_column_with_vocabulary_list("label", self.vocabulary)
        return Batch({"label": labels}).ids(column).ids

    def of(self, classes: Tensor) -> Tensor:
        """The names of classes."""
        return gather(convert_to_tensor(self.names), classes)


def outputs_of_classes(predictions: Mapping[str, Tensor], words: Words) -> dict[str, ExportOutput]:
    """The outputs of a saved classifier, by key."""
    scores = predictions["probabilities"]
    names = named("tile")(convert_to_tensor([words.names]), [named("shape")(scores)[0], 1])
    classify = ClassificationOutput(scores, names)
    return {
        DEFAULT_KEY: classify,
        "classification": classify,
        "predict": PredictOutput(predictions),
    }
