"""Convolutions of images: `tf.nn.conv2d` and its kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.api.elementwise import FLOATS, check_dtype, mismatch, second
from byparts_frontend_tf.api.nn.window_shapes import conv_shape, depthwise_shape, transposed_shape
from byparts_frontend_tf.api.reshape import expand_dims, squeeze
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor, shape_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value

Pair = tuple[int, int]


def spatial(given: Any, layout: str, what: str) -> Pair:
    """The numbers for height and width, of a list of 4, of 2, or a number.

    Raises:
        ValueError: another count, or not 1 for batch and channels.
    """
    if given is None:
        return 1, 1
    if isinstance(given, int):
        return given, given
    numbers = [int(n) for n in given]
    if len(numbers) == 1:
        return numbers[0], numbers[0]
    if len(numbers) == 2:
        return numbers[0], numbers[1]
    if len(numbers) != 4:
        raise ValueError(f"{what} should be of length 1, 2 or 4 but was {len(numbers)}")
    h, w = (1, 2) if layout == "NHWC" else (2, 3)
    others = [n for i, n in enumerate(numbers) if i not in (h, w)]
    if others != [1, 1]:
        raise ValueError(f"{what}: {given}: batch and channels have 1 there")
    return numbers[h], numbers[w]


def padding_of(given: Any, layout: str) -> Any:
    """SAME, VALID, or numbers for height and width.

    Raises:
        ValueError: none of these.
    """
    if isinstance(given, str):
        if given not in ("SAME", "VALID"):
            raise ValueError(f'padding must be either "VALID", "SAME", or "EXPLICIT": {given!r}')
        return given
    pairs = [tuple(map(int, p)) for p in given]
    return tuple(pairs[1:3] if layout == "NHWC" else pairs[2:4])


def layout_of(data_format: Optional[str]) -> str:
    """The layout of images.

    Raises:
        ValueError: another than NHWC and NCHW.
    """
    layout = data_format or "NHWC"
    if layout not in ("NHWC", "NCHW"):
        raise ValueError(f"data_format must be NHWC or NCHW: {data_format!r}")
    return layout


def _filter(w: Value, layout: str) -> Value:
    """TensorFlow's filter [h, w, in, out], as the layout wants it."""
    return w if layout == "NHWC" else ops.transpose(w, (3, 2, 0, 1))


