"""Pooling, zero padding, cropping and upsampling, as layers of Keras."""

from __future__ import annotations

from typing import Any

import numpy as np

import byparts_frontend_tf as tf
from byparts_frontend_tf.api.layers.layer import InputSpec, sizes
from byparts_frontend_tf.keras_api.layer import Layer
from byparts_frontend_tf.keras_api.state import layout
from byparts_frontend_tf.symbols import symbol


class _Windows(Layer):
    """The largest or the mean of each window over `rank` axes."""

    rank, kind = 2, "MAX"

    def __init__(
        self,
        pool_size: Any = 2,
        strides: Any = None,
        padding: str = "valid",
        data_format: Any = None,
        **given: Any,
    ) -> None:
        super().__init__(**given)
        self.pool_size = sizes(pool_size, self.rank, "pool_size")
        self.strides = self.pool_size if strides is None else sizes(strides, self.rank, "strides")
        self.padding, self.data_format = padding.lower(), layout(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs: Any) -> Any:
        """One element for each window."""
        first = self.data_format == "channels_first"
        size, strides = self.pool_size, self.strides
        x = inputs
        if self.rank == 1:
            size, strides = (1, *size), (1, *strides)
            x = tf.expand_dims(x, 2 if first else 1)
        if self.rank == 3:
            pool = tf.nn.max_pool3d if self.kind == "MAX" else tf.nn.avg_pool3d
        else:
            pool = tf.nn.max_pool if self.kind == "MAX" else tf.nn.avg_pool
        spread = [[1, 1, *n] if first else [1, *n, 1] for n in (size, strides)]
        names = ("NCHW", "NHWC") if self.rank < 3 else ("NCDHW", "NDHWC")
        made = pool(x, *spread, self.padding.upper(), data_format=names[not first])
        return tf.squeeze(made, [2 if first else 1]) if self.rank == 1 else made


@symbol("keras.layers.MaxPooling2D", "keras.layers.MaxPool2D")
class MaxPooling2D(_Windows):
    """The largest of each window of images."""


@symbol("keras.layers.AveragePooling2D", "keras.layers.AvgPool2D")
class AveragePooling2D(_Windows):
    """The mean of each window of images."""

    kind = "AVG"


@symbol("keras.layers.MaxPooling1D", "keras.layers.MaxPool1D")
class MaxPooling1D(_Windows):
    """The largest of each window of rows."""

    rank = 1


@symbol("keras.layers.AveragePooling1D", "keras.layers.AvgPool1D")
class AveragePooling1D(_Windows):
    """The mean of each window of rows."""

    rank, kind = 1, "AVG"


@symbol("keras.layers.MaxPooling3D", "keras.layers.MaxPool3D")
class MaxPooling3D(_Windows):
    """The largest of each window of volumes."""

    rank = 3


@symbol("keras.layers.AveragePooling3D", "keras.layers.AvgPool3D")
class AveragePooling3D(_Windows):
    """The mean of each window of volumes."""

    rank, kind = 3, "AVG"


class _Global(Layer):
    """The largest or the mean over all spatial axes."""

    rank, kind = 2, "max"

    def __init__(self, data_format: Any = None, **given: Any) -> None:
        super().__init__(**given)
        self.data_format = layout(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs: Any) -> Any:
        """[batch, ..., channels] -> [batch, channels]."""
        begin = 2 if self.data_format == "channels_first" else 1
        reduce = tf.reduce_max if self.kind == "max" else tf.reduce_mean
        return reduce(inputs, axis=list(range(begin, begin + self.rank)))


@symbol("keras.layers.GlobalMaxPooling2D", "keras.layers.GlobalMaxPool2D")
class GlobalMaxPooling2D(_Global):
    """The largest of each channel of images."""


@symbol("keras.layers.GlobalAveragePooling2D", "keras.layers.GlobalAvgPool2D")
class GlobalAveragePooling2D(_Global):
    """The mean of each channel of images."""

    kind = "mean"


@symbol("keras.layers.GlobalMaxPooling1D", "keras.layers.GlobalMaxPool1D")
class GlobalMaxPooling1D(_Global):
    """The largest of each channel of rows."""

    rank = 1


@symbol("keras.layers.GlobalAveragePooling1D", "keras.layers.GlobalAvgPool1D")
class GlobalAveragePooling1D(_Global):
    """The mean of each channel of rows; of steps that a mask keeps."""

    rank, kind = 1, "mean"

    def __init__(self, data_format: Any = None, **given: Any) -> None:
        super().__init__(data_format, **given)
        self.supports_masking = True

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """[batch, steps, channels] -> [batch, channels]."""
        if mask is None:
            return super().call(inputs)
        axis = 2 if self.data_format == "channels_first" else 1
        kept = tf.expand_dims(tf.cast(mask, inputs.dtype), 2 if axis == 1 else 1)
        return tf.reduce_sum(inputs * kept, axis=axis) / tf.reduce_sum(kept, axis=axis)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """None: there are no steps any more."""
        return None


