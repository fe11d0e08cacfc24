"""The heads of ready-made models: two classes, many classes, numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.constant import constant, zeros_like
from byparts_frontend_tf.api.losses.reduction import Reduction
from byparts_frontend_tf.api.math.binary import maximum
from byparts_frontend_tf.api.math.reduce import argmax
from byparts_frontend_tf.api.math.unary import sigmoid, square
from byparts_frontend_tf.api.metrics import metrics
from byparts_frontend_tf.api.nn.softmax import (
    sigmoid_cross_entropy_with_logits,
    softmax,
    sparse_softmax_cross_entropy_with_logits,
)
from byparts_frontend_tf.api.reshape import expand_dims, squeeze
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.tile import tile
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import named
from byparts_tf_estimator.estimators.export_outputs import (
    DEFAULT_KEY,
    ExportOutput,
    PredictOutput,
    RegressionOutput,
)
from byparts_tf_estimator.estimators.heads import Head, Words, column_of_labels, outputs_of_classes
from byparts_tf_files.dtypes import float32


class ManyClasses(Head):
    """A head that chooses among `n_classes` >= 3 by softmax."""

    def __init__(
        self,
        n_classes: int,
        weight_column: Any,
        vocabulary: Any,
        reduction: str,
        loss_fn: Any = None,
    ) -> None:
        super().__init__(n_classes, weight_column, reduction, loss_fn)
        self._words = Words(n_classes, vocabulary)

    def labels(self, given: Any) -> Tensor:
        """The class of each example, [examples, 1]."""
        return self._words.numbers(column_of_labels(given, 1))

    def each_loss(self, labels: Tensor, logits: Tensor) -> Tensor:
        """The cross entropy."""
        if self.loss_fn is not None:
            return self.loss_fn(labels=labels, logits=logits)  # type: ignore[no-any-return]
        classes = squeeze(labels, [-1])
        return expand_dims(
            sparse_softmax_cross_entropy_with_logits(labels=classes, logits=logits), -1
        )

    def predictions(self, logits: Tensor) -> dict[str, Tensor]:
        """Probabilities and the most likely class, by number and name."""
        classes = expand_dims(argmax(logits, axis=-1), -1)
        return {
            "logits": logits,
            "probabilities": softmax(logits, name="probabilities"),
            "class_ids": classes,
            "classes": self._words.of(classes),
            **all_classes(self._words, logits),
        }

    def outputs(self, predictions: Mapping[str, Tensor]) -> dict[str, ExportOutput]:
        """Scores of all classes."""
        return outputs_of_classes(predictions, self._words)

    def more_metrics(
        self, labels: Tensor, predictions: Mapping[str, Tensor], weights: Any
    ) -> dict[str, Any]:
        """The share of examples whose class is right."""
        return {"accuracy": metrics.accuracy(labels, predictions["class_ids"], weights)}


def all_classes(words: Words, logits: Tensor) -> dict[str, Tensor]:
    """All classes for each example, by number and name."""
    count = [shape_of(logits)[0], 1]
    numbers = constant([list(range(words.n_classes))], "int32")
    return {
        "all_class_ids": tile(numbers, count),
        "all_classes": tile(constant([words.names]), count),
    }


class TwoClasses(Head):
    """A head that chooses between two classes by the logistic function."""

    def __init__(
        self, weight_column: Any, vocabulary: Any, reduction: str, loss_fn: Any = None
    ) -> None:
        super().__init__(1, weight_column, reduction, loss_fn)
        self._words = Words(2, vocabulary)
        self._vocabulary = vocabulary

    def labels(self, given: Any) -> Tensor:
        """0. or 1. for each example, [examples, 1]."""
        found = column_of_labels(given, 1)
        if self._vocabulary is not None:
            found = self._words.numbers(found)
        made: Tensor = cast(found, float32)
        return made

    def each_loss(self, labels: Tensor, logits: Tensor) -> Tensor:
        """The cross entropy."""
        if self.loss_fn is not None:
            return self.loss_fn(labels=labels, logits=logits)  # type: ignore[no-any-return]
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def predictions(self, logits: Tensor) -> dict[str, Tensor]:
        """Probabilities and the more likely class, by number and name."""
        two = concat([zeros_like(logits), logits], -1)
        classes = expand_dims(argmax(two, axis=-1), -1)
        return {
            "logits": logits,
            "logistic": sigmoid(logits, name="logistic"),
            "probabilities": softmax(two, name="probabilities"),
            "class_ids": classes,
            "classes": self._words.of(classes),
            **all_classes(self._words, logits),
        }

    def outputs(self, predictions: Mapping[str, Tensor]) -> dict[str, ExportOutput]:
        """Scores of both classes, and the probability of the second as a number."""
        made = outputs_of_classes(predictions, self._words)
        return {**made, "regression": RegressionOutput(predictions["logistic"])}

    def more_metrics(
        self, labels: Tensor, predictions: Mapping[str, Tensor], weights: Any
    ) -> dict[str, Any]:
        """Accuracy, precision, recall, areas below curves, means."""
        classes, probability = predictions["class_ids"], predictions["logistic"]
        label_mean = metrics.mean(labels, weights)
        auc = named("metrics.auc")
        return {
            "accuracy": metrics.accuracy(labels, classes, weights),
            "precision": metrics.precision(labels, classes, weights),
            "recall": metrics.recall(labels, classes, weights),
            "prediction/mean": metrics.mean(probability, weights),
            "label/mean": label_mean,
            "accuracy_baseline": tuple([maximum(m, 1.0 - m) for m in label_mean]),
            "auc": auc(labels, probability, weights),
            "auc_precision_recall": auc(labels, probability, weights, curve="PR"),
        }


class Numbers(Head):
    """Numbers, by the square of the error."""

    def __init__(
        self, label_dimension: int, weight_column: Any, reduction: str, loss_fn: Any = None
    ) -> None:
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        super().__init__(label_dimension, weight_column, reduction, loss_fn)

    def labels(self, given: Any) -> Tensor:
        """Numbers for each example."""
        made: Tensor = cast(column_of_labels(given, self.logits_dimension), float32)
        return made

    def each_loss(self, labels: Tensor, logits: Tensor) -> Tensor:
        """The square of each error."""
        if self.loss_fn is not None:
            return self.loss_fn(labels=labels, logits=logits)  # type: ignore[no-any-return]
        return square(logits - labels)

    def predictions(self, logits: Tensor) -> dict[str, Tensor]:
        """The numbers."""
        return {"predictions": logits}

    def outputs(self, predictions: Mapping[str, Tensor]) -> dict[str, ExportOutput]:
        """The numbers."""
        numbers = RegressionOutput(predictions["predictions"])
        return {
            DEFAULT_KEY: numbers,
            "regression": numbers,
            "predict": PredictOutput(predictions),
        }

    def more_metrics(
        self, labels: Tensor, predictions: Mapping[str, Tensor], weights: Any
    ) -> dict[str, Any]:
        """The means of predictions and labels."""
        return {
            "prediction/mean": metrics.mean(predictions["predictions"], weights),
            "label/mean": metrics.mean(labels, weights),
        }


def classes_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = Reduction.SUM,
) -> Head:
    """The head of a classifier.

    Raises:
        ValueError: there are fewer than two classes.
    """
    if n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}")
    if n_classes == 2:
        return TwoClasses(weight_column, label_vocabulary, loss_reduction)
    return ManyClasses(n_classes, weight_column, label_vocabulary, loss_reduction)
