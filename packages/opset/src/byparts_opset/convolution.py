"""The family of convolutions: fields, type rule both ways, and groups as an axis of arrays.

Layouts: images NCHW with filters OIHW, or images NHWC with filters HWIO; o counts output channels,
i the input channels of one group.
"""

from __future__ import annotations

import numpy as np

from byparts_graph_ir import Dimension, Op, ShapeError, TensorType, Types, dimension
from byparts_opset.broadcast import meet_dims
from byparts_opset.dtypes import Array, narrow, wide
from byparts_opset.matmul import number_dtype
from byparts_opset.window import (
    FROM_NCHW,
    TO_NCHW,
    UNKNOWN,
    Dims,
    Padding,
    Pair,
    Side,
    check_fields,
    extent_of,
    from_nchw,
    nchw_dims,
    pads,
    side,
    span,
)

TO_OIHW = {"NCHW": (0, 1, 2, 3), "NHWC": (3, 2, 0, 1)}
FROM_OIHW = {"NCHW": (0, 1, 2, 3), "NHWC": (2, 3, 1, 0)}


class Convolution(Op):
    """A sum of products of images and a filter, each pixel with those under a window around it.

    `strides` and `dilations` are (height, width).  With `groups`, an output channel belongs to the
    input channels of its group only.
    """

    strides: Pair = (1, 1)
    padding: Padding = "VALID"
    dilations: Pair = (1, 1)
    groups: int = 1
    layout: str = "NCHW"

    pattern = "contraction"

    def __post_init__(self) -> None:
        """Refuse attributes that mean nothing."""
        pairs = {"strides": self.strides, "dilations": self.dilations}
        check_fields(self.name, self.padding, self.layout, **pairs)
        if not (isinstance(self.groups, int) and self.groups > 0):
            raise ShapeError(f"{self.name}: groups {self.groups!r} is no count from 1")


def dims(op: Convolution, x: TensorType, filter: TensorType) -> tuple[Dims, Dims]:
    """Give the dimensions of images as n, c, h, w and of a filter as o, i, kh, kw.

    Raises:
        ShapeError: a rank is not 4, or the output channels do not split into groups.
    """
    weights = UNKNOWN
    if filter.shape is not None:
        if len(filter.shape) != 4:
            order = "OIHW" if op.layout == "NCHW" else "HWIO"
            raise ShapeError(f"{op.name}: the filter is {filter}; {order} has 4 axes")
        o, i, kh, kw = (filter.shape[axis] for axis in TO_OIHW[op.layout])
        weights = (o, i, kh, kw)
        if isinstance(o, int) and o % op.groups:
            raise ShapeError(
                f"{op.name}: {o} filters do not split into {op.groups} groups: {filter}"
            )
    return nchw_dims(op.name, "x", x, op.layout), weights


def type_of_y(op: Convolution, x: TensorType, filter: TensorType) -> TensorType:
    """Infer the type of y, for a `Conv2d` with these attributes.

    Raises:
        ShapeError: dtypes, channels or extents do not fit.
    """
    dtype = number_dtype(op.name, x, filter)
    (n, c, h, w), (o, i, kh, kw) = dims(op, x, filter)
    if isinstance(c, int) and isinstance(i, int) and c != i * op.groups:
        groups = f" in each of {op.groups} groups" if op.groups > 1 else ""
        raise ShapeError(
            f"{op.name}: channels differ: x is {x} with {c}, the filter is {filter} for {i}{groups}"
            f" (layout {op.layout})"
        )
    h, w = (_extent(op, axis, *e) for axis, e in enumerate(((h, kh), (w, kw))))
    return from_nchw(dtype, (n, o, h, w), op.layout)


def types_back(op: Convolution, x: TensorType, filter: TensorType, y: TensorType) -> Types:
    """Infer the types of x and of the filter of a `Conv2d` from all three types."""
    (n, c, h, w), (o, i, kh, kw) = dims(op, x, filter)
    y_n, y_o, y_h, y_w = nchw_dims(op.name, "y", y, op.layout)
    what = f"x is {x}, the filter is {filter} and y is {y}"
    n, o = meet_dims(op.name, n, y_n, what), meet_dims(op.name, o, y_o, what)
    c = meet_dims(op.name, c, i * op.groups if isinstance(i, int) else None, what)
    if i is None and isinstance(c, int) and c % op.groups == 0:
        i = c // op.groups
    h, w = (_extent_back(op, axis, *e) for axis, e in enumerate(((h, kh, y_h), (w, kw, y_w))))
    weights = tuple((o, i, kh, kw)[axis] for axis in FROM_OIHW[op.layout])
    return (from_nchw(x.dtype, (n, c, h, w), op.layout), TensorType(filter.dtype, weights))