def _conv2d(x: Value, w: Value, strides: Pair, padding: Any, dilations: Pair, layout: str) -> Value:
    channels = x.type.dims[3 if layout == "NHWC" else 1]
    groups = max(1, channels // w.type.dims[2])
    return ops.conv2d(x, _filter(w, layout), strides, padding, dilations, groups, layout)


CONV2D = Kind("Conv2D", _conv2d, shape=conv_shape)


@symbol("nn.conv2d")
def conv2d(
    input: TensorLike,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: Optional[str] = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: Optional[str] = None,
    filters: Any = None,
) -> Tensor:
    """Convolution of images [batch, height, width, in] by filters [h, w, in, out].

    Raises:
        ValueError: shapes, strides or padding do not fit.
        TypeError: not of floats.
    """
    layout = layout_of(data_format)
    x = check_dtype(convert_to_tensor(input, name="input"), FLOATS, "input")
    w = second(filter if filters is None else filters, x.dtype.base_dtype, "Conv2D", "filter")
    if w.dtype.base_dtype is not x.dtype.base_dtype:
        raise mismatch("Conv2D", x.dtype, w.dtype)
    _check_channels(x, w, layout)
    return CONV2D(
        x,
        w,
        name=name,
        strides=spatial(strides, layout, "strides"),
        padding=padding_of(padding, layout),
        dilations=spatial(dilations, layout, "dilations"),
        layout=layout,
    )


def _check_channels(x: Tensor, w: Tensor, layout: str) -> None:
    if x.dims is None or w.dims is None:
        return
    if len(x.dims) != 4 or len(w.dims) != 4:
        raise ValueError(f"Shape must be rank 4: input {x.shape}, filter {w.shape}")
    channels, wanted = x.dims[3 if layout == "NHWC" else 1], w.dims[2]
    if channels is not None and wanted is not None and channels % wanted:
        raise ValueError(
            f"input depth ({channels}) is not evenly divisible by the filter's ({wanted})"
        )


def _transposed(
    x: Value, w: Value, sizes: Any, strides: Pair, padding: Any, dilations: Pair, layout: str
) -> Value:
    height, width = (sizes[1], sizes[2]) if layout == "NHWC" else (sizes[2], sizes[3])
    return ops.conv2d_transpose(
        x,
        _filter(w, layout),
        strides,
        padding,
        dilations,
        layout=layout,
        output_shape=(int(height), int(width)),
    )


CONV2D_TRANSPOSE = Kind("Conv2DBackpropInput", _transposed, values=(2,), shape=transposed_shape)


@symbol("nn.conv2d_transpose", "nn.conv2d_backprop_input_v2")
def conv2d_transpose(
    value: Any = None,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: Any = "SAME",
    data_format: Optional[str] = "NHWC",
    name: Optional[str] = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """The transpose of `conv2d`: filters are [h, w, out, in], the result has `output_shape`."""
    layout = layout_of(data_format)
    with name_scope(name, "conv2d_transpose") as scope:
        x = convert_to_tensor(value if input is None else input, name="value")
        w = convert_to_tensor(filter if filters is None else filters, name="filter")
        return CONV2D_TRANSPOSE(
            x,
            w,
            shape_tensor(output_shape),
            name=scope,
            strides=spatial(strides, layout, "strides"),
            padding=padding_of(padding, layout),
            dilations=spatial(dilations, layout, "dilations"),
            layout=layout,
        )


def _depthwise(
    x: Value, w: Value, strides: Pair, padding: Any, dilations: Pair, layout: str
) -> Value:
    h, width, channels, times = w.type.dims
    filter = ops.reshape(w, [h, width, 1, channels * times])
    return ops.conv2d(x, _filter(filter, layout), strides, padding, dilations, channels, layout)


_DEPTHWISE = Kind("DepthwiseConv2dNative", _depthwise, shape=depthwise_shape)


@symbol("nn.depthwise_conv2d", "nn.depthwise_conv2d_native")
def depthwise_conv2d(
    input: TensorLike,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    rate: Any = None,
    name: Optional[str] = None,
    data_format: Optional[str] = None,
    dilations: Any = None,
) -> Tensor:
    """Each channel by its own filters: [h, w, in, times] give channel c times `times`."""
    layout = layout_of(data_format)
    return _DEPTHWISE(
        convert_to_tensor(input, name="tensor_in"),
        convert_to_tensor(filter, name="filter_in"),
        name=name or "depthwise",
        strides=spatial(strides, layout, "strides"),
        padding=padding_of(padding, layout),
        dilations=spatial(rate if dilations is None else dilations, layout, "dilations"),
        layout=layout,
    )


@symbol("nn.separable_conv2d")
def separable_conv2d(
    input: TensorLike,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    rate: Any = None,
    name: Optional[str] = None,
    data_format: Optional[str] = None,
    dilations: Any = None,
) -> Tensor:
    """`depthwise_conv2d`, then filters of one pixel."""
    with name_scope(name, "separable_conv2d") as scope:
        each = depthwise_conv2d(
            input, depthwise_filter, strides, padding, rate, None, data_format, dilations
        )
        return conv2d(
            each, pointwise_filter, [1, 1, 1, 1], "VALID", data_format=data_format, name=scope
        )


@symbol("nn.atrous_conv2d")
def atrous_conv2d(
    value: TensorLike, filters: Any, rate: int, padding: Any, name: Optional[str] = None
) -> Tensor:
    """`conv2d` with `rate - 1` zeros between the elements of filters."""
    return conv2d(value, filters, [1, 1, 1, 1], padding, dilations=[1, rate, rate, 1], name=name)


@symbol("nn.atrous_conv2d_transpose")
def atrous_conv2d_transpose(
    value: TensorLike,
    filters: Any,
    output_shape: Any,
    rate: int,
    padding: Any,
    name: Optional[str] = None,
) -> Tensor:
    """The transpose of `atrous_conv2d`: filters are [h, w, out, in]."""
    return conv2d_transpose(
        value, filters, output_shape, [1, 1, 1, 1], padding, name=name, dilations=[1, rate, rate, 1]
    )


@symbol("nn.conv1d")
def conv1d(
    value: Any = None,
    filters: Any = None,
    stride: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: Any = None,
    data_format: Optional[str] = None,
    name: Optional[str] = None,
    input: Any = None,
    dilations: Any = None,
) -> Tensor:
    """Convolution of rows [batch, width, in] by filters [w, in, out]."""
    first = data_format in ("NCW", "NCHW")
    with name_scope(name, "conv1d") as scope:
        x = convert_to_tensor(value if input is None else input, name="value")
        w = expand_dims(filters, 0)
        (step,), (between,) = ([_one(g)] for g in (stride, dilations))
        axis = 2 if first else 1
        strides = [1, 1, 1, step] if first else [1, 1, step, 1]
        spaces = [1, 1, 1, between] if first else [1, 1, between, 1]
        layout = "NCHW" if first else "NHWC"
        made = conv2d(
            expand_dims(x, axis), w, strides, padding, data_format=layout, dilations=spaces
        )
        return squeeze(made, [axis], name=scope)


def _one(given: Any) -> int:
    if given is None:
        return 1
    if isinstance(given, Sequence):
        return int(given[0] if len(given) == 1 else max(given))
    return int(given)
