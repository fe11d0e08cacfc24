"""`tf.keras.backend`: functions of tensors under Keras's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import numpy as np

import byparts_frontend_tf as tf
from byparts_frontend_tf.graph.composites import SparseTensor
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.keras_api.pooling import repeated
from byparts_frontend_tf.keras_api.state import floatx, track_variable
from byparts_frontend_tf.symbols import symbol


@symbol("keras.backend.variable")
def variable(
    value: Any, dtype: Any = None, name: Optional[str] = None, constraint: Any = None
) -> Any:
    """A variable that Keras initializes."""
    made = tf.Variable(
        value,
        dtype=tf.as_dtype(dtype or floatx()),
        name=name,
        constraint=constraint,
        use_resource=True,
    )
    track_variable(made)
    return made


@symbol("keras.backend.placeholder")
def placeholder(
    shape: Any = None,
    ndim: Optional[int] = None,
    dtype: Any = None,
    sparse: bool = False,
    name: Optional[str] = None,
) -> Any:
    """A placeholder of a shape, or of so many axes."""
    if shape is None and ndim:
        shape = (None,) * ndim
    make = tf.sparse_placeholder if sparse else tf.placeholder
    return make(dtype or floatx(), shape, name=name)


@symbol("keras.backend.constant")
def constant(value: Any, dtype: Any = None, shape: Any = None, name: Optional[str] = None) -> Any:
    """A constant, of the dtype of weights by default."""
    return tf.constant(value, dtype or floatx(), shape, name=name or "Const")


@symbol("keras.backend.is_keras_tensor")
def is_keras_tensor(x: Any) -> bool:
    """Whether a layer made it.

    Raises:
        ValueError: it is no tensor.
    """
    if not isinstance(x, (Tensor, tf.Variable, SparseTensor)):
        raise ValueError(
            f"Unexpectedly found an instance of type `{type(x)}`. Expected a symbolic tensor "
            "instance."
        )
    return hasattr(x, "_keras_history")


@symbol("keras.backend.is_sparse")
def is_sparse(tensor: Any) -> bool:
    """Whether it is a sparse tensor."""
    return isinstance(tensor, SparseTensor)


@symbol("keras.backend.to_dense")
def to_dense(tensor: Any) -> Any:
    """A sparse tensor as a dense one."""
    return tf.sparse_tensor_to_dense(tensor) if is_sparse(tensor) else tensor


@symbol("keras.backend.int_shape")
def int_shape(x: Any) -> Any:
    """The static shape: a tuple of numbers and `None`; `None` if nothing is known."""
    shape = getattr(x, "_keras_shape", None) or x.get_shape()
    return None if shape.ndims is None else tuple(shape.as_list())


@symbol("keras.backend.ndim")
def ndim(x: Any) -> Any:
    """The number of axes."""
    return x.get_shape().ndims


@symbol("keras.backend.dtype")
def dtype(x: Any) -> str:
    """The name of the dtype."""
    return str(x.dtype.base_dtype.name)


@symbol("keras.backend.count_params")
def count_params(x: Any) -> int:
    """How many numbers a variable has."""
    return int(np.prod(x.get_shape().as_list()))


@symbol("keras.backend.cast")
def cast(x: Any, dtype: Any) -> Any:
    """Of another dtype."""
    return tf.cast(x, dtype)


@symbol("keras.backend.cast_to_floatx")
def cast_to_floatx(x: Any) -> Any:
    """An array or tensor of the dtype of weights."""
    return tf.cast(x, floatx()) if isinstance(x, Tensor) else np.asarray(x, dtype=floatx())


def _filled(value: float) -> Callable[..., Any]:
    def make(shape: Any, dtype: Any = None, name: Optional[str] = None) -> Any:
        kind = tf.as_dtype(dtype or floatx())
        if any(isinstance(n, Tensor) for n in shape):
            return tf.fill(shape, tf.constant(value, kind))
        return variable(np.full(tuple(shape), value), kind, name)

    return make


zeros, ones = _filled(0.0), _filled(1.0)


@symbol("keras.backend.eye")
def eye(size: int, dtype: Any = None, name: Optional[str] = None) -> Any:
    """The identity matrix as a variable."""
    return variable(np.eye(size), dtype, name)


@symbol("keras.backend.zeros_like")
def zeros_like(x: Any, dtype: Any = None, name: Optional[str] = None) -> Any:
    """Zeros in the shape of a tensor."""
    return tf.zeros_like(x, dtype=dtype, name=name)


@symbol("keras.backend.ones_like")
def ones_like(x: Any, dtype: Any = None, name: Optional[str] = None) -> Any:
    """Ones in the shape of a tensor."""
    return tf.ones_like(x, dtype=dtype, name=name)


@symbol("keras.backend.random_uniform_variable")
def random_uniform_variable(
    shape: Any, low: float, high: float, dtype: Any = None, name: Any = None, seed: Any = None
) -> Any:
    """A variable of uniform numbers."""
    return variable(tf.random_uniform(shape, low, high, dtype or floatx(), seed), dtype, name)


@symbol("keras.backend.random_normal_variable")
def random_normal_variable(
    shape: Any, mean: float, scale: float, dtype: Any = None, name: Any = None, seed: Any = None
) -> Any:
    """A variable of normal numbers."""
    return variable(tf.random_normal(shape, mean, scale, dtype or floatx(), seed), dtype, name)


@symbol("keras.backend.random_uniform")
def random_uniform(
    shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Uniform numbers."""
    return tf.random_uniform(shape, minval, maxval, dtype or floatx(), seed)


