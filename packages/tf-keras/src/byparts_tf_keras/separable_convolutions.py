"""Convolutions of each channel by itself, as layers of Keras."""

from __future__ import annotations

from typing import Any

import byparts_frontend_tf as tf
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.convolutions import Convolution


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
        depthwise_initializer: Any = None,
        pointwise_initializer: Any = None,
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        **kwargs: Any,
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
            **kwargs,
        )
        self.depth_multiplier = depth_multiplier
        self._options(locals())

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
        outputs = tf.nn.separable_conv2d(
            x,
            depth,
            point,
            self._spread(strides),
            self.padding.upper(),
            rate=rates,
            data_format="NCHW" if self._first else "NHWC",
        )
        return tf.squeeze(outputs, [2 if self._first else 1]) if self.rank == 1 else outputs


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
        depthwise_initializer: Any = None,
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        bias_constraint: Any = None,
        dilation_rate: Any = 1,
        **kwargs: Any,
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
            **kwargs,
        )
        self.depth_multiplier = depth_multiplier
        self._options(locals())

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