def placed(op: Convolution, x: TensorType, filter: TensorType) -> tuple[Pair, tuple[Pair, Pair]]:
    """The extents of y, and the padding of x in numbers, for static types."""
    (_, _, *extents), (_, _, *kernel) = dims(op, x, filter)
    y_h, y_w = nchw_dims(op.name, "y", type_of_y(op, x, filter), op.layout)[2:]
    assert isinstance(y_h, int) and isinstance(y_w, int), "types are static"
    around = []
    for axis, (extent, k) in enumerate(zip(extents, kernel, strict=True)):
        reach = span(k, op.dilations[axis])
        assert isinstance(extent, int) and reach is not None, "types are static"
        around.append(pads(side(op.padding, axis), extent, reach, op.strides[axis]))
    return (y_h, y_w), (around[0], around[1])


def transposed_side(around: Side, extent: int, reach: int, stride: int) -> Pair:
    """The padding with which a transposed convolution gives this extent of x.

    Elements behind the last window do not affect y; negative padding adds them.
    """
    lower, upper = pads(around, extent, reach, stride)
    return lower, upper - (extent + lower + upper - reach) % stride


def grouped(op: Convolution, x: Array) -> Array:
    """Images as [n, group, channel, h, w], in a dtype to compute in."""
    images: Array = wide(x).transpose(TO_NCHW[op.layout])
    n, c, h, w = images.shape
    return images.reshape(n, op.groups, c // op.groups, h, w)


def ungrouped(op: Convolution, x: Array, like: Array) -> Array:
    """The reverse of `grouped`, in the dtype of `like`."""
    n, groups, c, h, w = x.shape
    images = x.reshape(n, groups * c, h, w).transpose(FROM_NCHW[op.layout])
    result: Array = np.ascontiguousarray(images)
    return narrow(result, like.dtype)


def grouped_filter(op: Convolution, filter: Array) -> Array:
    """A filter as [group, o, i, kh, kw], in a dtype to compute in."""
    w: Array = wide(filter).transpose(TO_OIHW[op.layout])
    o, i, kh, kw = w.shape
    return w.reshape(op.groups, o // op.groups, i, kh, kw)


def ungrouped_filter(op: Convolution, w: Array, like: Array) -> Array:
    """The reverse of `grouped_filter`, in the dtype of `like`."""
    groups, o, i, kh, kw = w.shape
    filter = w.reshape(groups * o, i, kh, kw).transpose(FROM_OIHW[op.layout])
    return narrow(np.ascontiguousarray(filter), like.dtype)


def _extent(op: Convolution, axis: int, extent: Dimension, kernel: Dimension) -> Dimension:
    reach = span(kernel, op.dilations[axis])
    return extent_of(op.name, extent, reach, op.strides[axis], side(op.padding, axis))


def _extent_back(
    op: Convolution, axis: int, extent: Dimension, kernel: Dimension, y: Dimension
) -> Dimension:
    """Infer the extent of x from that of y, which is possible where the stride is 1."""
    reach, around = span(kernel, op.dilations[axis]), side(op.padding, axis)
    if isinstance(extent, int) or op.strides[axis] != 1:
        return extent
    if around == "SAME":
        return extent if y is None else y
    if reach is None:
        return extent
    removed = reach - 1 - sum(pads(around, 0, reach, 1))
    if isinstance(y, int):
        return max(0, y + removed)
    return (
        extent
        if y is None or extent is not None
        else dimension("max(y+removed,0)", {"y": y, "removed": removed})
    )


# For samples: (strides, padding, dilations, groups, layout), shape of x, shape of the filter.  Odd
# paddings, strides past the kernel, dilation, groups, both layouts, 1x1, cropping, nothing at all.
CASES = (
    (((1, 1), "VALID", (1, 1), 1, "NCHW"), (2, 3, 5, 6), (4, 3, 3, 2)),
    (((2, 1), "SAME", (1, 1), 1, "NCHW"), (1, 2, 5, 4), (3, 2, 2, 3)),
    (((2, 3), ((1, 0), (2, 1)), (1, 1), 1, "NCHW"), (2, 1, 6, 7), (2, 1, 3, 2)),
    (((1, 1), "SAME", (2, 1), 2, "NCHW"), (1, 4, 6, 5), (6, 2, 3, 3)),
    (((3, 2), "VALID", (1, 1), 1, "NCHW"), (1, 2, 5, 5), (3, 2, 1, 1)),
    (((1, 1), ((-1, 2), (0, -1)), (1, 2), 1, "NCHW"), (1, 1, 5, 6), (1, 1, 3, 2)),
    (((1, 1), "VALID", (1, 1), 1, "NCHW"), (0, 2, 4, 4), (3, 2, 3, 3)),
    (((1, 1), "VALID", (1, 1), 3, "NCHW"), (2, 3, 4, 4), (3, 1, 2, 2)),
    (((2, 2), "SAME", (1, 1), 1, "NHWC"), (2, 5, 6, 3), (3, 3, 3, 4)),
    (((1, 1), "SAME", (1, 1), 2, "NHWC"), (1, 4, 3, 4), (2, 3, 2, 2)),
)
