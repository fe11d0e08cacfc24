"""Convolutions of rows, images and volumes, as layers of Keras."""

from __future__ import annotations

from typing import Any

import byparts_frontend_tf as tf
from byparts_frontend_tf.api.arguments import sizes
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras import activations
from byparts_tf_keras.input_spec import InputSpec
from byparts_tf_keras.state import layout
from byparts_tf_keras.weighted import Weighted

_LAYOUTS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def extent(n: Any, size: int, stride: int, padding: str, dilation: int = 1) -> Any:
    """The number of windows along an axis."""
    if n is None:
        return None
    reach = (size - 1) * dilation + 1
    left = n if padding in ("same", "causal") else n - reach + 1
    return (left + stride - 1) // stride


class Convolution(Weighted):
    """Filters over `rank` spatial axes."""

    rank = 2
    filters: Any
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
        kernel_initializer: Any = None,
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.filters = None if filters is None else int(filters)
        self.kernel_size = sizes(kernel_size, self.rank, "kernel_size")
        self.strides = sizes(strides, self.rank, "strides")
        self.padding = padding.lower()
        if self.padding not in ("valid", "same", *(("causal",) if self.rank == 1 else ())):
            raise ValueError(
                'The `padding` argument must be a list/tuple or one of "valid", "same" (or '
                f'"causal", only for `Conv1D). Received: {padding}'
            )
        self.data_format = layout(data_format or self.usual_layout)
        self.dilation_rate = sizes(dilation_rate, self.rank, "dilation_rate")
        self.activation, self.use_bias = activations.get(activation), use_bias
        self._options(locals())
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
        count = tf.TensorShape(input_shape).as_list()[axis]
        if count is None:
            raise ValueError(
                f"The channel dimension of the inputs to `{type(self).__name__}` should be "
                "defined. Found `None`."
            )
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: count})
        return int(count)

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
            x = tf.nn.bias_add(x, self.bias, self._layout)
        return self.activation(x)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the images."""
        dims = tf.TensorShape(input_shape).as_list()
        inner = dims[2:] if self._first else dims[1:-1]
        rows = zip(inner, self.kernel_size, self.strides, self.dilation_rate, strict=True)
        extents = [extent(n, k, s, self.padding, d) for n, k, s, d in rows]
        channels = self._filters(dims[1 if self._first else -1])
        return tf.TensorShape(
            [dims[0], channels, *extents] if self._first else [dims[0], *extents, channels]
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
