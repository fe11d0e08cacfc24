"""Upsampling, as layers of Keras."""

from __future__ import annotations

from typing import Any

import numpy as np

import byparts_frontend_tf as tf
from byparts_frontend_tf.api.arguments import sizes
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.input_spec import InputSpec
from byparts_tf_keras.layer import Layer
from byparts_tf_keras.state import layout


def repeated(x: Any, times: int, axis: int) -> Any:
    """Each element along an axis, so many times."""
    if times == 1:
        return x
    dims = tf.shape(x)
    rank = x.get_shape().ndims
    tiles = [1] * (rank + 1)
    tiles[axis + 1] = times
    tiled = tf.tile(tf.expand_dims(x, axis + 1), tiles)
    parts = [dims[i] * times if i == axis else dims[i] for i in range(rank)]
    tiled = tf.reshape(tiled, tf.stack(parts))
    known = x.get_shape().as_list()
    known[axis] = None if known[axis] is None else known[axis] * times
    tiled.set_shape(known)
    return tiled


@symbol("keras.layers.UpSampling1D")
class UpSampling1D(Layer):
    """Each step, `size` times."""

    def __init__(self, size: int = 2, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.size, self.input_spec = int(size), InputSpec(ndim=3)

    def call(self, inputs: Any) -> Any:
        """Longer rows."""
        return repeated(inputs, self.size, 1)


@symbol("keras.layers.UpSampling2D")
class UpSampling2D(Layer):
    """Larger images: each pixel repeated, or bilinear."""

    def __init__(
        self,
        size: Any = (2, 2),
        data_format: Any = None,
        interpolation: str = "nearest",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if interpolation not in ("nearest", "bilinear"):
            raise ValueError(
                '`interpolation` argument should be one of `"nearest"` or `"bilinear"`.'
            )
        self.size, self.data_format = sizes(size, 2, "size"), layout(data_format)
        self.interpolation, self.input_spec = interpolation, InputSpec(ndim=4)

    def call(self, inputs: Any) -> Any:
        """The larger images."""
        first = self.data_format == "channels_first"
        if self.interpolation == "nearest":
            begin = 2 if first else 1
            return repeated(repeated(inputs, self.size[0], begin), self.size[1], begin + 1)
        begin = 2 if first else 1
        return stretched(stretched(inputs, self.size[0], begin), self.size[1], begin + 1)


def stretched(x: Any, times: int, axis: int) -> Any:
    """Longer along an axis: linear between the middles of elements, as they are at the ends.

    Raises:
        ValueError: the extent is not known.
    """
    extent = x.get_shape().as_list()[axis]
    if extent is None:
        raise ValueError("UpSampling2D: bilinear interpolation needs images of known extents")
    at = np.clip((np.arange(extent * times) + 0.5) / times - 0.5, 0, extent - 1)
    low = np.floor(at).astype(np.int32)
    shape = [-1 if a == axis else 1 for a in range(len(x.dims))]
    part = tf.constant((at - low).reshape(shape), x.dtype)
    high = np.minimum(low + 1, extent - 1)
    return tf.gather(x, low, axis=axis) * (1.0 - part) + tf.gather(x, high, axis=axis) * part


@symbol("keras.layers.UpSampling3D")
class UpSampling3D(Layer):
    """Larger volumes: each element repeated."""

    def __init__(self, size: Any = (2, 2, 2), data_format: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.size, self.data_format = sizes(size, 3, "size"), layout(data_format)
        self.input_spec = InputSpec(ndim=5)

    def call(self, inputs: Any) -> Any:
        """The larger volumes."""
        begin = 2 if self.data_format == "channels_first" else 1
        for i, n in enumerate(self.size):
            inputs = repeated(inputs, n, begin + i)
        return inputs
