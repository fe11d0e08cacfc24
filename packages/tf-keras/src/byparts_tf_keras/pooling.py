"""Pooling, as layers of Keras."""

from __future__ import annotations

from typing import Any

import byparts_frontend_tf as tf
from byparts_frontend_tf.api.arguments import sizes
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.input_spec import InputSpec
from byparts_tf_keras.layer import Layer
from byparts_tf_keras.state import layout


class _Windows(Layer):
    """The largest or the mean of each window over `rank` axes."""

    rank, kind = 2, "MAX"

    def __init__(
        self,
        pool_size: Any = 2,
        strides: Any = None,
        padding: str = "valid",
        data_format: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.pool_size = sizes(pool_size, self.rank, "pool_size")
        self.strides = self.pool_size if strides is None else sizes(strides, self.rank, "strides")
        self.padding, self.data_format = padding.lower(), layout(data_format or self.usual_layout)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs: Any) -> Any:
        """Reduce each window to an element."""
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
        pooled = pool(x, *spread, self.padding.upper(), data_format=names[not first])
        return tf.squeeze(pooled, [2 if first else 1]) if self.rank == 1 else pooled


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

    def __init__(self, data_format: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = layout(data_format or self.usual_layout)
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

    def __init__(self, data_format: Any = None, **kwargs: Any) -> None:
        super().__init__(data_format, **kwargs)
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
