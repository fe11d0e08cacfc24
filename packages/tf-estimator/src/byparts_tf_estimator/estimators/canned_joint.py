"""Ready-made estimators: a linear model and a network together, and baselines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.nn.relu import relu
from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.estimators.canned import SUM, linear_part, model_of, network_part
from byparts_tf_estimator.estimators.estimator import Estimator
from byparts_tf_estimator.estimators.head_kinds import Numbers, classes_head
from byparts_tf_estimator.estimators.logits import Baseline
from byparts_tf_estimator.estimators.steps import Part, optimizer_of

_JOINT_LINEAR_RATE, _BASELINE_RATE = 0.005, 0.3


def _joint(
    linear_columns: Any,
    linear_optimizer: Any,
    dnn_columns: Any,
    dnn_optimizer: Any,
    units: Any,
    how: tuple[Any, ...],
    combiner: str,
) -> list[Part]:
    """The parts of a linear model and a network, one of which may be missing.

    Raises:
        ValueError: both are missing, or a network has no layers.
    """
    if not linear_columns and not dnn_columns:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    if dnn_columns and not units:
        raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
    parts = []
    if dnn_columns:
        parts.append(network_part(units, dnn_columns, dnn_optimizer, *how))
    if linear_columns:
        parts.append(linear_part(linear_columns, linear_optimizer, combiner, _JOINT_LINEAR_RATE))
    return parts


@symbol("estimator.DNNLinearCombinedClassifier")
class DNNLinearCombinedClassifier(Estimator):
    """A linear model and a network whose logits are added, and classes.

    The arguments are those of `LinearClassifier` and `DNNClassifier`.
    """

    def __init__(
        self,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Optional[Sequence[int]] = None,
        dnn_activation_fn: Any = relu,
        dnn_dropout: Optional[float] = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        head = classes_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        linear, dnn = (
            (linear_feature_columns, linear_optimizer),
            (dnn_feature_columns, dnn_optimizer),
        )
        how = dnn_activation_fn, dnn_dropout, batch_norm
        parts = _joint(*linear, *dnn, dnn_hidden_units, how, linear_sparse_combiner)
        super().__init__(model_of(head, parts), model_dir, config, None, warm_start_from)


@symbol("estimator.DNNLinearCombinedRegressor")
class DNNLinearCombinedRegressor(Estimator):
    """A linear model and a network whose outputs are added.

    The arguments are those of `LinearRegressor` and `DNNRegressor`.
    """

    def __init__(
        self,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Optional[Sequence[int]] = None,
        dnn_activation_fn: Any = relu,
        dnn_dropout: Optional[float] = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        head = Numbers(label_dimension, weight_column, loss_reduction)
        linear, dnn = (
            (linear_feature_columns, linear_optimizer),
            (dnn_feature_columns, dnn_optimizer),
        )
        how = dnn_activation_fn, dnn_dropout, batch_norm
        parts = _joint(*linear, *dnn, dnn_hidden_units, how, linear_sparse_combiner)
        super().__init__(model_of(head, parts), model_dir, config, None, warm_start_from)


@symbol("estimator.BaselineClassifier")
class BaselineClassifier(Estimator):
    """Classes by how often they are, whatever the features."""

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = SUM,
    ) -> None:
        head = classes_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        part = Part(Baseline(), optimizer_of(optimizer, _BASELINE_RATE), "baseline")
        super().__init__(model_of(head, [part]), model_dir, config)


@symbol("estimator.BaselineRegressor")
class BaselineRegressor(Estimator):
    """The mean of the labels, whatever the features."""

    def __init__(
        self,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = SUM,
    ) -> None:
        part = Part(Baseline(), optimizer_of(optimizer, _BASELINE_RATE), "baseline")
        head = Numbers(label_dimension, weight_column, loss_reduction)
        super().__init__(model_of(head, [part]), model_dir, config)
