"""Layers of volumes: `tf.layers.conv3d` and its kind."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.api.layers.layer import InputSpec, Layer, sizes
from byparts_frontend_tf.api.layers.layers import ConvolutionLayer, layer_function
from byparts_frontend_tf.api.shaping import shape as shape_of
from byparts_frontend_tf.api.volumes import (
    avg_pool3d,
    conv3d as conv3d_of,
    conv3d_transpose as conv3d_transpose_of,
    max_pool3d,
)
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.symbols import symbol


def _layout(first: bool) -> str:
    return "NCDHW" if first else "NDHWC"


@symbol("layers.Conv3D")
class Conv3D(ConvolutionLayer):
    """Convolution of volumes, with bias and activation."""

    rank = 3

    def call(self, inputs: Any) -> Any:
        """Volumes of `filters` channels."""
        made = conv3d_of(
            inputs,
            self.kernel,
            self.spread(self.strides),
            self.padding.upper(),
            _layout(self.first),
            self.spread(self.dilation_rate),
        )
        return self.finished(made, "NCHW" if self.first else "NHWC")


@symbol("layers.Conv3DTranspose")
class Conv3DTranspose(ConvolutionLayer):
    """The transpose of `Conv3D`."""

    rank = 3

    def build(self, input_shape: Any) -> None:
        """The kernel [depth, height, width, filters, in], and the bias [filters]."""
        shape = [*self.kernel_size, self.filters, self.channels(input_shape)]
        self.kernel = self.weight("kernel", shape)
        self.bias = self.weight("bias", [self.filters]) if self.use_bias else None

    def call(self, inputs: Any) -> Any:
        """Volumes of `filters` channels, `strides` times as large."""
        x = convert_to_tensor(inputs)
        whole, at = shape_of(x), 2 if self.first else 1
        known: Any = [None] * 5 if x.dims is None else x.dims
        space = [
            self._extent(whole[at + i] if known[at + i] is None else known[at + i], i)
            for i in range(3)
        ]
        batch: Any = whole[0] if known[0] is None else known[0]
        target = [batch, self.filters, *space] if self.first else [batch, *space, self.filters]
        made = conv3d_transpose_of(
            x,
            self.kernel,
            target,
            self.spread(self.strides),
            self.padding.upper(),
            _layout(self.first),
        )
        made.set_shape([d if isinstance(d, int) else None for d in target])
        return self.finished(made, "NCHW" if self.first else "NHWC")

    def _extent(self, size: Any, axis: int) -> Any:
        """The extent of the larger volume along a spatial axis."""
        step, width = self.strides[axis], self.kernel_size[axis]
        return size * step + (max(width - step, 0) if self.padding.lower() == "valid" else 0)


class _Pooling3D(Layer):
    """A layer that takes one number of each window of volumes."""

    pool: Any

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: Optional[str] = None,
        **given: Any,
    ) -> None:
        super().__init__(name=name, **given)
        self._windows = sizes(pool_size, 3, "pool_size"), sizes(strides, 3, "strides")
        self._padding, self._first = padding.upper(), data_format == "channels_first"
        self.input_spec = InputSpec(ndim=5)

    def call(self, inputs: Any) -> Any:
        """A smaller volume."""
        size, strides = ([1, 1, *n] if self._first else [1, *n, 1] for n in self._windows)
        return type(self).pool(inputs, size, strides, self._padding, _layout(self._first))


@symbol("layers.MaxPooling3D")
class MaxPooling3D(_Pooling3D):
    """The maximum of each window."""

    pool = staticmethod(max_pool3d)


@symbol("layers.AveragePooling3D")
class AveragePooling3D(_Pooling3D):
    """The mean of each window."""

    pool = staticmethod(avg_pool3d)


def _pooling(layer: type[_Pooling3D], what: str) -> Any:
    def function(
        inputs: Any,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: Optional[str] = None,
    ) -> Any:
        return layer(pool_size, strides, padding, data_format, name)(inputs)

    function.__name__, function.__module__ = what, __name__
    function.__doc__ = f"TensorFlow's `layers.{what}`."
    return function


max_pooling3d = _pooling(MaxPooling3D, "max_pooling3d")
average_pooling3d = _pooling(AveragePooling3D, "average_pooling3d")
conv3d = layer_function(Conv3D, "conv3d", doc="A new `Conv3D` layer of the inputs.")
conv3d_transpose = layer_function(
    Conv3DTranspose, "conv3d_transpose", doc="A new `Conv3DTranspose` layer of the inputs."
)
_NAMES = ("conv3d", "conv3d_transpose", "max_pooling3d", "average_pooling3d")
SYMBOLS = {f"layers.{name}": name for name in _NAMES}
