"""Transposed convolutions, as layers of Keras."""

from __future__ import annotations

from typing import Any

import byparts_frontend_tf as tf
from byparts_frontend_tf.api.arguments import sizes
from byparts_frontend_tf.api.layers.shaped_products import enlarged
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.convolutions import Convolution


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
            **kwargs,
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
        outputs = enlarged(
            inputs,
            self.kernel,
            self.filters,
            self.strides,
            self.padding.upper(),
            self._layout,
            self._extent,
        )
        return self._finished(outputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the images."""
        dims = tf.TensorShape(input_shape).as_list()
        inner = dims[2:] if self._first else dims[1:-1]
        extents = [None if n is None else self._extent(n, i) for i, n in enumerate(inner)]
        return tf.TensorShape(
            [dims[0], self.filters, *extents] if self._first else [dims[0], *extents, self.filters]
        )


@symbol("keras.layers.Conv3DTranspose", "keras.layers.Convolution3DTranspose")
class Conv3DTranspose(Conv2DTranspose):
    """The transpose of a convolution of volumes."""

    rank = 3
