"""Convolutions and pooling of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import renamed
from byparts_frontend_tf.api.families import FLOATS, NUMBERS, check_dtype, mismatch
from byparts_frontend_tf.api.shaping import expand_dims, squeeze
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor, shape_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.shape import Dims, merged, shown
from byparts_frontend_tf.graph.static import static_dims
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value

Pair = tuple[int, int]


def window(given: Any, data_format: str, what: str) -> Pair:
    """Height and width of strides or a window given as one number, two, or one for each axis.

    Raises:
        ValueError: there are others, or they go over images or channels.
    """
    if isinstance(given, int):
        return given, given
    sizes = [int(v) for v in given]
    if len(sizes) == 1:
        return sizes[0], sizes[0]
    if len(sizes) == 2:
        return sizes[0], sizes[1]
    if len(sizes) != 4:
        raise ValueError(f"{what} should be of length 1, 2 or 4 but was {len(sizes)}")
    first = 2 if data_format == "NCHW" else 1
    if sizes[0] != 1 or sizes[3 if first == 1 else 1] != 1:
        raise ValueError(f"{what} over images and channels are 1, got {sizes}")
    return sizes[first], sizes[first + 1]


def padding_of(padding: Any, data_format: str) -> Any:
    """Padding in the form of graph-ir's ops.

    Raises:
        ValueError: it is none.
    """
    if isinstance(padding, str):
        if padding not in ("SAME", "VALID"):
            raise ValueError(f"padding {padding!r} is neither 'SAME' nor 'VALID'")
        return padding
    sides = [tuple([int(v) for v in p]) for p in padding]
    return tuple(sides[2:] if data_format == "NCHW" else sides[1:3])


def length(d: Optional[int], size: int, stride: int, padding: Any, axis: int) -> Optional[int]:
    """How many windows there are along an axis.

    Raises:
        ValueError: there is none.
    """
    if d is None:
        return None
    if padding == "SAME":
        return -(-d // stride)
    extra = 0 if padding == "VALID" else sum(padding[axis])
    count = (d + extra - size) // stride + 1
    if count < 0 or d + extra < size:
        raise ValueError(f"Negative dimension size caused by subtracting {size} from {d + extra}")
    return count


def _formatted(data_format: Optional[str]) -> str:
    if data_format not in (None, "NHWC", "NCHW"):
        raise ValueError(f"data_format {data_format!r} is neither 'NHWC' nor 'NCHW'")
    return data_format or "NHWC"


def _spatial(dims: Dims, data_format: str) -> tuple[Any, Any, Any, Any]:
    """Images, height, width, channels."""
    if dims is None:
        return None, None, None, None
    if len(dims) != 4:
        raise ValueError(
            f"Shape must be rank 4 but is rank {len(dims)} for 'Conv2D': {shown(dims)}"
        )
    n, a, b, c = dims
    return (n, b, c, a) if data_format == "NCHW" else (n, a, b, c)


def _images(n: Any, h: Any, w: Any, c: Any, data_format: str) -> Dims:
    return (n, c, h, w) if data_format == "NCHW" else (n, h, w, c)


def _conv_shape(
    inputs: Sequence[Tensor], *, strides: Pair, padding: Any, data_format: str, dilations: Pair
) -> Dims:
    n, h, w, c = _spatial(inputs[0].dims, data_format)
    filter = inputs[1].dims or (None,) * 4
    if len(filter) != 4:
        raise ValueError(f"Shape must be rank 4 but is rank {len(filter)} for 'Conv2D'")
    if None not in (c, filter[2]) and c % filter[2]:
        raise ValueError(f"Dimensions must be equal, but are {c} and {filter[2]} for 'Conv2D'")
    sizes = [
        _length(d, filter[i], strides[i], padding, dilations[i], i) for i, d in ((0, h), (1, w))
    ]
    return _images(n, sizes[0], sizes[1], filter[3], data_format)


def _length(
    d: Optional[int], k: Optional[int], stride: int, padding: Any, dilation: int, axis: int
) -> Optional[int]:
    if k is None:
        return length(d, 1, stride, padding, axis) if padding == "SAME" else None
    return length(d, (k - 1) * dilation + 1, stride, padding, axis)


def _conv(
    x: Value, filter: Value, strides: Pair, padding: Any, data_format: str, dilations: Pair
) -> Value:
    groups = _spatial(x.type.dims, data_format)[3] // filter.type.dims[2]
    if data_format == "NCHW":
        filter = ops.transpose(filter, (3, 2, 0, 1))
    return ops.conv2d(x, filter, strides, padding, dilations, groups, data_format)


CONV2D = Kind("Conv2D", _conv, shape=_conv_shape)


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
    """Convolution of images [n, height, width, in] by filters [height, width, in, out].

    Raises:
        ValueError: shapes, strides or padding do not fit.
        TypeError: dtypes differ.
    """
    filter = renamed(filter, filters, "filter", "filters")
    form = _formatted(data_format)
    x, w = convert_to_tensor(input, name="input"), convert_to_tensor(filter, name="filter")
    if x.dtype.base_dtype is not w.dtype.base_dtype:
        raise mismatch("Conv2D", x.dtype, w.dtype)
    return CONV2D(
        check_dtype(x, FLOATS, "input"),
        w,
        name=name or "Conv2D",
        strides=window(strides, form, "strides"),
        padding=padding_of(padding, form),
        data_format=form,
        dilations=window(dilations, form, "dilations"),
    )


@symbol("nn.atrous_conv2d")
def atrous_conv2d(
    value: TensorLike, filters: Any, rate: int, padding: str, name: Optional[str] = None
) -> Tensor:
    """Convolution by filters whose elements stand `rate` apart."""
    return conv2d(value, filters, [1, 1, 1, 1], padding, dilations=[1, rate, rate, 1], name=name)


def _transposed_shape(inputs: Sequence[Tensor], **_: Any) -> Dims:
    known = static_dims(inputs[2])
    return (None,) * 4 if known is None else known


def _conv_transposed(
    x: Value, filter: Value, shape: Any, strides: Pair, padding: Any, data_format: str
) -> Value:
    _, h, w, _ = _spatial(tuple([int(d) for d in shape]), data_format)
    if data_format == "NCHW":
        filter = ops.transpose(filter, (3, 2, 0, 1))
    return ops.conv2d_transpose(
        x, filter, strides, padding, layout=data_format, output_shape=(h, w)
    )


CONV2D_TRANSPOSE = Kind(
    "Conv2DBackpropInput", _conv_transposed, values=(2,), shape=_transposed_shape
)


@symbol("nn.conv2d_transpose")
def conv2d_transpose(
    value: Any = None,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: str = "SAME",
    data_format: Optional[str] = "NHWC",
    name: Optional[str] = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """The transpose of a convolution: images of `output_shape`, filters [h, w, out, in]."""
    form = _formatted(data_format)
    x = convert_to_tensor(renamed(value, input, "value", "input"), name="value")
    w = convert_to_tensor(renamed(filter, filters, "filter", "filters"), name="filter")
    if x.dims is not None and w.dims is not None:
        channels = _spatial(x.dims, form)[3]
        merged((channels,), w.dims[3:])
    return CONV2D_TRANSPOSE(
        x,
        w,
        shape_tensor(output_shape, "output_shape"),
        name=name or "conv2d_transpose",
        strides=window(strides, form, "strides"),
        padding=padding_of(padding, form),
        data_format=form,
    )


def _depthwise(
    x: Value, filter: Value, strides: Pair, padding: Any, data_format: str, dilations: Pair
) -> Value:
    h, w, channels, many = filter.type.dims
    flat = ops.reshape(filter, [h, w, 1, channels * many])
    if data_format == "NCHW":
        flat = ops.transpose(flat, (3, 2, 0, 1))
    return ops.conv2d(x, flat, strides, padding, dilations, channels, data_format)


def _depthwise_shape(
    inputs: Sequence[Tensor], *, strides: Pair, padding: Any, data_format: str, dilations: Pair
) -> Dims:
    n, h, w, c = _spatial(inputs[0].dims, data_format)
    f = inputs[1].dims or (None,) * 4
    c = f[2] if c is None else c
    out = None if c is None or f[3] is None else c * f[3]
    sizes = [_length(d, f[i], strides[i], padding, dilations[i], i) for i, d in ((0, h), (1, w))]
    return _images(n, sizes[0], sizes[1], out, data_format)


DEPTHWISE = Kind("DepthwiseConv2dNative", _depthwise, shape=_depthwise_shape)


@symbol("nn.depthwise_conv2d", "nn.depthwise_conv2d_native")
def depthwise_conv2d(
    input: TensorLike,
    filter: Any,
    strides: Any,
    padding: str,
    rate: Any = None,
    name: Optional[str] = None,
    data_format: Optional[str] = None,
    dilations: Any = None,
) -> Tensor:
    """Convolution of each channel by filters of its own: [height, width, in, how many]."""
    form = _formatted(data_format)
    apart = renamed(dilations, rate, "dilations", "rate")
    return DEPTHWISE(
        convert_to_tensor(input, name="tensor_in"),
        convert_to_tensor(filter, name="filter_in"),
        name=name or "depthwise",
        strides=window(strides, form, "strides"),
        padding=padding_of(padding, form),
        data_format=form,
        dilations=(1, 1) if apart is None else window(apart, form, "rate"),
    )


@symbol("nn.separable_conv2d")
def separable_conv2d(
    input: TensorLike,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: str,
    rate: Any = None,
    name: Optional[str] = None,
    data_format: Optional[str] = None,
    dilations: Any = None,
) -> Tensor:
    """A depthwise convolution, then one by filters [1, 1, in * how many, out]."""
    deep = depthwise_conv2d(
        input, depthwise_filter, strides, padding, rate, None, data_format, dilations
    )
    return conv2d(deep, pointwise_filter, [1, 1, 1, 1], "VALID", data_format=data_format, name=name)


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
    """Convolution of sequences [n, width, in] by filters [width, in, out]."""
    x = convert_to_tensor(renamed(value, input, "value", "input"))
    first = data_format in ("NCW", "NCHW")
    axis, step = (2 if first else 1), stride if isinstance(stride, int) else list(stride)[-1]
    apart = 1 if dilations is None else dilations if isinstance(dilations, int) else dilations[-1]
    made = conv2d(
        expand_dims(x, axis),
        expand_dims(convert_to_tensor(filters), 0),
        (1, step),
        padding,
        data_format="NCHW" if first else "NHWC",
        dilations=(1, apart),
        name=name or "conv1d",
    )
    return squeeze(made, [axis])


def _pool_shape(
    inputs: Sequence[Tensor], *, size: Pair, strides: Pair, padding: Any, data_format: str
) -> Dims:
    dims = inputs[0].dims
    if dims is None:
        return (None,) * 4
    n, h, w, c = _spatial(dims, data_format)
    a = length(h, size[0], strides[0], padding, 0)
    b = length(w, size[1], strides[1], padding, 1)
    return _images(n, a, b, c, data_format)


MAX_POOL = Kind(
    "MaxPool",
    lambda x, size, strides, padding, data_format: ops.max_pool(
        x, size, strides, padding, data_format
    ),
    shape=_pool_shape,
)
AVG_POOL = Kind(
    "AvgPool",
    lambda x, size, strides, padding, data_format: ops.average_pool(
        x, size, strides, padding, data_format, count_include_pad=False
    ),
    shape=_pool_shape,
)


def _pool(
    kind: Kind, x: Any, ksize: Any, strides: Any, padding: Any, data_format: Any, name: Any
) -> Tensor:
    form = _formatted(data_format)
    return kind(
        check_dtype(convert_to_tensor(x, name="input"), NUMBERS, "input"),
        name=name,
        size=window(ksize, form, "ksize"),
        strides=window(strides, form, "strides"),
        padding=padding_of(padding, form),
        data_format=form,
    )


@symbol("nn.max_pool")
def max_pool(
    value: Any = None,
    ksize: Any = None,
    strides: Any = None,
    padding: Any = None,
    data_format: Optional[str] = "NHWC",
    name: Optional[str] = None,
    input: Any = None,
) -> Tensor:
    """The greatest of each window."""
    x = renamed(value, input, "value", "input")
    return _pool(MAX_POOL, x, ksize, strides, padding, data_format, name or "MaxPool")


@symbol("nn.avg_pool", "nn.avg_pool2d")
def avg_pool(
    value: Any = None,
    ksize: Any = None,
    strides: Any = None,
    padding: Any = None,
    data_format: Optional[str] = "NHWC",
    name: Optional[str] = None,
    input: Any = None,
) -> Tensor:
    """The mean of each window, of what of it lies in the image."""
    x = renamed(value, input, "value", "input")
    return _pool(AVG_POOL, x, ksize, strides, padding, data_format, name or "AvgPool")
