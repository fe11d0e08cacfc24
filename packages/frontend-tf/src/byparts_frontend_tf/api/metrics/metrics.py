"""`tf.metrics`: values over all batches so far, in local variables.

Each gives (the value, an operation that takes a batch into account and gives the value after it).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.constant import ones_like, zeros
from byparts_frontend_tf.api.family import family
from byparts_frontend_tf.api.identity import identity
from byparts_frontend_tf.api.math.binary import divide, equal, logical_and, multiply
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.api.math.unary import absolute, logical_not, sqrt, square
from byparts_frontend_tf.api.reshape import squeeze
from byparts_frontend_tf.api.variables.variable_scope import variable_scope
from byparts_frontend_tf.api.variables.variables import Variable, assign_add
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import add_to_collection, control_dependencies
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import bool_, float32

Metric = tuple[Tensor, Tensor]


@symbol("python.ops.metrics_impl.metric_variable")
def metric_variable(
    shape: Any, dtype: Any, validate_shape: bool = True, name: Optional[str] = None
) -> Variable:
    """A variable of zeros that is neither trained nor saved."""
    keys = [GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES]
    return Variable(
        lambda: zeros(shape, dtype),
        trainable=False,
        collections=keys,
        validate_shape=validate_shape,
        name=name,
        dtype=dtype,
    )


def ratio(total: Any, count: Any, name: str) -> Tensor:
    """total / count; 0 where the count is."""
    some = count > 0
    return where(some, divide(total, where(some, count, ones_like(count))), 0.0 * total, name=name)


def tracked(
    parts: Sequence[tuple[str, Tensor]], value: Callable[..., Tensor]
) -> tuple[Tensor, Tensor]:
    """The value of sums over batches, and what adds these parts of a batch to them.

    Args:
        parts: the names of variables, and what is added to each, of the shape it has.
        value: (*sums, name) -> the value.
    """
    sums = [metric_variable(p.shape, p.dtype.base_dtype, name=name) for name, p in parts]
    updates = [assign_add(v, p) for v, (_, p) in zip(sums, parts, strict=True)]
    now = value(*[identity(v) for v in sums], "value")
    with control_dependencies(updates):
        after = value(*[identity(u) for u in updates], "update_op")
    return now, after


def collected(made: Metric, metrics: Any, updates: Any) -> Metric:
    """A metric, added to these collections."""
    for key, t in ((metrics, made[0]), (updates, made[1])):
        for name in [key] if isinstance(key, str) else key or ():
            add_to_collection(name, t)
    return made


def weighted(values: Tensor, weights: Any) -> tuple[Tensor, Tensor]:
    """Values times weights, and the weights in the shape of the values."""
    if weights is None:
        return values, ones_like(values)
    w = cast(convert_to_tensor(weights), float32)
    if w.dims is not None and values.dims is not None and len(w.dims) > len(values.dims):
        w = squeeze(w, [-1])
    return multiply(values, w), multiply(ones_like(values), w)


@family
def metric(
    compute: Callable[[], Metric],
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: Optional[str] = None,
) -> Metric:
    """A metric, which is added to collections; `name` is that of its scope."""
    return collected(compute(), metrics_collections, updates_collections)


@symbol("metrics.mean")
@metric
def mean(values: Any, weights: Any = None, *, name: Optional[str]) -> Metric:
    """The mean of all values, weighted."""
    with variable_scope(name, "mean", [values]):
        x = cast(convert_to_tensor(values), float32)
        total, count = weighted(x, weights)
        return tracked([("total", reduce_sum(total)), ("count", reduce_sum(count))], ratio)


def alike(labels: Any, predictions: Any) -> tuple[Tensor, Tensor]:
    """Both in one shape: a last axis of one element is left out."""
    y, x = convert_to_tensor(labels), convert_to_tensor(predictions)
    if y.dims is not None and x.dims is not None:
        more = len(y.dims) - len(x.dims)
        y = squeeze(y, [-1]) if more == 1 else y
        x = squeeze(x, [-1]) if more == -1 else x
    x.shape.assert_is_compatible_with(y.shape)
    return y, x


@symbol("metrics.accuracy")
@metric
def accuracy(labels: Any, predictions: Any, weights: Any = None, *, name: Optional[str]) -> Metric:
    """Share of the predictions that equal their labels."""
    y, x = alike(labels, predictions)
    y = cast(y, x.dtype.base_dtype)
    right = cast(equal(x, y), float32)
    return mean(right, weights, name=name or "accuracy")


@symbol("metrics.mean_squared_error")
@metric
def mean_squared_error(
    labels: Any, predictions: Any, weights: Any = None, *, name: Optional[str]
) -> Metric:
    """The mean of the squares of differences."""
    y, x = alike(labels, predictions)
    errors = square(cast(x, float32) - cast(y, float32))
    return mean(errors, weights, name=name or "mean_squared_error")


@symbol("metrics.root_mean_squared_error")
@metric
def root_mean_squared_error(
    labels: Any, predictions: Any, weights: Any = None, *, name: Optional[str]
) -> Metric:
    """The root of `mean_squared_error`."""
    scope = name or "root_mean_squared_error"
    value, update = mean_squared_error(labels, predictions, weights, name=scope)
    return sqrt(value), sqrt(update)


@symbol("metrics.mean_absolute_error")
@metric
def mean_absolute_error(
    labels: Any, predictions: Any, weights: Any = None, *, name: Optional[str]
) -> Metric:
    """The mean of the differences without signs."""
    y, x = alike(labels, predictions)
    errors = absolute(cast(x, float32) - cast(y, float32))
    return mean(errors, weights, name=name or "mean_absolute_error")


def kinds_of(labels: Any, predictions: Any) -> dict[str, Tensor]:
    """Masks of the elements that are true or false positives or negatives."""
    y, x = (cast(t, bool_) for t in alike(labels, predictions))
    return {
        "true_positives": logical_and(y, x),
        "false_positives": logical_and(logical_not(y), x),
        "false_negatives": logical_and(y, logical_not(x)),
        "true_negatives": logical_and(logical_not(y), logical_not(x)),
    }


def _of_two(
    kinds: tuple[str, str],
    labels: Any,
    predictions: Any,
    weights: Any,
    name: Optional[str],
    scope: str,
) -> Metric:
    """first / (first + second), of counts."""
    with variable_scope(name, scope, [labels, predictions]):
        a, b = (_COUNTS[kind](labels, predictions, weights) for kind in kinds)
        return ratio(a[0], a[0] + b[0], "value"), ratio(a[1], a[1] + b[1], "update_op")


@symbol("metrics.precision")
@metric
def precision(labels: Any, predictions: Any, weights: Any = None, *, name: Optional[str]) -> Metric:
    """Share of true positives among the elements that are predicted to be positive."""
    kinds = "true_positives", "false_positives"
    return _of_two(kinds, labels, predictions, weights, name, "precision")


@symbol("metrics.recall")
@metric
def recall(labels: Any, predictions: Any, weights: Any = None, *, name: Optional[str]) -> Metric:
    """Share of true positives among the elements that are positive."""
    kinds = "true_positives", "false_negatives"
    return _of_two(kinds, labels, predictions, weights, name, "recall")


def _count(kind: str) -> Callable[..., Metric]:
    def counted(
        labels: Any, predictions: Any, weights: Any = None, *, name: Optional[str]
    ) -> Metric:
        with variable_scope(name, kind, [labels, predictions]):
            part = weighted(cast(kinds_of(labels, predictions)[kind], float32), weights)[0]
            return tracked([("count", reduce_sum(part))], lambda a, n: identity(a, name=n))

    counted.__name__, counted.__doc__ = kind, f"How many {kind.replace('_', ' ')} there are."
    return metric(counted)


true_positives, false_positives = _count("true_positives"), _count("false_positives")
true_negatives, false_negatives = _count("true_negatives"), _count("false_negatives")
_COUNTS = {
    "true_positives": true_positives,
    "false_positives": false_positives,
    "true_negatives": true_negatives,
    "false_negatives": false_negatives,
}
SYMBOLS = {f"metrics.{name}": name for name in _COUNTS}
