"""Layers with weights: `tf.layers`, as classes and as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_tf.api.convolving import (
    conv1d as conv1d_of,
    conv2d as conv2d_of,
    conv2d_transpose as conv2d_transpose_of,
    separable_conv2d as separable_conv2d_of,
)
from byparts_frontend_tf.api.layers.initializers import Zeros
from byparts_frontend_tf.api.layers.layer import InputSpec, Layer, activation_of, sizes
from byparts_frontend_tf.api.nn import bias_add
from byparts_frontend_tf.api.products import matmul
from byparts_frontend_tf.api.shaping import reshape, shape as shape_of
from byparts_frontend_tf.api.stacking import concat
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.shape import TensorShape
from byparts_frontend_tf.symbols import symbol

_WEIGHTS = ("kernel", "bias")


def known_channels(shape: Any, axis: int, layer: Layer) -> int:
    """The extent of the axis of channels.

    Raises:
        ValueError: it is not known.
    """
    last = None if shape.ndims is None else shape.as_list()[axis]
    if last is None:
        raise ValueError(
            f"The channel dimension of the inputs to `{type(layer).__name__}` should be defined. "
            f"Found `None`: {shape}"
        )
    return int(last)


class WeightedLayer(Layer):
    """A layer with a kernel and a bias, and what is given for them."""

    kernel: Any
    bias: Any

    def __init__(
        self,
        activation: Any,
        use_bias: bool,
        given: dict[str, Any],
        trainable: bool,
        name: Optional[str],
        more: dict[str, Any],
    ) -> None:
        super().__init__(trainable, name, **more)
        self.activation, self.use_bias = activation_of(activation), use_bias
        self._given = given

    def weight(self, what: str, shape: Any) -> Any:
        """The kernel or the bias (`what`), or another weight with its own options."""
        initializer = self._given.get(f"{what}_initializer")
        if initializer is None and what == "bias":
            initializer = Zeros(dtype=self._dtype)
        return self.add_weight(
            what,
            shape,
            initializer=initializer,
            regularizer=self._given.get(f"{what}_regularizer"),
            constraint=self._given.get(f"{what}_constraint"),
        )

    def finished(self, outputs: Tensor, data_format: Any = None) -> Any:
        """With bias and activation."""
        if self.use_bias:
            outputs = bias_add(outputs, self.bias, data_format)
        return outputs if self.activation is None else self.activation(outputs)


def _options(names: tuple[str, ...], given: dict[str, Any]) -> dict[str, Any]:
    """What is given for weights, taken out of `given`."""
    kinds = ("initializer", "regularizer", "constraint")
    wanted = [f"{n}_{k}" for n in names for k in kinds]
    return {w: given.pop(w) for w in wanted if w in given}


@symbol("layers.Dense")
class Dense(WeightedLayer):
    """activation(x W + b), along the last axis.

    Args:
        units: columns of W.
        activation: a function or its name.
        use_bias: whether there is a b.
        trainable: whether optimizers change W and b.
        name: of the scope; by default dense, dense_1, ...
        given: kernel_ and bias_initializer, _regularizer, _constraint.
    """

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        trainable: bool = True,
        name: Optional[str] = None,
        **given: Any,
    ) -> None:
        options = _options(_WEIGHTS, given)
        super().__init__(activation, use_bias, options, trainable, name, given)
        self.units, self.input_spec = int(units), InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        """W [inputs, units], b [units]."""
        last = None if input_shape.ndims is None else input_shape.as_list()[-1]
        if last is None:
            raise ValueError(
                "The last dimension of the inputs to `Dense` should be defined. Found `None`."
            )
        self.kernel = self.weight("kernel", [last, self.units])
        self.bias = self.weight("bias", [self.units]) if self.use_bias else None

    def call(self, inputs: Any) -> Any:
        """[..., inputs] -> [..., units]."""
        x = convert_to_tensor(inputs)
        if x.dims is not None and len(x.dims) == 2:
            return self.finished(matmul(x, self.kernel))
        rows = matmul(reshape(x, [-1, self.kernel.shape[0]]), self.kernel)
        outputs = reshape(rows, concat([shape_of(x)[:-1], [self.units]], 0))
        if x.dims is not None:
            outputs.set_shape([*x.dims[:-1], self.units])
        return self.finished(outputs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """[..., inputs] -> [..., units]."""
        return TensorShape([*TensorShape(input_shape).as_list()[:-1], self.units])


class ConvolutionLayer(WeightedLayer):
    """A layer of filters over `rank` spatial dimensions."""

    rank = 2

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        trainable: bool = True,
        name: Optional[str] = None,
        **given: Any,
    ) -> None:
        options = _options(("kernel", "bias", "depthwise", "pointwise"), given)
        self.depth_multiplier = given.pop("depth_multiplier", 1)
        super().__init__(activation, use_bias, options, trainable, name, given)
        self.filters, self.padding = int(filters), padding
        self.kernel_size = sizes(kernel_size, self.rank, "kernel_size")
        self.strides = sizes(strides, self.rank, "strides")
        self.dilation_rate = sizes(dilation_rate, self.rank, "dilation_rate")
        self.data_format = data_format
        self.input_spec = InputSpec(ndim=self.rank + 2)
        if data_format not in ("channels_first", "channels_last"):
            raise ValueError(
                f"The `data_format` argument must be one of channels_first, channels_last: "
                f"{data_format}"
            )

    @property
    def first(self) -> bool:
        """Whether channels are the second axis."""
        return self.data_format == "channels_first"

    def channels(self, input_shape: Any) -> int:
        """How many channels the inputs have."""
        return known_channels(input_shape, 1 if self.first else -1, self)

    def spread(self, numbers: Any) -> list[int]:
        """The numbers of spatial dimensions, with 1 for batch and channels."""
        return [1, 1, *numbers] if self.first else [1, *numbers, 1]

    def build(self, input_shape: Any) -> None:
        """The kernel [spatial..., in, filters], and the bias [filters]."""
        channels = self.channels(input_shape)
        self.kernel = self.weight("kernel", [*self.kernel_size, channels, self.filters])
        self.bias = self.weight("bias", [self.filters]) if self.use_bias else None


@symbol("layers.Conv2D")
class Conv2D(ConvolutionLayer):
    """Convolution of images, with bias and activation."""

    def call(self, inputs: Any) -> Any:
        """Images of `filters` channels."""
        layout = "NCHW" if self.first else "NHWC"
        made = conv2d_of(
            inputs,
            self.kernel,
            self.spread(self.strides),
            self.padding.upper(),
            data_format=layout,
            dilations=self.spread(self.dilation_rate),
        )
        return self.finished(made, layout)


@symbol("layers.Conv1D")
class Conv1D(ConvolutionLayer):
    """Convolution of rows, with bias and activation."""

    rank = 1

    def call(self, inputs: Any) -> Any:
        """Rows of `filters` channels."""
        layout = "NCW" if self.first else "NWC"
        padding, x = self.padding.upper(), convert_to_tensor(inputs)
        if padding == "CAUSAL":
            from byparts_frontend_tf.api.padding import pad

            before = self.dilation_rate[0] * (self.kernel_size[0] - 1)
            around = [[0, 0], [0, 0], [before, 0]] if self.first else [[0, 0], [before, 0], [0, 0]]
            x, padding = pad(x, around), "VALID"
        made = conv1d_of(
            x,
            self.kernel,
            self.strides[0],
            padding,
            data_format=layout,
            dilations=self.dilation_rate[0],
        )
        return self.finished(made, "NCHW" if self.first else None)


@symbol("layers.Conv2DTranspose")
class Conv2DTranspose(ConvolutionLayer):
    """The transpose of `Conv2D`; the kernel is [h, w, filters, in]."""

    def build(self, input_shape: Any) -> None:
        """The kernel and the bias."""
        channels = self.channels(input_shape)
        self.kernel = self.weight("kernel", [*self.kernel_size, self.filters, channels])
        self.bias = self.weight("bias", [self.filters]) if self.use_bias else None

    def call(self, inputs: Any) -> Any:
        """Larger images of `filters` channels."""
        x = convert_to_tensor(inputs)
        layout, dims = "NCHW" if self.first else "NHWC", shape_of(x)
        at = (2, 3) if self.first else (1, 2)
        known = [None if x.dims is None else x.dims[a] for a in at]
        found = [
            self._extent(dims[a] if n is None else n, i)
            for i, (a, n) in enumerate(zip(at, known, strict=True))
        ]
        batch = dims[0] if x.dims is None or x.dims[0] is None else x.dims[0]
        sized = [batch, self.filters, *found] if self.first else [batch, *found, self.filters]
        made = conv2d_transpose_of(
            x, self.kernel, sized, self.spread(self.strides), self.padding.upper(), layout
        )
        made.set_shape([n if isinstance(n, int) else None for n in sized])
        return self.finished(made, layout)

    def _extent(self, extent: Any, axis: int) -> Any:
        """The extent of the larger images along a spatial axis."""
        step, size = self.strides[axis], self.kernel_size[axis]
        return extent * step + (max(size - step, 0) if self.padding.lower() == "valid" else 0)


@symbol("layers.SeparableConv2D")
class SeparableConv2D(ConvolutionLayer):
    """Each channel by its own filters, then filters of one pixel, bias and activation."""

    def build(self, input_shape: Any) -> None:
        """[h, w, in, depth_multiplier], [1, 1, in depth_multiplier, filters], [filters]."""
        channels, times = self.channels(input_shape), self.depth_multiplier
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel",
            [*self.kernel_size, channels, times],
            initializer=self._given.get("depthwise_initializer"),
            regularizer=self._given.get("depthwise_regularizer"),
        )
        self.pointwise_kernel = self.add_weight(
            "pointwise_kernel",
            [1, 1, channels * times, self.filters],
            initializer=self._given.get("pointwise_initializer"),
            regularizer=self._given.get("pointwise_regularizer"),
        )
        self.bias = self.weight("bias", [self.filters]) if self.use_bias else None

    def call(self, inputs: Any) -> Any:
        """Images of `filters` channels."""
        layout = "NCHW" if self.first else "NHWC"
        made = separable_conv2d_of(
            inputs,
            self.depthwise_kernel,
            self.pointwise_kernel,
            self.spread(self.strides),
            self.padding.upper(),
            self.dilation_rate,
            data_format=layout,
        )
        return self.finished(made, layout)


def layer_function(kind: Callable[..., Layer], *names: str, doc: str) -> Callable[..., Any]:
    """The function that makes a layer and calls it."""

    def apply(inputs: Any, *arguments: Any, **given: Any) -> Any:
        name, reuse = given.pop("name", None), given.pop("reuse", None)
        made = kind(
            *arguments,
            name=name,
            dtype=convert_to_tensor(inputs).dtype.base_dtype,
            _scope=name,
            _reuse=reuse,
            **given,
        )
        return made.apply(inputs)

    apply.__name__ = apply.__qualname__ = names[0]
    apply.__doc__ = doc
    apply.__module__ = __name__
    return apply


dense = layer_function(Dense, "dense", doc="A new `Dense` layer of the inputs.")
conv2d = layer_function(Conv2D, "conv2d", doc="A new `Conv2D` layer of the inputs.")
conv1d = layer_function(Conv1D, "conv1d", doc="A new `Conv1D` layer of the inputs.")
conv2d_transpose = layer_function(
    Conv2DTranspose, "conv2d_transpose", doc="A new `Conv2DTranspose` layer of the inputs."
)
separable_conv2d = layer_function(
    SeparableConv2D, "separable_conv2d", doc="A new `SeparableConv2D` layer of the inputs."
)
SYMBOLS = {
    f"layers.{name}": name
    for name in ("dense", "conv2d", "conv1d", "conv2d_transpose", "separable_conv2d")
}
