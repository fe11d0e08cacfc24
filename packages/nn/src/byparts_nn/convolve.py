"""Convolutions along one, two or three axes, by those of images that the op set has.

One axis is an image of height 1.  For three, the depths under a window become channels of an image:
one convolution of images does the rest, with as many products as the one of volumes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import byparts_opset as ops
from byparts_graph_ir import Value
from byparts_nn.windows import inner, side, span, without

Window = tuple[int, ...]
Sides = Any  # "SAME", "VALID", or (before, after) for each axis


def convolve(
    x: Value, w: Value, strides: Window, sides: Sides, dilations: Window, groups: int
) -> Value:
    """[n, in, *extents] and [out, in / groups, *window] -> [n, out, *extents]."""
    if len(strides) == 3:
        return _convolve_volumes(x, w, strides, sides, dilations, groups)
    return _as_images(ops.conv2d, x, w, strides, sides, dilations, groups)


def convolve_transposed(
    x: Value,
    w: Value,
    strides: Window,
    sides: Sides,
    dilations: Window,
    groups: int,
    more: Window,
) -> Value:
    """[n, in, *extents] and [in, out / groups, *window] -> [n, out, *extents].

    `more` are elements at the end of y that no window of x reaches, for each axis.
    """
    if len(strides) == 3:
        return _transpose_volumes(x, w, strides, sides, dilations, groups, more)
    extra = more if len(more) == 2 else (0, *more)
    function = partial(ops.conv2d_transpose, output_padding=(extra[0], extra[1]))
    return _as_images(function, x, w, strides, sides, dilations, groups)


def _as_images(
    function: Callable[..., Value],
    x: Value,
    w: Value,
    strides: Window,
    sides: Sides,
    dilations: Window,
    groups: int,
) -> Value:
    if len(strides) == 2:
        return function(x, w, strides, sides, dilations, groups)
    around = sides if isinstance(sides, str) else ((0, 0), *sides)
    rows = (ops.expand_dims(x, 2), ops.expand_dims(w, 2))
    return ops.squeeze(function(*rows, (1, *strides), around, (1, *dilations), groups), 2)


def _convolve_volumes(
    x: Value, w: Value, strides: Window, sides: Sides, dilations: Window, groups: int
) -> Value:
    channels, depth, *extents = inner(x)
    outputs, inputs, kernel, *window = w.type.dims
    reach, stride = span(kernel, dilations[0]), strides[0]
    before, after = side(sides, 0, depth, reach, stride)
    x = ops.pad(x, ((0, 0), (0, 0), (before, after), (0, 0), (0, 0)))
    last = (depth + before + after - reach) // stride * stride + 1  # after the last window's start
    starts = [tap * dilations[0] for tap in range(kernel)]
    seen = ops.stack([x[:, :, start : start + last : stride] for start in starts], 2)
    images = ops.transpose(seen, (0, 3, 1, 2, 4, 5))  # [n, depth, in, tap, height, width]
    y = ops.conv2d(
        ops.reshape(images, (-1, channels * kernel, *extents)),
        ops.reshape(w, (outputs, inputs * kernel, *window)),
        _pair(strides),
        without(sides, 0),
        _pair(dilations),
        groups,
    )
    return _volumes(y, inner(seen)[2])


def _transpose_volumes(
    x: Value,
    w: Value,
    strides: Window,
    sides: Sides,
    dilations: Window,
    groups: int,
    more: Window,
) -> Value:
    inputs, depth, *extents = inner(x)
    outputs, kernel, *window = w.type.dims[1:]
    reach, stride = span(kernel, dilations[0]), strides[0]
    images = ops.reshape(ops.transpose(x, (0, 2, 1, 3, 4)), (-1, inputs, *extents))
    y = ops.conv2d_transpose(
        images,
        ops.reshape(w, (inputs, outputs * kernel, *window)),
        _pair(strides),
        without(sides, 0),
        _pair(dilations),
        groups,
        output_padding=(more[1], more[2]),
    )
    extents = list(inner(y)[1:])
    y = ops.reshape(y, (-1, depth, outputs * groups, kernel, *extents))
    # Each depth of x, and stride - 1 of zeros; then as far along as its tap is.
    y = ops.pad(ops.expand_dims(y, 2), [(0, 0)] * 2 + [(0, stride - 1)] + [(0, 0)] * 4)
    y = ops.reshape(y, (-1, depth * stride, outputs * groups, kernel, *extents))
    y = y[:, : (depth - 1) * stride + 1]
    taps = [_moved(y[:, :, :, tap], tap * dilations[0], reach - 1) for tap in range(kernel)]
    before, after = side(sides, 0, stride, reach, stride)
    return _cut(ops.transpose(ops.add_n(taps), (0, 2, 1, 3, 4)), before, after - more[0])


def _pair(window: Window) -> tuple[int, int]:
    """The numbers of height and width."""
    return window[1], window[2]


def _moved(x: Value, by: int, of: int) -> Value:
    """x with `by` depths of zeros before it and the rest of `of` after it."""
    return ops.pad(x, ((0, 0), (by, of - by), (0, 0), (0, 0), (0, 0)))


def _cut(x: Value, before: int, after: int) -> Value:
    """Volumes without these depths at the ends; fewer than 0 are zeros more."""
    x = ops.pad(x, ((0, 0), (0, 0), (0, max(-after, 0)), (0, 0), (0, 0)))
    return x[:, :, before : inner(x)[1] - max(after, 0)]


def _volumes(y: Value, depth: int) -> Value:
    """[n * depth, channels, height, width] -> [n, channels, depth, height, width]."""
    volumes = ops.reshape(y, (-1, depth, *inner(y)))
    return ops.transpose(volumes, (0, 2, 1, 3, 4))