@symbol("keras.backend.random_normal")
def random_normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Normal numbers."""
    return tf.random_normal(shape, mean, stddev, dtype or floatx(), seed)


@symbol("keras.backend.truncated_normal")
def truncated_normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Normal numbers within two deviations."""
    return tf.truncated_normal(shape, mean, stddev, dtype or floatx(), seed)


@symbol("keras.backend.random_binomial")
def random_binomial(shape: Any, p: float = 0.0, dtype: Any = None, seed: Any = None) -> Any:
    """Ones with a probability, else zeros."""
    return tf.cast(tf.random_uniform(shape, seed=seed) <= p, dtype or floatx())


# Updates


@symbol("keras.backend.update")
def update(x: Any, new_x: Any) -> Any:
    """An operation that gives a variable a value."""
    return tf.assign(x, new_x)


@symbol("keras.backend.update_add")
def update_add(x: Any, increment: Any) -> Any:
    """An operation that adds to a variable."""
    return tf.assign_add(x, increment)


@symbol("keras.backend.update_sub")
def update_sub(x: Any, decrement: Any) -> Any:
    """An operation that subtracts from a variable."""
    return tf.assign_sub(x, decrement)


@symbol("keras.backend.moving_average_update")
def moving_average_update(x: Any, value: Any, momentum: Any) -> Any:
    """An operation that moves a variable to a value."""
    return tf.assign_sub(x, (x - value) * (1.0 - momentum))


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
    columns = tf.reshape(tf.transpose(y, order), [y_known[axis], -1])
    made = tf.matmul(tf.reshape(x, [-1, known[-1]]), columns)
    rest = [a for a in range(ranks[1]) if a != axis]
    shape = tf.concat([x_dims[:-1], tf.gather(y_dims, rest)], 0)
    made = tf.reshape(made, shape)
    made.set_shape([*known[:-1], *[y_known[a] for a in rest]])
    return made


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
    made = tf.matmul(a, b)
    parts = [tf.shape(x)[i] for i in extents[0]] + [tf.shape(y)[i] for i in extents[1]]
    made = tf.reshape(made, tf.stack([tf.shape(x)[0], *parts]))
    known = [x.get_shape().as_list()[i] for i in extents[0]]
    known += [y.get_shape().as_list()[i] for i in extents[1]]
    made.set_shape([x.get_shape().as_list()[0], *known])
    return made


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
    """Where the largest is."""
    return tf.argmax(x, axis)


@symbol("keras.backend.argmin")
def argmin(x: Any, axis: int = -1) -> Any:
    """Where the smallest is."""
    return tf.argmin(x, axis)


@symbol("keras.backend.gather")
def gather(reference: Any, indices: Any) -> Any:
    """Rows by their numbers."""
    return tf.nn.embedding_lookup(reference, indices)


@symbol("keras.backend.concatenate")
def concatenate(tensors: Any, axis: int = -1) -> Any:
    """One after the other, along an axis."""
    return tf.concat([to_dense(t) for t in tensors], axis)


@symbol("keras.backend.permute_dimensions")
def permute_dimensions(x: Any, pattern: Any) -> Any:
    """Axes in another order."""
    return tf.transpose(x, perm=pattern)


@symbol("keras.backend.transpose")
def transpose(x: Any) -> Any:
    """Axes in the reverse order."""
    return tf.transpose(x)


