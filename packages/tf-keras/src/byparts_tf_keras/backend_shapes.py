"""`tf.keras.backend`: axes, shapes, parts of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

import byparts_frontend_tf as tf
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.backend import to_dense
from byparts_tf_keras.upsampling import repeated


@symbol("keras.backend.gather")
def gather(reference: Any, indices: Any) -> Any:
    """Rows by their numbers."""
    return tf.nn.embedding_lookup(reference, indices)


@symbol("keras.backend.concatenate")
def concatenate(tensors: Any, axis: int = -1) -> Any:
    """Join tensors one after the other, along an axis."""
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
    numbers = tf.range(start, limit=stop, delta=step) if stop is not None else tf.range(start)
    return tf.cast(numbers, dtype)


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
