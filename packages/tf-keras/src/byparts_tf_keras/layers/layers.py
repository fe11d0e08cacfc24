"""`tf.layers`: the layers of Keras, with variables in variable scopes, as classes and functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras import (
    convolutions,
    core_layers,
    dropout as dropout_layers,
    normalization,
    pooling,
    reshaping,
    separable_convolutions,
    transposed_convolutions,
)
from byparts_tf_keras.layers.layer import Layer


@symbol("layers.Dense")
class Dense(core_layers.Dense, Layer):
    """activation(x W + b), along the last axis."""


@symbol("layers.Conv1D")
class Conv1D(convolutions.Conv1D, Layer):
    """Filters over rows."""


@symbol("layers.Conv2D")
class Conv2D(convolutions.Conv2D, Layer):
    """Filters over images."""


@symbol("layers.Conv3D")
class Conv3D(convolutions.Conv3D, Layer):
    """Filters over volumes."""


@symbol("layers.SeparableConv1D")
class SeparableConv1D(separable_convolutions.SeparableConv1D, Layer):
    """Filters of each channel of rows, then filters of one step."""


@symbol("layers.SeparableConv2D")
class SeparableConv2D(separable_convolutions.SeparableConv2D, Layer):
    """Filters of each channel of images, then filters of one pixel."""


@symbol("layers.Conv2DTranspose")
class Conv2DTranspose(transposed_convolutions.Conv2DTranspose, Layer):
    """The transpose of `Conv2D`; the kernel is [h, w, filters, in]."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: Any = None,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        **kwargs: Any,
    ) -> None:
        kwargs.update(use_bias=use_bias, kernel_initializer=kernel_initializer)
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            data_format=data_format,
            activation=activation,
            **kwargs,
        )


@symbol("layers.Conv3DTranspose")
class Conv3DTranspose(Conv2DTranspose):
    """The transpose of `Conv3D`."""

    rank = 3


@symbol("layers.MaxPooling1D")
class MaxPooling1D(pooling.MaxPooling1D, Layer):
    """The largest of each window of rows."""


@symbol("layers.MaxPooling2D")
class MaxPooling2D(pooling.MaxPooling2D, Layer):
    """The largest of each window of images."""


@symbol("layers.MaxPooling3D")
class MaxPooling3D(pooling.MaxPooling3D, Layer):
    """The largest of each window of volumes."""


@symbol("layers.AveragePooling1D")
class AveragePooling1D(pooling.AveragePooling1D, Layer):
    """The mean of each window of rows."""


@symbol("layers.AveragePooling2D")
class AveragePooling2D(pooling.AveragePooling2D, Layer):
    """The mean of each window of images."""


@symbol("layers.AveragePooling3D")
class AveragePooling3D(pooling.AveragePooling3D, Layer):
    """The mean of each window of volumes."""


@symbol("layers.Flatten")
class Flatten(reshaping.Flatten, Layer):
    """Each example as a row."""


