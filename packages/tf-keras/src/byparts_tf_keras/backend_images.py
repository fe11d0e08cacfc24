"""`tf.keras.backend`: convolutions, pooling, normalization, loops over rows, CTC."""

from __future__ import annotations

from typing import Any, Optional

import byparts_frontend_tf as tf
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.backend_shapes import temporal_padding


@symbol("keras.backend.dropout")
def dropout(x: Any, level: Any, noise_shape: Any = None, seed: Any = None) -> Any:
    """Sets a share of the elements to 0 and enlarges the others."""
    return tf.nn.dropout(x, rate=level, noise_shape=noise_shape, seed=seed)


@symbol("keras.backend.l2_normalize")
def l2_normalize(x: Any, axis: Any = None) -> Any:
    """Scale to length 1 along an axis."""
    return tf.nn.l2_normalize(x, axis=axis)


@symbol("keras.backend.in_top_k")
def in_top_k(predictions: Any, targets: Any, k: int) -> Any:
    """Whether targets are among the k largest."""
    return tf.nn.in_top_k(predictions, targets, k)


@symbol("keras.backend.batch_normalization")
def batch_normalization(
    x: Any, mean: Any, var: Any, beta: Any, gamma: Any, axis: int = -1, epsilon: float = 1e-3
) -> Any:
    """By a mean and a variance."""
    return tf.nn.batch_normalization(x, mean, var, beta, gamma, epsilon)


@symbol("keras.backend.bias_add")
def bias_add(x: Any, bias: Any, data_format: Any = None) -> Any:
    """With a bias for each channel."""
    if data_format == "channels_first":
        return x + tf.reshape(bias, [1, -1, *[1] * (len(x.dims) - 2)])
    return x + bias


@symbol("keras.backend.conv1d")
def conv1d(
    x: Any,
    kernel: Any,
    strides: int = 1,
    padding: str = "valid",
    data_format: Any = None,
    dilation_rate: int = 1,
) -> Any:
    """Filters over rows."""
    if padding == "causal":
        before = dilation_rate * (kernel.get_shape().as_list()[0] - 1)
        x, padding = temporal_padding(x, (before, 0)), "valid"
    return tf.nn.conv1d(x, kernel, strides, padding.upper(), dilations=dilation_rate)


def _over_images(x: Any, strides: Any, padding: str, data_format: Any) -> tuple[Any, str, str]:
    first = data_format == "channels_first"
    return (
        [1, 1, *strides] if first else [1, *strides, 1],
        padding.upper(),
        "NCHW" if first else "NHWC",
    )


@symbol("keras.backend.conv2d")
def conv2d(
    x: Any,
    kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: Any = None,
    dilation_rate: Any = (1, 1),
) -> Any:
    """Filters over images."""
    steps, pad, layout = _over_images(x, strides, padding, data_format)
    rates, _, _ = _over_images(x, dilation_rate, padding, data_format)
    return tf.nn.conv2d(x, kernel, steps, pad, data_format=layout, dilations=rates)


@symbol("keras.backend.pool2d")
def pool2d(
    x: Any,
    pool_size: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: Any = None,
    pool_mode: str = "max",
) -> Any:
    """The largest or the mean of each window."""
    steps, pad, layout = _over_images(x, strides, padding, data_format)
    size, _, _ = _over_images(x, pool_size, padding, data_format)
    pool = tf.nn.max_pool if pool_mode == "max" else tf.nn.avg_pool
    return pool(x, size, steps, pad, data_format=layout)


@symbol("keras.backend.map_fn")
def map_fn(fn: Any, elems: Any, name: Optional[str] = None, dtype: Any = None) -> Any:
    """A function of each row."""
    return tf.map_fn(fn, elems, name=name, dtype=dtype)


@symbol("keras.backend.foldl")
def foldl(fn: Any, elems: Any, initializer: Any = None, name: Optional[str] = None) -> Any:
    """A function of what it gave before and a row, from the first row on."""
    return tf.foldl(fn, elems, initializer=initializer, name=name)


@symbol("keras.backend.foldr")
def foldr(fn: Any, elems: Any, initializer: Any = None, name: Optional[str] = None) -> Any:
    """A function of what it gave before and a row, from the last row on."""
    return tf.foldr(fn, elems, initializer=initializer, name=name)


@symbol("keras.backend.ctc_batch_cost")
def ctc_batch_cost(y_true: Any, y_pred: Any, input_length: Any, label_length: Any) -> Any:
    """The CTC loss of each example, [batch, 1]."""
    lengths, steps = [tf.cast(tf.reshape(n, [-1]), tf.int32) for n in (label_length, input_length)]
    kept = tf.sequence_mask(lengths, tf.shape(y_true)[1])
    at = tf.where(kept)
    labels = tf.SparseTensor(
        at,
        tf.cast(tf.gather_nd(y_true, at), tf.int32),
        tf.cast(tf.shape(y_true), tf.int64),
    )
    logits = tf.log(tf.transpose(y_pred, [1, 0, 2]) + 1e-7)
    return tf.expand_dims(tf.nn.ctc_loss(labels, logits, steps), 1)
