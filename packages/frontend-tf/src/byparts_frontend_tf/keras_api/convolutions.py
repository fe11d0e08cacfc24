"""Convolutions of rows, images and volumes, as layers of Keras."""

from __future__ import annotations

from typing import Any

import byparts_frontend_tf as tf
from byparts_frontend_tf.api.layers.layer import InputSpec, sizes
from byparts_frontend_tf.keras_api import activations
from byparts_frontend_tf.keras_api.core_layers import Weighted
from byparts_frontend_tf.keras_api.state import layout
from byparts_frontend_tf.symbols import symbol

_LAYOUTS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}
_OPTIONS = ("initializer", "regularizer", "constraint")


def extent(n: Any, size: int, stride: int, padding: str, dilation: int = 1) -> Any:
    """How many windows there are along an axis."""
    if n is None:
        return None
    reach = (size - 1) * dilation + 1
    left = n if padding in ("same", "causal") else n - reach + 1
    return (left + stride - 1) // stride


class Convolution(Weighted):
    """Filters over `rank` spatial axes."""

    rank = 2
    kernel: Any
    bias: Any

    def __init__(
        self,
        filters: Any,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: Any = None,
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **given: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **given)
        self.filters = None if filters is None else int(filters)
        self.kernel_size = sizes(kernel_size, self.rank, "kernel_size")
        self.strides = sizes(strides, self.rank, "strides")
        self.padding = padding.lower()
        if self.padding not in ("valid", "same", *(("causal",) if self.rank == 1 else ())):
            raise ValueError(
                'The `padding` argument must be a list/tuple or one of "valid", "same" (or '
                f'"causal", only for `Conv1D). Received: {padding}'
            )
        self.data_format = layout(data_format)
        self.dilation_rate = sizes(dilation_rate, self.rank, "dilation_rate")
        self.activation, self.use_bias = activations.get(activation), use_bias
        self._options(
            {
                "kernel_initializer": kernel_initializer,
                "bias_initializer": bias_initializer,
                "kernel_regularizer": kernel_regularizer,
                "bias_regularizer": bias_regularizer,
                "kernel_constraint": kernel_constraint,
                "bias_constraint": bias_constraint,
            }
        )
        self.input_spec = InputSpec(ndim=self.rank + 2)

    @property
    def _first(self) -> bool:
        return self.data_format == "channels_first"

    @property
    def _layout(self) -> str:
        return _LAYOUTS[self.rank][self._first]

    def _spread(self, numbers: Any) -> list[int]:
        return [1, 1, *numbers] if self._first else [1, *numbers, 1]

    def _channels(self, input_shape: Any) -> int:
        axis = 1 if self._first else self.rank + 1
        found = tf.TensorShape(input_shape).as_list()[axis]
        if found is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: found})
        return int(found)

    def build(self, input_shape: Any) -> None:
        """The kernel [spatial..., in, filters], and the bias [filters]."""
        channels = self._channels(input_shape)
        self.kernel = self._weight("kernel", (*self.kernel_size, channels, self.filters))
        self.bias = self._weight("bias", (self.filters,)) if self.use_bias else None
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The images of `filters` channels."""
        return self._finished(self._convolved(inputs))

    def _convolved(self, x: Any) -> Any:
        same = self.padding.upper()
        if self.rank == 1:
            if same == "CAUSAL":
                before = [self.dilation_rate[0] * (self.kernel_size[0] - 1), 0]
                around = [[0, 0], before]
                around.insert(1 if self._first else 2, [0, 0])
                x, same = tf.pad(x, around), "VALID"
            return tf.nn.conv1d(
                x,
                self.kernel,
                self.strides[0],
                same,
                data_format=self._layout,
                dilations=self.dilation_rate[0],
            )
        convolve = tf.nn.conv2d if self.rank == 2 else tf.nn.conv3d
        return convolve(
            x,
            self.kernel,
            self._spread(self.strides),
            same,
            data_format=self._layout,
            dilations=self._spread(self.dilation_rate),
        )

    def _finished(self, x: Any) -> Any:
        """With bias and activation."""
        if self.use_bias:
            if self._first:
                x = x + tf.reshape(self.bias, [1, -1, *[1] * self.rank])
            else:
                x = tf.nn.bias_add(x, self.bias)
        return self.activation(x)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the images."""
        dims = tf.TensorShape(input_shape).as_list()
        inner = dims[2:] if self._first else dims[1:-1]
        rows = zip(inner, self.kernel_size, self.strides, self.dilation_rate, strict=True)
        made = [extent(n, k, s, self.padding, d) for n, k, s, d in rows]
        channels = self._filters(dims[1 if self._first else -1])
        return tf.TensorShape(
            [dims[0], channels, *made] if self._first else [dims[0], *made, channels]
        )

    def _filters(self, channels: Any) -> Any:
        return self.filters


