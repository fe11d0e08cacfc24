"""The logits of ready-made models, with TensorFlow's names of variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.initializers import GlorotUniform, Zeros
from byparts_frontend_tf.api.nn.activations import zero_fraction
from byparts_frontend_tf.api.reshape import expand_dims
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.summary import summary
from byparts_frontend_tf.api.tile import tile
from byparts_frontend_tf.api.variables.variable_scope import get_variable, variable_scope
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import named
from byparts_tf_estimator.columns.layer import input_layer, linear_model
from byparts_tf_estimator.estimators.spec import ModeKeys
from byparts_tf_keras.layers.layers import batch_normalization, dense, dropout


class Network:
    """Dense layers over an input layer.

    Args:
        units: of each layer.
        columns: dense columns.
        activation: of the layers.
        dropout: the share that is dropped in training.
        norm: whether layers are normalized.
    """

    def __init__(
        self,
        units: Sequence[int],
        columns: Any,
        activation: Any,
        dropout: Optional[float],
        norm: bool,
    ) -> None:
        self._units, self._columns, self._activation = list(units), columns, activation
        self._dropout, self._norm = dropout, norm

    def __call__(self, features: Any, mode: str, count: int) -> Tensor:
        """[examples, count]."""
        training = mode == ModeKeys.TRAIN
        with variable_scope("input_from_feature_columns"):
            x: Any = input_layer(features, self._columns)
        for i, units in enumerate(self._units):
            name = f"hiddenlayer_{i}"
            x = self._dense(x, units, self._activation, name)
            if self._dropout is not None and training:
                x = dropout(x, rate=self._dropout, training=True)
            if self._norm:
                x = batch_normalization(x, momentum=0.999, training=training, name=f"batchnorm_{i}")
            _summarize(x, name)
        made = self._dense(x, count, None, "logits")
        _summarize(made, "logits")
        return made

    def _dense(self, x: Any, units: int, activation: Any, name: str) -> Tensor:
        first = GlorotUniform()
        made: Tensor = dense(x, units, activation=activation, kernel_initializer=first, name=name)
        return made


def _summarize(x: Tensor, name: str) -> None:
    summary.scalar(f"{name}/fraction_of_zero_values", zero_fraction(x))
    summary.histogram(f"{name}/activation", x)


class Linear:
    """A linear model of columns."""

    def __init__(self, columns: Any, combiner: str) -> None:
        self._columns, self._combiner = columns, combiner

    def __call__(self, features: Any, mode: str, count: int) -> Tensor:
        """[examples, count]."""
        made: dict[Any, Any] = {}
        logits = linear_model(features, self._columns, count, self._combiner, cols_to_vars=made)
        (bias,) = made.pop("bias")
        if count > 1:
            summary.histogram("bias", bias)
        else:
            summary.scalar("bias", bias[0])
        weights = [named("reshape")(v, [-1]) for some in made.values() for v in some]
        zeros = zero_fraction(named("concat")(weights, 0))
        summary.scalar("fraction_of_zero_weights", zeros)
        return logits


class Baseline:
    """A bias for all examples."""

    def __call__(self, features: Any, mode: str, count: int) -> Tensor:
        """[examples, count]."""
        bias = get_variable("bias", shape=[count], initializer=Zeros())
        first = next(iter(features.values()))
        examples = shape_of(first)[0]
        return tile(expand_dims(bias, 0), [examples, 1])
