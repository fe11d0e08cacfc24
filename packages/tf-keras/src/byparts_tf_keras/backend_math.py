"""`tf.keras.backend`: products, reductions and functions of elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import byparts_frontend_tf as tf
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.backend import ndim
from byparts_tf_keras.state import floatx

# Products


@symbol("keras.backend.dot")
def dot(x: Any, y: Any) -> Any:
    """The product of the last axis of x and the second last of y."""
    ranks = ndim(x), ndim(y)
    if ranks[0] is None or (ranks[0] <= 2 and ranks[1] == 2):
        return tf.matmul(x, y)
    x_dims, y_dims = tf.shape(x), tf.shape(y)
    known, y_known = x.get_shape().as_list(), y.get_shape().as_list()
    axis = max(ranks[1] - 2, 0)
    order = [axis, *[a for a in range(ranks[1]) if a != axis]]
    columns = tf.reshape(tf.transpose(y, order), tf.stack([y_dims[axis], -1]))
    product = tf.matmul(tf.reshape(x, tf.stack([-1, y_dims[axis]])), columns)
    rest = [a for a in range(ranks[1]) if a != axis]
    shape = tf.concat([x_dims[:-1], tf.gather(y_dims, rest)], 0)
    product = tf.reshape(product, shape)
    product.set_shape([*known[:-1], *[y_known[a] for a in rest]])
    return product


@symbol("keras.backend.batch_dot")
def batch_dot(x: Any, y: Any, axes: Any = None) -> Any:
    """For each example the product of an axis of x and an axis of y."""
    ranks = [ndim(x), ndim(y)]
    if axes is None:
        axes = [ranks[0] - 1, ranks[1] - 1 if ranks[1] == 2 else ranks[1] - 2]
    axes = [axes, axes] if isinstance(axes, int) else list(axes)
    axes = [a % r for a, r in zip(axes, ranks, strict=True)]
    if ranks == [2, 2]:
        return tf.reduce_sum(x * y, axis=1, keepdims=True)
    rows = _moved(x, ranks[0], axes[0], last=True)
    columns = _moved(y, ranks[1], axes[1], last=False)
    extents = [_rest(x, ranks[0], axes[0]), _rest(y, ranks[1], axes[1])]
    a = tf.reshape(rows, tf.stack([tf.shape(x)[0], -1, tf.shape(x)[axes[0]]]))
    b = tf.reshape(columns, tf.stack([tf.shape(y)[0], tf.shape(y)[axes[1]], -1]))
    product = tf.matmul(a, b)
    parts = [tf.shape(x)[i] for i in extents[0]] + [tf.shape(y)[i] for i in extents[1]]
    product = tf.reshape(product, tf.stack([tf.shape(x)[0], *parts]))
    known = [x.get_shape().as_list()[i] for i in extents[0]]
    known += [y.get_shape().as_list()[i] for i in extents[1]]
    product.set_shape([x.get_shape().as_list()[0], *known])
    return product


def _rest(x: Any, rank: int, axis: int) -> list[int]:
    return [a for a in range(1, rank) if a != axis]


def _moved(x: Any, rank: int, axis: int, last: bool) -> Any:
    rest = _rest(x, rank, axis)
    return tf.transpose(x, [0, *rest, axis] if last else [0, axis, *rest])


# Functions of elements and axes


def _reduction(function: str) -> Callable[..., Any]:
    def reduce(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        x = convert_to_tensor(x)
        if function in ("reduce_mean", "std", "var") and not x.dtype.is_floating:
            x = tf.cast(x, floatx())
        if function in ("reduce_any", "reduce_all"):
            x = tf.cast(x, tf.bool)
        return getattr(tf, function)(x, axis, keepdims)

    reduce.__doc__ = f"`tf.{function}`."
    return reduce


mean, sum_, prod = _reduction("reduce_mean"), _reduction("reduce_sum"), _reduction("reduce_prod")
max_, min_ = _reduction("reduce_max"), _reduction("reduce_min")
any_, all_ = _reduction("reduce_any"), _reduction("reduce_all")
logsumexp = _reduction("reduce_logsumexp")


@symbol("keras.backend.var")
def var(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The variance."""
    x = tf.cast(x, floatx()) if not x.dtype.is_floating else x
    squares = tf.square(x - tf.reduce_mean(x, axis, keepdims=True))
    return tf.reduce_mean(squares, axis, keepdims)


@symbol("keras.backend.std")
def std(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The deviation."""
    return tf.sqrt(var(x, axis, keepdims))


@symbol("keras.backend.sqrt")
def sqrt(x: Any) -> Any:
    """The root; of negative numbers 0."""
    x = convert_to_tensor(x)
    return tf.sqrt(tf.maximum(x, tf.zeros([], x.dtype)))


@symbol("keras.backend.clip")
def clip(x: Any, min_value: Any, max_value: Any) -> Any:
    """Cut to a range."""
    if isinstance(max_value, (int, float)) and isinstance(min_value, (int, float)):
        max_value = max(min_value, max_value)
    low = -np.inf if min_value is None else min_value
    return tf.clip_by_value(x, low, np.inf if max_value is None else max_value)


@symbol("keras.backend.argmax")
def argmax(x: Any, axis: int = -1) -> Any:
    """The index of the largest element along an axis."""
    return tf.argmax(x, axis)


@symbol("keras.backend.argmin")
def argmin(x: Any, axis: int = -1) -> Any:
    """The index of the smallest element along an axis."""
    return tf.argmin(x, axis)


@symbol("keras.backend.gradients")
def gradients(loss: Any, variables: Any) -> list[Any]:
    """The gradients of a loss."""
    return list(tf.gradients(loss, variables))


_REDUCTIONS = ("mean", "sum_", "prod", "max_", "min_", "any_", "all_", "logsumexp")
SYMBOLS = {f"keras.backend.{name.rstrip('_')}": name for name in _REDUCTIONS}
