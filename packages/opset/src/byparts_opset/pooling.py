"""The family of pooling ops: fields, type rule, places of the windows, divisors of means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from byparts_graph_ir import Dimension, Op, ShapeError, TensorType
from byparts_opset.broadcast import meet_dims
from byparts_opset.dtypes import Array, narrow, wide
from byparts_opset.window import (
    FROM_NCHW,
    TO_NCHW,
    Padding,
    Pair,
    check_fields,
    extent_of,
    from_nchw,
    nchw_dims,
    offsets,
    padded,
    pads,
    side,
)

Frame = tuple[Pair, Pair]  # padding along height and width


class Pool(Op):
    """An op on images under a window of size `ksize` that moves by `strides`."""

    ksize: Pair
    strides: Pair
    padding: Padding = "VALID"
    layout: str = "NCHW"
    ceil_mode: bool = False

    def __post_init__(self) -> None:
        """Refuse attributes that mean nothing, and windows that could lie on padding alone."""
        check_fields(self.name, self.padding, self.layout, ksize=self.ksize, strides=self.strides)
        if isinstance(self.padding, str):
            return
        for around, kernel in zip(self.padding, self.ksize, strict=True):
            if not all(0 <= p < kernel for p in around):
                raise ShapeError(
                    f"{self.name}: padding {self.padding} is not within 0 and ksize {self.ksize}, "
                    "so some window would hold padding alone"
                )


def type_of_y(op: Pool, x: TensorType) -> TensorType:
    """The type of the pooled images.

    Raises:
        ShapeError: the rank is not 4, or the window does not fit in.
    """
    n, c, h, w = nchw_dims(op.name, "x", x, op.layout)
    return from_nchw(x.dtype, (n, c, _extent(op, 0, h), _extent(op, 1, w)), op.layout)


def type_of_x(op: Pool, x: TensorType, y: TensorType) -> TensorType:
    """The type of the images, completed from the batch and channels of y."""
    n, c, h, w = nchw_dims(op.name, "x", x, op.layout)
    y_n, y_c, *_ = nchw_dims(op.name, "y", y, op.layout)
    what = f"x is {x} and y is {y}"
    n, c = meet_dims(op.name, n, y_n, what), meet_dims(op.name, c, y_c, what)
    return from_nchw(x.dtype, (n, c, h, w), op.layout)


def windows(op: Pool, shape: tuple[int, ...]) -> tuple[Pair, Frame]:
    """Count the windows along each axis, and give the padding that they need, in numbers."""
    counts, around = [], []
    for axis, extent in enumerate(_extents(op, shape)):
        kernel, stride = op.ksize[axis], op.strides[axis]
        count = _extent(op, axis, extent)
        assert isinstance(count, int), "extents are known"
        lower, upper = pads(side(op.padding, axis), extent, kernel, stride)
        out = (count - 1) * stride + kernel - lower - extent  # sticks out behind
        counts.append(count)
        around.append((lower, max(upper, out)))
    return (counts[0], counts[1]), (around[0], around[1])


def divisors(op: Pool, shape: tuple[int, ...], count_include_pad: bool) -> Array:
    """The number of elements by which the sum under each window is divided: [height, width]."""
    (h, w), (counts, around) = _extents(op, shape), windows(op, shape)
    inside = np.ones((h, w), np.int64)
    if count_include_pad:
        own = [
            pads(side(op.padding, a), e, op.ksize[a], op.strides[a]) for a, e in enumerate((h, w))
        ]
        inside = padded(inside, (own[0], own[1]), 1)
        around = tuple((0, r[1] - o[1]) for r, o in zip(around, own, strict=True))  # type: ignore
    inside = padded(inside, around)
    total = np.zeros(counts, np.int64)
    for _, _, rows, columns in offsets(op.ksize, counts, op.strides):
        total += inside[rows, columns]
    return total


def images(op: Pool, x: Array) -> Array:
    """View images as NCHW, half types in f32."""
    view: Array = wide(x).transpose(TO_NCHW[op.layout])
    return view


def restored(op: Pool, x: Array, like: Array) -> Array:
    """Convert NCHW images to the layout of the op and the dtype of `like`."""
    result: Array = np.ascontiguousarray(x.transpose(FROM_NCHW[op.layout]))
    return narrow(result, like.dtype)


def unpadded(x: Array, around: Frame) -> Array:
    """Remove the padding from images."""
    (top, bottom), (left, right) = around
    return padded(x, ((-top, -bottom), (-left, -right)))


def first_maxima(op: Pool, x: Array, y: Array) -> Iterator[tuple[Array, slice, slice]]:
    """For each element of the window, row by row: whether it is the first that is the maximum."""
    counts, around = windows(op, x.shape)
    framed, top = padded(images(op, x), around), images(op, y)
    real = padded(np.ones(_extents(op, x.shape), bool), around, False)
    free = np.ones(top.shape, bool)
    for _, _, rows, columns in offsets(op.ksize, counts, op.strides):
        hit = (framed[..., rows, columns] == top) & real[rows, columns] & free
        free &= ~hit
        yield hit, rows, columns


def _extents(op: Pool, shape: tuple[int, ...]) -> Pair:
    _, _, h, w = (shape[axis] for axis in TO_NCHW[op.layout])
    return (h, w)


def _extent(op: Pool, axis: int, extent: Dimension) -> Dimension:
    around, kernel = side(op.padding, axis), op.ksize[axis]
    return extent_of(op.name, extent, kernel, op.strides[axis], around, op.ceil_mode)


# For samples: (ksize, strides, padding, layout, ceil_mode), shape of x.  Overlapping windows, gaps,
# odd padding, a window that sticks out, both layouts, no images.
CASES: tuple[tuple[tuple[Any, ...], tuple[int, ...]], ...] = (
    (((2, 2), (2, 2), "VALID", "NCHW", False), (2, 3, 4, 6)),
    (((3, 2), (1, 2), "SAME", "NCHW", False), (1, 2, 4, 5)),
    (((2, 3), (3, 4), ((1, 0), (1, 2)), "NCHW", False), (2, 1, 6, 7)),
    (((3, 3), (2, 2), ((1, 1), (1, 1)), "NHWC", True), (1, 6, 5, 2)),
    (((2, 2), (1, 1), "VALID", "NCHW", False), (0, 2, 3, 3)),
    (((1, 1), (2, 1), "VALID", "NHWC", False), (1, 3, 2, 2)),
)