@symbol("keras.layers.Conv1D", "keras.layers.Convolution1D")
class Conv1D(Convolution):
    """Filters over rows."""

    rank = 1


@symbol("keras.layers.Conv2D", "keras.layers.Convolution2D")
class Conv2D(Convolution):
    """Filters over images."""


@symbol("keras.layers.Conv3D", "keras.layers.Convolution3D")
class Conv3D(Convolution):
    """Filters over volumes."""

    rank = 3


@symbol("keras.layers.Conv2DTranspose", "keras.layers.Convolution2DTranspose")
class Conv2DTranspose(Convolution):
    """The transpose of a convolution; the kernel is [h, w, filters, in]."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        output_padding: Any = None,
        data_format: Any = None,
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        **given: Any,
    ) -> None:
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            **given,
        )
        self.output_padding = (
            None if output_padding is None else sizes(output_padding, self.rank, "output_padding")
        )

    def build(self, input_shape: Any) -> None:
        """The kernel and the bias."""
        channels = self._channels(input_shape)
        self.kernel = self._weight("kernel", (*self.kernel_size, self.filters, channels))
        self.bias = self._weight("bias", (self.filters,)) if self.use_bias else None
        self.built = True

    def _extent(self, n: Any, i: int) -> Any:
        size, stride = self.kernel_size[i], self.strides[i]
        if self.output_padding is None:
            return n * stride + (max(size - stride, 0) if self.padding == "valid" else 0)
        pad = size // 2 if self.padding == "same" else 0
        return (n - 1) * stride + size - 2 * pad + self.output_padding[i]

    def call(self, inputs: Any) -> Any:
        """Larger images of `filters` channels."""
        dims = inputs.dims or (None,) * (self.rank + 2)
        sized = tf.shape(inputs)
        at = range(2, self.rank + 2) if self._first else range(1, self.rank + 1)
        made = [self._extent(sized[a] if dims[a] is None else dims[a], i) for i, a in enumerate(at)]
        batch = sized[0] if dims[0] is None else dims[0]
        shape = [batch, self.filters, *made] if self._first else [batch, *made, self.filters]
        convolve = tf.nn.conv2d_transpose if self.rank == 2 else tf.nn.conv3d_transpose
        outputs = convolve(
            inputs,
            self.kernel,
            shape,
            self._spread(self.strides),
            self.padding.upper(),
            data_format=self._layout,
        )
        outputs.set_shape([n if isinstance(n, int) else None for n in shape])
        return self._finished(outputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the images."""
        dims = tf.TensorShape(input_shape).as_list()
        inner = dims[2:] if self._first else dims[1:-1]
        made = [None if n is None else self._extent(n, i) for i, n in enumerate(inner)]
        return tf.TensorShape(
            [dims[0], self.filters, *made] if self._first else [dims[0], *made, self.filters]
        )


@symbol("keras.layers.Conv3DTranspose", "keras.layers.Convolution3DTranspose")
class Conv3DTranspose(Conv2DTranspose):
    """The transpose of a convolution of volumes."""

    rank = 3