@symbol("keras.backend.repeat_elements")
def repeat_elements(x: Any, rep: int, axis: int) -> Any:
    """Each element along an axis, so many times."""
    return repeated(x, rep, axis % len(x.dims))


@symbol("keras.backend.repeat")
def repeat(x: Any, n: int) -> Any:
    """[batch, features] -> [batch, n, features]."""
    return tf.tile(tf.expand_dims(x, 1), [1, n, 1])


@symbol("keras.backend.arange")
def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = "int32") -> Any:
    """Numbers from start on, below stop."""
    if stop is None and isinstance(start, (int, float)) and start < 0:
        start = 0
    made = tf.range(start, limit=stop, delta=step) if stop is not None else tf.range(start)
    return tf.cast(made, dtype)


@symbol("keras.backend.flatten")
def flatten(x: Any) -> Any:
    """All numbers in a row."""
    return tf.reshape(x, [-1])


@symbol("keras.backend.batch_flatten")
def batch_flatten(x: Any) -> Any:
    """Each example as a row."""
    known = x.get_shape().as_list()[1:]
    size = -1 if None in known else int(np.prod(known))
    return tf.reshape(x, tf.stack([-1, size if size >= 0 else tf.reduce_prod(tf.shape(x)[1:])]))


@symbol("keras.backend.expand_dims")
def expand_dims(x: Any, axis: int = -1) -> Any:
    """With an axis of size 1 more."""
    return tf.expand_dims(x, axis)


@symbol("keras.backend.squeeze")
def squeeze(x: Any, axis: int) -> Any:
    """Without an axis of size 1."""
    return tf.squeeze(x, [axis])


@symbol("keras.backend.stack")
def stack(x: Any, axis: int = 0) -> Any:
    """Along a new axis."""
    return tf.stack(x, axis=axis)


@symbol("keras.backend.one_hot")
def one_hot(indices: Any, num_classes: int) -> Any:
    """1 at each index."""
    return tf.one_hot(indices, depth=num_classes, axis=-1)


@symbol("keras.backend.reverse")
def reverse(x: Any, axes: Any) -> Any:
    """Backwards along axes."""
    return tf.reverse(x, [axes] if isinstance(axes, int) else axes)


@symbol("keras.backend.temporal_padding")
def temporal_padding(x: Any, padding: Any = (1, 1)) -> Any:
    """Zeros before and after the steps."""
    return tf.pad(x, [[0, 0], list(padding), [0, 0]])


@symbol("keras.backend.spatial_2d_padding")
def spatial_2d_padding(x: Any, padding: Any = ((1, 1), (1, 1)), data_format: Any = None) -> Any:
    """Zeros around images."""
    inner = [list(p) for p in padding]
    first = data_format == "channels_first"
    return tf.pad(x, [[0, 0], [0, 0], *inner] if first else [[0, 0], *inner, [0, 0]])


@symbol("keras.backend.resize_images")
def resize_images(x: Any, height_factor: int, width_factor: int, data_format: str, **_: Any) -> Any:
    """Larger images: each pixel repeated."""
    begin = 2 if data_format == "channels_first" else 1
    return repeated(repeated(x, height_factor, begin), width_factor, begin + 1)


@symbol("keras.backend.print_tensor")
def print_tensor(x: Any, message: str = "") -> Any:
    """The tensor; prints it when it is computed."""
    return tf.Print(x, [x], message)


@symbol("keras.backend.gradients")
def gradients(loss: Any, variables: Any) -> list[Any]:
    """The gradients of a loss."""
    return list(tf.gradients(loss, variables))


SYMBOLS = {
    "keras.backend.zeros": "zeros",
    "keras.backend.ones": "ones",
    "keras.backend.mean": "mean",
    "keras.backend.sum": "sum_",
    "keras.backend.prod": "prod",
    "keras.backend.max": "max_",
    "keras.backend.min": "min_",
    "keras.backend.any": "any_",
    "keras.backend.all": "all_",
    "keras.backend.logsumexp": "logsumexp",
}
_SAME = (
    *("abs", "square", "exp", "log", "round", "sign", "pow", "equal", "not_equal", "greater"),
    *("greater_equal", "less", "less_equal", "maximum", "minimum", "sin", "cos", "cumsum"),
    *("cumprod", "shape", "reshape", "tile", "identity", "stop_gradient", "name_scope"),
)


def __getattr__(name: str) -> Any:
    if name.startswith("same_") and name[5:] in _SAME:
        return getattr(tf, name[5:])
    raise AttributeError(name)


SYMBOLS.update({f"keras.backend.{name}": f"same_{name}" for name in _SAME})
