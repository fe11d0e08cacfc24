"""Convolutions along one and two axes; one axis is two, of which the first is of size 1."""

from __future__ import annotations

from collections.abc import Sequence

import byparts_opset as ops
from byparts_frontend_torch.aten.axes import rank_of
from byparts_frontend_torch.errors import UnsupportedOp
from byparts_frontend_torch.rules import rules
from byparts_graph_ir import Value

Pair = tuple[int, int]


@rules.on("aten.convolution.default")
def convolution(
    x: Value,
    weight: Value,
    bias: Value | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Value:
    """x: [n, c, h, w]; weight: [o, c / groups, kh, kw]; transposed: [c, o / groups, kh, kw]."""
    axes = rank_of(weight) - 2
    if axes not in (1, 2):
        raise UnsupportedOp(f"a convolution along {axes} axes, of {x.type}: 1 and 2 are imported")
    if axes == 1:
        x, weight = ops.expand_dims(x, 2), ops.expand_dims(weight, 2)
    strides, dilations = _pair(stride, axes, 1), _pair(dilation, axes, 1)
    top, left = _pair(padding, axes, 0)
    around = ((top, top), (left, left))
    if transposed:
        more = _pair(output_padding, axes, 0)
        y = ops.conv2d_transpose(x, weight, strides, around, dilations, groups, output_padding=more)
    else:
        y = ops.conv2d(x, weight, strides, around, dilations, groups)
    y = y if bias is None else y + ops.expand_dims(bias, (1, 2))
    return ops.squeeze(y, 2) if axes == 1 else y


def _pair(numbers: Sequence[int], axes: int, of_first: int) -> Pair:
    """For height and width; torch may give one number for all axes."""
    given = list(numbers) * axes if len(numbers) == 1 else list(numbers)
    return (of_first, given[0]) if axes == 1 else (given[0], given[1])