class _Separable(Convolution):
    """Filters of each channel, then filters of one pixel."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: Any = None,
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        **given: Any,
    ) -> None:
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            bias_initializer=bias_initializer,
            **given,
        )
        self.depth_multiplier = depth_multiplier
        self._options(
            {
                "depthwise_initializer": depthwise_initializer,
                "pointwise_initializer": pointwise_initializer,
                "depthwise_regularizer": depthwise_regularizer,
                "pointwise_regularizer": pointwise_regularizer,
                "depthwise_constraint": depthwise_constraint,
                "pointwise_constraint": pointwise_constraint,
            }
        )

    def build(self, input_shape: Any) -> None:
        """Two kernels and the bias."""
        channels = self._channels(input_shape)
        times, ones = self.depth_multiplier, (1,) * self.rank
        self.depthwise_kernel = self._weight(
            "depthwise_kernel", (*self.kernel_size, channels, times), "depthwise"
        )
        self.pointwise_kernel = self._weight(
            "pointwise_kernel", (*ones, channels * times, self.filters), "pointwise"
        )
        self.bias = self._weight("bias", (self.filters,)) if self.use_bias else None
        self.built = True

    def _convolved(self, x: Any) -> Any:
        depth, point = self.depthwise_kernel, self.pointwise_kernel
        strides, rates = self.strides, self.dilation_rate
        if self.rank == 1:
            axis = 2 if self._first else 1
            x, depth, point = [tf.expand_dims(t, a) for t, a in ((x, axis), (depth, 0), (point, 0))]
            strides, rates = strides * 2, (1, *rates)
        made = tf.nn.separable_conv2d(
            x,
            depth,
            point,
            self._spread(strides),
            self.padding.upper(),
            rate=rates,
            data_format="NCHW" if self._first else "NHWC",
        )
        return tf.squeeze(made, [2 if self._first else 1]) if self.rank == 1 else made


@symbol("keras.layers.SeparableConv2D", "keras.layers.SeparableConvolution2D")
class SeparableConv2D(_Separable):
    """Filters of each channel of images, then filters of one pixel."""


@symbol("keras.layers.SeparableConv1D", "keras.layers.SeparableConvolution1D")
class SeparableConv1D(_Separable):
    """Filters of each channel of rows, then filters of one step."""

    rank = 1


@symbol("keras.layers.DepthwiseConv2D")
class DepthwiseConv2D(Convolution):
    """Filters of each channel."""

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: Any = None,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        bias_constraint: Any = None,
        dilation_rate: Any = 1,
        **given: Any,
    ) -> None:
        super().__init__(
            None,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            bias_initializer=bias_initializer,
            bias_regularizer=bias_regularizer,
            bias_constraint=bias_constraint,
            activity_regularizer=activity_regularizer,
            **given,
        )
        self.depth_multiplier = depth_multiplier
        self._options(
            {
                "depthwise_initializer": depthwise_initializer,
                "depthwise_regularizer": depthwise_regularizer,
                "depthwise_constraint": depthwise_constraint,
            }
        )

    def build(self, input_shape: Any) -> None:
        """The kernel and the bias."""
        channels = self._channels(input_shape)
        self.depthwise_kernel = self._weight(
            "depthwise_kernel", (*self.kernel_size, channels, self.depth_multiplier), "depthwise"
        )
        many = channels * self.depth_multiplier
        self.bias = self._weight("bias", (many,)) if self.use_bias else None
        self.built = True

    def _convolved(self, x: Any) -> Any:
        return tf.nn.depthwise_conv2d(
            x,
            self.depthwise_kernel,
            self._spread(self.strides),
            self.padding.upper(),
            rate=self.dilation_rate,
            data_format=self._layout,
        )

    def _filters(self, channels: Any) -> Any:
        return None if channels is None else channels * self.depth_multiplier
