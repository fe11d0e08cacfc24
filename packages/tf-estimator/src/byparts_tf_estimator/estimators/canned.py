"""Ready-made estimators: networks of dense layers, linear models, both together, baselines."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.losses.reduction import Reduction
from byparts_frontend_tf.api.nn.relu import relu
from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.estimators.estimator import Estimator
from byparts_tf_estimator.estimators.head_kinds import Numbers, classes_head
from byparts_tf_estimator.estimators.heads import Head
from byparts_tf_estimator.estimators.logits import Linear, Network
from byparts_tf_estimator.estimators.steps import Part, minimizing, optimizer_of

SUM = Reduction.SUM
_DNN_RATE, _LINEAR_RATE = 0.05, 0.2


def model_of(head: Head, parts: Sequence[Part]) -> Callable[..., Any]:
    """A model function: the logits of the parts added up, and a head."""

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        if not isinstance(features, dict):
            raise ValueError(
                f"features should be a dictionary of `Tensor`s. Given type: {type(features)}"
            )
        made = [part.logits(features, mode, head.logits_dimension) for part in parts]
        total = made[0] if len(made) == 1 else made[0] + made[1]
        return head.spec(features, mode, total, labels, minimizing(parts))

    return model_fn


def network_part(
    units: Any, columns: Any, optimizer: Any, activation: Any, dropout: Any, norm: bool
) -> Part:
    """A network as a part of a model."""
    given = Network(units, columns, activation, dropout, norm)
    return Part(given, optimizer_of(optimizer, _DNN_RATE), "dnn")


def linear_part(columns: Any, optimizer: Any, combiner: str, most: float = _LINEAR_RATE) -> Part:
    """A linear model as a part of a model; its rate is at most `most`."""
    given = list(columns)
    rate = min(most, 1.0 / math.sqrt(len(given)))
    return Part(Linear(given, combiner), optimizer_of(optimizer, rate), "linear")


@symbol("estimator.DNNClassifier")
class DNNClassifier(Estimator):
    """Dense layers, and classes.

    Args:
        hidden_units: of each layer.
        feature_columns: dense columns.
        model_dir: of checkpoints.
        n_classes: how many.
        weight_column: a feature with a weight for each example.
        label_vocabulary: the names of the classes, where labels are names.
        optimizer: a name, an instance, or a function that makes one.
        activation_fn: of the layers.
        dropout: the share of activations that are dropped in training.
        input_layer_partitioner: accepted.
        config: a `RunConfig`.
        warm_start_from: a checkpoint, or settings.
        loss_reduction: of `tf.losses.Reduction`.
        batch_norm: whether layers are normalized.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = relu,
        dropout: Optional[float] = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM,
        batch_norm: bool = False,
    ) -> None:
        head = classes_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        part = network_part(
            hidden_units, feature_columns, optimizer, activation_fn, dropout, batch_norm
        )
        super().__init__(model_of(head, [part]), model_dir, config, None, warm_start_from)


@symbol("estimator.DNNRegressor")
class DNNRegressor(Estimator):
    """Dense layers, and numbers: `label_dimension` for each example.  See `DNNClassifier`."""

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = relu,
        dropout: Optional[float] = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM,
        batch_norm: bool = False,
    ) -> None:
        head = Numbers(label_dimension, weight_column, loss_reduction)
        part = network_part(
            hidden_units, feature_columns, optimizer, activation_fn, dropout, batch_norm
        )
        super().__init__(model_of(head, [part]), model_dir, config, None, warm_start_from)


@symbol("estimator.DNNEstimator", "contrib.estimator.DNNEstimator")
class DNNEstimator(Estimator):
    """Dense layers, and a head.  See `DNNClassifier`."""

    def __init__(
        self,
        head: Head,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = relu,
        dropout: Optional[float] = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        batch_norm: bool = False,
    ) -> None:
        part = network_part(
            hidden_units, feature_columns, optimizer, activation_fn, dropout, batch_norm
        )
        super().__init__(model_of(head, [part]), model_dir, config, None, warm_start_from)


@symbol("estimator.LinearClassifier")
class LinearClassifier(Estimator):
    """A linear model, and classes.

    Args:
        feature_columns: of any kind.
        model_dir: of checkpoints.
        n_classes: how many.
        weight_column: a feature with a weight for each example.
        label_vocabulary: the names of the classes, where labels are names.
        optimizer: a name, an instance, or a function that makes one.
        config: a `RunConfig`.
        partitioner: accepted.
        warm_start_from: a checkpoint, or settings.
        loss_reduction: of `tf.losses.Reduction`.
        sparse_combiner: of the weights of several categories.
    """

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        head = classes_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        part = linear_part(feature_columns, optimizer, sparse_combiner)
        super().__init__(model_of(head, [part]), model_dir, config, None, warm_start_from)


@symbol("estimator.LinearRegressor")
class LinearRegressor(Estimator):
    """A linear model, and numbers: `label_dimension` for each example.  See `LinearClassifier`."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        head = Numbers(label_dimension, weight_column, loss_reduction)
        part = linear_part(feature_columns, optimizer, sparse_combiner)
        super().__init__(model_of(head, [part]), model_dir, config, None, warm_start_from)


@symbol("estimator.LinearEstimator", "contrib.estimator.LinearEstimator")
class LinearEstimator(Estimator):
    """A linear model, and a head.  See `LinearClassifier`."""

    def __init__(
        self,
        head: Head,
        feature_columns: Any,
        model_dir: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        sparse_combiner: str = "sum",
        warm_start_from: Any = None,
    ) -> None:
        part = linear_part(feature_columns, optimizer, sparse_combiner)
        super().__init__(model_of(head, [part]), model_dir, config, None, warm_start_from)