@symbol("layers.Dropout")
class Dropout(dropout_layers.Dropout, Layer):
    """`nn.dropout`, while training."""

    def __init__(
        self,
        rate: Any = 0.5,
        noise_shape: Any = None,
        seed: Any = None,
        name: Optional[str] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(rate, noise_shape, seed, name=name, **kwargs)

    def call(self, inputs: Any, training: Any = False) -> Any:
        """The inputs, or what dropout leaves of them."""
        return super().call(inputs, training=training)


@symbol("layers.BatchNormalization")
class BatchNormalization(normalization.BatchNormalization, Layer):
    """Ioffe and Szegedy 2015; the moving statistics are updated by operations in UPDATE_OPS."""

    def call(self, inputs: Any, training: Any = False) -> Any:
        """Normalized by the batch while training, else by the moving statistics."""
        return super().call(inputs, training=training)


def _function(kind: Callable[..., Layer], function_name: str) -> Callable[..., Any]:
    """The function that makes a layer and calls it."""

    def apply(
        inputs: Any, *arguments: Any, name: Any = None, reuse: Any = None, **kwargs: Any
    ) -> Any:
        called = {"training": kwargs.pop("training")} if "training" in kwargs else {}
        return kind(*arguments, name=name, _scope=name, _reuse=reuse, **kwargs)(inputs, **called)

    apply.__name__ = apply.__qualname__ = function_name
    apply.__doc__ = f"A new `{kind.__name__}` layer of the inputs."
    return apply


def _pooling(kind: Callable[..., Layer], function_name: str) -> Callable[..., Any]:
    """The function that makes a layer of pooling and calls it."""

    def apply(
        inputs: Any,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: Optional[str] = None,
    ) -> Any:
        return kind(pool_size, strides, padding, data_format, name=name)(inputs)

    apply.__name__ = apply.__qualname__ = function_name
    apply.__doc__ = f"A new `{kind.__name__}` layer of the inputs."
    return apply


dense = _function(Dense, "dense")
conv1d, conv2d = _function(Conv1D, "conv1d"), _function(Conv2D, "conv2d")
conv3d = _function(Conv3D, "conv3d")
separable_conv1d = _function(SeparableConv1D, "separable_conv1d")
separable_conv2d = _function(SeparableConv2D, "separable_conv2d")
conv2d_transpose = _function(Conv2DTranspose, "conv2d_transpose")
conv3d_transpose = _function(Conv3DTranspose, "conv3d_transpose")
batch_normalization = _function(BatchNormalization, "batch_normalization")
max_pooling1d = _pooling(MaxPooling1D, "max_pooling1d")
max_pooling2d = _pooling(MaxPooling2D, "max_pooling2d")
max_pooling3d = _pooling(MaxPooling3D, "max_pooling3d")
average_pooling1d = _pooling(AveragePooling1D, "average_pooling1d")
average_pooling2d = _pooling(AveragePooling2D, "average_pooling2d")
average_pooling3d = _pooling(AveragePooling3D, "average_pooling3d")


@symbol("layers.flatten")
def flatten(inputs: Any, name: Optional[str] = None, data_format: Any = None) -> Any:
    """Each example as a row."""
    return Flatten(data_format, name=name)(inputs)


@symbol("layers.dropout")
def dropout(
    inputs: Any,
    rate: Any = 0.5,
    noise_shape: Any = None,
    seed: Any = None,
    training: Any = False,
    name: Optional[str] = None,
) -> Any:
    """`nn.dropout`, while training."""
    return Dropout(rate, noise_shape, seed, name=name)(inputs, training=training)


_INSIDE = {
    "convolutional.Convolution1D": "Conv1D",
    "convolutional.Convolution2D": "Conv2D",
    "convolutional.Convolution3D": "Conv3D",
    "convolutional.SeparableConvolution1D": "SeparableConv1D",
    "convolutional.SeparableConvolution2D": "SeparableConv2D",
    "convolutional.Convolution2DTranspose": "Conv2DTranspose",
    "convolutional.Deconvolution2D": "Conv2DTranspose",
    "convolutional.Deconv2D": "Conv2DTranspose",
    "convolutional.Convolution3DTranspose": "Conv3DTranspose",
    "convolutional.Deconvolution3D": "Conv3DTranspose",
    "convolutional.Deconv3D": "Conv3DTranspose",
    "core.FullyConnected": "Dense",
    "core.fully_connected": "dense",
    "normalization.BatchNorm": "BatchNormalization",
    "pooling.MaxPool1D": "MaxPooling1D",
    "pooling.MaxPool2D": "MaxPooling2D",
    "pooling.MaxPool3D": "MaxPooling3D",
    "pooling.AvgPool1D": "AveragePooling1D",
    "pooling.AvgPool2D": "AveragePooling2D",
    "pooling.AvgPool3D": "AveragePooling3D",
}
SYMBOLS = {
    **{
        f"layers.{name}": name
        for name in (
            *("dense", "conv1d", "conv2d", "conv3d", "separable_conv1d", "separable_conv2d"),
            *("conv2d_transpose", "conv3d_transpose", "batch_normalization"),
            *("max_pooling1d", "max_pooling2d", "max_pooling3d"),
            *("average_pooling1d", "average_pooling2d", "average_pooling3d"),
        )
    },
    **{f"python.layers.{inside}": name for inside, name in _INSIDE.items()},
}