@symbol("keras.layers.GlobalMaxPooling3D", "keras.layers.GlobalMaxPool3D")
class GlobalMaxPooling3D(_Global):
    """The largest of each channel of volumes."""

    rank = 3


@symbol("keras.layers.GlobalAveragePooling3D", "keras.layers.GlobalAvgPool3D")
class GlobalAveragePooling3D(_Global):
    """The mean of each channel of volumes."""

    rank, kind = 3, "mean"


def _pairs(given: Any, rank: int, what: str) -> tuple[tuple[int, int], ...]:
    """How much before and after, for each axis: a number, one for each axis, or pairs.

    Raises:
        ValueError: it is none of these.
    """
    if isinstance(given, int):
        return ((given, given),) * rank
    if rank == 1 and len(given) == 2 and all(isinstance(n, int) for n in given):
        return ((int(given[0]), int(given[1])),)
    if len(given) != rank:
        raise ValueError(f"`{what}` should have {rank} elements. Found: {given}")
    pairs = [(n, n) if isinstance(n, int) else tuple(n) for n in given]
    return tuple([(int(a), int(b)) for a, b in pairs])


class _Padding(Layer):
    """Zeros around `rank` axes."""

    rank = 2

    def __init__(self, padding: Any = 1, data_format: Any = None, **given: Any) -> None:
        super().__init__(**given)
        self._pairs = _pairs(padding, self.rank, "padding")
        self.padding = self._pairs if self.rank > 1 else self._pairs[0]
        self.data_format = layout(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs: Any) -> Any:
        """The inputs with zeros around them."""
        none = [0, 0]
        inner = [list(p) for p in self._pairs]
        first = self.data_format == "channels_first" and self.rank > 1
        return tf.pad(inputs, [none, none, *inner] if first else [none, *inner, none])


@symbol("keras.layers.ZeroPadding1D")
class ZeroPadding1D(_Padding):
    """Zeros before and after rows."""

    rank = 1


@symbol("keras.layers.ZeroPadding2D")
class ZeroPadding2D(_Padding):
    """Zeros around images."""


@symbol("keras.layers.ZeroPadding3D")
class ZeroPadding3D(_Padding):
    """Zeros around volumes."""

    rank = 3


class _Cropping(Layer):
    """Without what is at the ends of `rank` axes."""

    rank = 2

    def __init__(self, cropping: Any = None, data_format: Any = None, **given: Any) -> None:
        super().__init__(**given)
        usual = 1 if self.rank != 2 else 0
        self._pairs = _pairs(usual if cropping is None else cropping, self.rank, "cropping")
        self.cropping = self._pairs if self.rank > 1 else self._pairs[0]
        self.data_format = layout(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs: Any) -> Any:
        """The middle of the inputs."""
        inner = [slice(a, -b if b else None) for a, b in self._pairs]
        first = self.data_format == "channels_first" and self.rank > 1
        return inputs[tuple([slice(None)] * (2 if first else 1) + inner)]


@symbol("keras.layers.Cropping1D")
class Cropping1D(_Cropping):
    """Rows without their ends."""

    rank = 1


@symbol("keras.layers.Cropping2D")
class Cropping2D(_Cropping):
    """Images without their borders."""


@symbol("keras.layers.Cropping3D")
class Cropping3D(_Cropping):
    """Volumes without their borders."""

    rank = 3


def repeated(x: Any, times: int, axis: int) -> Any:
    """Each element along an axis, so many times."""
    if times == 1:
        return x
    dims = tf.shape(x)
    rank = x.get_shape().ndims
    tiles = [1] * (rank + 1)
    tiles[axis + 1] = times
    made = tf.tile(tf.expand_dims(x, axis + 1), tiles)
    parts = [dims[i] * times if i == axis else dims[i] for i in range(rank)]
    made = tf.reshape(made, tf.stack(parts))
    known = x.get_shape().as_list()
    known[axis] = None if known[axis] is None else known[axis] * times
    made.set_shape(known)
    return made


@symbol("keras.layers.UpSampling1D")
class UpSampling1D(Layer):
    """Each step, `size` times."""

    def __init__(self, size: int = 2, **given: Any) -> None:
        super().__init__(**given)
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
        **given: Any,
    ) -> None:
        super().__init__(**given)
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

    def __init__(self, size: Any = (2, 2, 2), data_format: Any = None, **given: Any) -> None:
        super().__init__(**given)
        self.size, self.data_format = sizes(size, 3, "size"), layout(data_format)
        self.input_spec = InputSpec(ndim=5)

    def call(self, inputs: Any) -> Any:
        """The larger volumes."""
        begin = 2 if self.data_format == "channels_first" else 1
        for i, n in enumerate(self.size):
            inputs = repeated(inputs, n, begin + i)
        return inputs
