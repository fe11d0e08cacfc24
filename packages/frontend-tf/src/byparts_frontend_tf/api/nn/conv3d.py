"""Convolutions of volumes, which are those of images at several depths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.nn.conv import conv1d, conv2d
from byparts_frontend_tf.api.nn.window_shapes import windows
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor, shape_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_dims
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.shape import Dims

Triple = tuple[int, int, int]


def triple_of(given: Any, layout: str, what: str) -> Triple:
    """The numbers for depth, height and width, of a list of 5, of 3, or a number.

    Raises:
        ValueError: another count, or not 1 for batch and channels.
    """
    if given is None:
        return 1, 1, 1
    numbers = [given] * 3 if isinstance(given, int) else [int(n) for n in given]
    if len(numbers) == 1:
        numbers = numbers * 3
    if len(numbers) == 5:
        at = (1, 2, 3) if layout == "NDHWC" else (2, 3, 4)
        if [n for i, n in enumerate(numbers) if i not in at] != [1, 1]:
            raise ValueError(f"{what}: {given}: batch and channels have 1 there")
        numbers = [numbers[i] for i in at]
    if len(numbers) != 3:
        raise ValueError(f"{what} should be of length 1, 3 or 5 but was {len(numbers)}")
    return numbers[0], numbers[1], numbers[2]


def padded_edges(d: int, size: int, stride: int, padding: str) -> tuple[int, int]:
    """Number of places padded before and after an axis."""
    if padding == "VALID":
        return 0, 0
    more = max((-(-d // stride) - 1) * stride + size - d, 0)
    return more // 2, more - more // 2


def with_channels_last(x: Value, layout: str) -> Value:
    """Volumes of a layout, in NDHWC."""
    return x if layout == "NDHWC" else ops.transpose(x, [0, 2, 3, 4, 1])


def in_layout(x: Value, layout: str) -> Value:
    """Volumes in NDHWC, in another layout."""
    return x if layout == "NDHWC" else ops.transpose(x, [0, 4, 1, 2, 3])


def _conv3d(
    x: Value, w: Value, strides: Triple, padding: str, dilations: Triple, layout: str
) -> Value:
    """The sum over the depth of the filter of convolutions of images."""
    x = with_channels_last(x, layout)
    n, depth, height, width, channels = x.type.dims
    span = (w.type.dims[0] - 1) * dilations[0] + 1
    x = ops.pad(x, [(0, 0), padded_edges(depth, span, strides[0], padding), *[(0, 0)] * 3])
    count = (x.type.dims[1] - span) // strides[0] + 1
    total: Optional[Value] = None
    for k in range(w.type.dims[0]):
        start = k * dilations[0]
        rows = slice(start, start + (count - 1) * strides[0] + 1, strides[0])
        flat = ops.reshape(ops.getitem(x, (slice(None), rows)), [-1, height, width, channels])
        part = ops.conv2d(flat, ops.getitem(w, k), strides[1:], padding, dilations[1:], 1, "NHWC")
        total = part if total is None else total + part
    assert total is not None, "a filter has a depth"
    return in_layout(ops.reshape(total, [n, count, *total.type.dims[1:]]), layout)


def volume_shape(sizes: Callable[..., Any]) -> Callable[..., Dims]:
    """The rule for shapes of windows over volumes; `sizes` says windows and channels."""

    def rule(
        inputs: Sequence[Tensor], *, strides: Triple, padding: str, layout: str, **more: Any
    ) -> Dims:
        dims = inputs[0].dims
        if dims is None:
            return (None,) * 5
        if len(dims) != 5:
            raise ValueError(f"Shape must be rank 5 but is rank {len(dims)}")
        n, *space, c = dims if layout == "NDHWC" else (dims[0], *dims[2:], dims[1])
        spans, out = sizes(inputs, c, **more)
        made = [windows(d, k, s, padding, 0) for d, k, s in zip(space, spans, strides, strict=True)]
        return (n, *made, out) if layout == "NDHWC" else (n, out, *made)

    return rule


def _of_filter(inputs: Sequence[Tensor], c: Any, dilations: Triple) -> Any:
    kernel: Any = inputs[1].dims or (None,) * 5
    if None not in (c, kernel[3]) and c != kernel[3]:
        raise ValueError(f"Dimensions must be equal, but are {c} and {kernel[3]} for 'Conv3D'")
    spans = [
        None if k is None else (k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=False)
    ]
    return spans, kernel[4]


CONV3D = Kind("Conv3D", _conv3d, shape=volume_shape(_of_filter))


@symbol("nn.conv3d")
def conv3d(
    input: TensorLike,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    data_format: Optional[str] = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    name: Optional[str] = None,
    filters: Any = None,
) -> Tensor:
    """Convolution of volumes by filters [d, h, w, in, out].

    Raises:
        ValueError: shapes, strides or padding do not fit.
    """
    layout = data_format or "NDHWC"
    return CONV3D(
        convert_to_tensor(input),
        convert_to_tensor(filter if filters is None else filters, name="filter"),
        name=name,
        strides=triple_of(strides, layout, "strides"),
        padding=padding,
        dilations=triple_of(dilations, layout, "dilations"),
        layout=layout,
    )


def _transposed(
    x: Value, w: Value, sizes: Any, strides: Triple, padding: str, layout: str
) -> Value:
    """For each depth of the filter the transposed convolution of images, put where it belongs."""
    x = with_channels_last(x, layout)
    n, depth, height, width, channels = x.type.dims
    target = [int(s) for s in np.reshape(sizes, -1)]
    space = target[1:4] if layout == "NDHWC" else target[2:5]
    flat = ops.reshape(x, [n * depth, height, width, channels])
    span, stride = w.type.dims[0], strides[0]
    before, _ = padded_edges(space[0], span, stride, padding)
    whole = max((depth - 1) * stride + span, before + space[0])
    total: Optional[Value] = None
    for k in range(span):
        part = ops.conv2d_transpose(
            flat,
            ops.getitem(w, k),
            strides[1:],
            padding,
            (1, 1),
            layout="NHWC",
            output_shape=(space[1], space[2]),
        )
        dims = part.type.dims[1:]
        spread = ops.pad(ops.reshape(part, [n, depth, 1, *dims]), _after(2, stride - 1, 6))
        laid = ops.getitem(
            ops.reshape(spread, [n, depth * stride, *dims]),
            (slice(None), slice(0, (depth - 1) * stride + 1)),
        )
        edges = [(0, 0), (k, whole - k - laid.type.dims[1]), *[(0, 0)] * 3]
        moved = ops.pad(laid, edges)
        total = moved if total is None else total + moved
    assert total is not None, "a filter has a depth"
    return in_layout(ops.getitem(total, (slice(None), slice(before, before + space[0]))), layout)


def _after(axis: int, more: int, rank: int) -> list[tuple[int, int]]:
    return [(0, more if i == axis else 0) for i in range(rank)]


CONV3D_TRANSPOSE = Kind(
    "Conv3DBackpropInputV2",
    _transposed,
    values=(2,),
    shape=lambda inputs, **_: static_dims(inputs[2]),
)


@symbol("nn.conv3d_transpose")
def conv3d_transpose(
    value: Any = None,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: str = "SAME",
    data_format: Optional[str] = "NDHWC",
    name: Optional[str] = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """The transpose of `conv3d`: filters are [d, h, w, out, in]."""
    layout = data_format or "NDHWC"
    return CONV3D_TRANSPOSE(
        convert_to_tensor(value if input is None else input),
        convert_to_tensor(filter if filters is None else filters, name="filter"),
        shape_tensor(output_shape),
        name=name or "conv3d_transpose",
        strides=triple_of(strides, layout, "strides"),
        padding=padding,
        layout=layout,
    )


@symbol("nn.convolution")
def convolution(
    input: TensorLike,
    filter: Any = None,
    padding: Any = None,
    strides: Any = None,
    dilation_rate: Any = None,
    name: Optional[str] = None,
    data_format: Optional[str] = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """Convolution of rows, images or volumes, as the filter has 3, 4 or 5 axes.

    Raises:
        ValueError: it has another number of axes.
    """
    w = convert_to_tensor(filter if filters is None else filters, name="filter")
    rank = w.shape.ndims
    if rank not in (3, 4, 5):
        raise ValueError(f"filter must have 3, 4 or 5 axes, and has shape {w.shape}")
    between = dilation_rate if dilations is None else dilations
    steps = strides if strides is not None else [1] * (rank - 2)
    gaps = between if between is not None else [1] * (rank - 2)
    given = {"padding": padding, "data_format": data_format, "dilations": gaps, "name": name}
    if rank == 3:
        return conv1d(input, w, steps, **given)
    given["name"] = name or "convolution"
    return (conv2d if rank == 4 else conv3d)(input, w, steps, **given)
