"""`tf.contrib.learn.models` and `.ops`: small models of one layer, and numbers of categories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from byparts_frontend_tf.api.initializers import RandomNormal, Zeros
from byparts_frontend_tf.api.losses.losses import mean_squared_error
from byparts_frontend_tf.api.losses.reduction import compute_weighted_loss
from byparts_frontend_tf.api.nn.activations import xw_plus_b
from byparts_frontend_tf.api.nn.embedding import embedding_lookup
from byparts_frontend_tf.api.nn.softmax import softmax, softmax_cross_entropy_with_logits
from byparts_frontend_tf.api.reshape import expand_dims
from byparts_frontend_tf.api.summary.summary import histogram
from byparts_frontend_tf.api.variables.variable_scope import get_variable, variable_scope
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol

Model = Callable[[Any, Any], tuple[Tensor, Tensor]]


def _weights(x: Any, outputs: int, init_mean: Any, init_stddev: float) -> tuple[Any, Any]:
    first = Zeros() if init_mean is None else RandomNormal(init_mean, init_stddev)
    width = x.get_shape().as_list()[1]
    weights = get_variable("weights", [width, outputs], initializer=first, dtype=x.dtype)
    bias = get_variable("bias", [outputs], initializer=first, dtype=x.dtype)
    histogram("weights", weights)
    histogram("bias", bias)
    return weights, bias


@symbol("contrib.learn.models.linear_regression")
def linear_regression(
    x: Any, y: Any, init_mean: Any = None, init_stddev: float = 1.0
) -> tuple[Tensor, Tensor]:
    """A linear function of x, [examples, width], and the mean of its squared errors."""
    with variable_scope("linear_regression"):
        target: Any = y if y.get_shape().ndims != 1 else expand_dims(y, 1)
        weights, bias = _weights(x, target.get_shape().as_list()[1], init_mean, init_stddev)
        predictions = xw_plus_b(x, weights, bias)
        loss: Tensor = mean_squared_error(target, predictions)
        found: Any = predictions
        return (found[:, 0] if y.get_shape().ndims == 1 else predictions), loss


@symbol("contrib.learn.models.logistic_regression")
def logistic_regression(
    x: Any,
    y: Any,
    class_weight: Any = None,
    init_mean: Any = None,
    init_stddev: float = 1.0,
) -> tuple[Tensor, Tensor]:
    """The probabilities of classes, and the cross entropy with one-hot y; x: [examples, width]."""
    with variable_scope("logistic_regression"):
        weights, bias = _weights(x, y.get_shape().as_list()[1], init_mean, init_stddev)
        logits: Any = xw_plus_b(x, weights, bias)
        if class_weight is not None:
            logits = logits * class_weight
        each = softmax_cross_entropy_with_logits(labels=y, logits=logits)
        return softmax(logits), compute_weighted_loss(each)


@symbol("contrib.learn.models.get_linear_model")
def get_linear_model(x: Any, y: Any, **given: Any) -> tuple[Tensor, Tensor]:
    """See `linear_regression`."""
    return linear_regression(x, y, **given)


@symbol("contrib.learn.ops.categorical_variable")
def categorical_variable(tensor_in: Any, n_classes: int, embedding_size: int, name: str) -> Tensor:
    """A vector for each category, of a new table `name`_embeddings."""
    with variable_scope(name):
        table = get_variable(f"{name}_embeddings", [n_classes, embedding_size])
        found: Tensor = embedding_lookup(table, tensor_in)
        return found
