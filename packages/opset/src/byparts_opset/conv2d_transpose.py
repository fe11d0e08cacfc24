"""The transposed convolution as people ask for it: "SAME", output padding, a shape of the output.

The op takes padding in numbers, since several extents of y fit one of x.
"""

from __future__ import annotations

from typing import Any

import byparts_opset as ops
from byparts_graph_ir import Dimension, ShapeError, Value
from byparts_opset.conv2d import Conv2d
from byparts_opset.convolution import dims, transposed_side
from byparts_opset.window import Pair, padding_of, pads, pair, side, span


def conv2d_transpose(
    x: Value,
    filter: Value,
    strides: int | Pair = Conv2d.strides,
    padding: Any = Conv2d.padding,
    dilations: int | Pair = Conv2d.dilations,
    groups: int = Conv2d.groups,
    layout: str = Conv2d.layout,
    output_padding: int | Pair = 0,
    output_shape: Pair | None = None,
) -> Value:
    """Transposed convolution: maps the y of `conv2d` with these attributes to the shape of its x.

    Several extents of y fit where strides exceed 1.  y gets the least plus `output_padding`, or,
    under "SAME", that of x times the stride; or (height, width) is asked for as `output_shape`.

    Raises:
        ShapeError: the extents of the filter are not known, or `output_shape` does not fit x.
    """
    forward = Conv2d(pair(strides), padding_of(padding), pair(dilations), groups, layout)
    extents, kernel = (d[2:] for d in dims(forward, x.type, filter.type))
    sides = []
    for axis, extra in enumerate(pair(output_padding)):
        reach = span(kernel[axis], forward.dilations[axis])
        if reach is None:
            raise ShapeError(
                f"conv2d_transpose: the extents of the filter {filter.type} must be known"
            )
        to = None if output_shape is None else output_shape[axis]
        sides.append(_side_for(forward, axis, extents[axis], reach, extra, to))
    return ops.Conv2dTranspose(
        forward.strides, (sides[0], sides[1]), forward.dilations, groups, layout
    )(x, filter)


def _side_for(
    op: Conv2d, axis: int, extent: Dimension, reach: int, extra: int, to: int | None
) -> Pair:
    """The padding of a transposed convolution that gives y the extent asked for."""
    stride, around = op.strides[axis], side(op.padding, axis)
    if to is None:
        # "SAME" on an image of extent * stride pads the same for every extent; take one window.
        lower, upper = pads(around, stride, reach, stride)
        spare = max(0, stride - reach) if around == "SAME" else 0
        return (lower, upper - spare - extra)
    lower, upper = transposed_side(around, to, reach, stride)
    fits = (to + lower + upper - reach) // stride + 1
    if isinstance(extent, int) and fits != extent:
        raise ShapeError(
            f"conv2d_transpose: output_shape {to} along axis {axis} would come of {fits} elements "
            f"with stride {stride} and padding {around!r}, and x has {extent}"
        )
    return (lower, upper - extra)
