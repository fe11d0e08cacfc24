"""Windows of images as columns: summed into an image, or sampled where a program says.

A column has the channels and points of one window, as `Col2Im` and convolutions order them.
"""

from __future__ import annotations

from functools import reduce
from math import prod
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_frontend_onnx.node import OnnxNode, ints
from byparts_frontend_onnx.rules import rules
from byparts_frontend_onnx.sizes import Known, counted
from byparts_frontend_onnx.standard.contraction import with_bias
from byparts_frontend_onnx.standard.elementwise import zero
from byparts_frontend_onnx.standard.sampling import as_places, length_of, sizes_of, taps_at, terms
from byparts_frontend_onnx.standard.window import window_of
from byparts_graph_ir import Value
from byparts_opset.dtypes import numpy_dtype


@rules.on("Col2Im", known=(1, 2))
def col2im(node: OnnxNode, x: Value, image_shape: Known, block_shape: Known) -> Value:
    """x: [n, channels * block, windows] summed into images: [n, channels, image_shape...]."""
    sizes = ints(image_shape), ints(block_shape)
    if any(isinstance(s, str) for s in (*sizes[0], *sizes[1])):
        raise node.undetermined(f"the shapes {sizes}", *sizes[0], *sizes[1])
    image, block = (np.array(s, np.int64) for s in sizes)
    axes = len(image)
    strides, dilations = (node.get(a) or [1] * axes for a in ("strides", "dilations"))
    pads = np.array(node.get("pads") or [0] * 2 * axes).reshape(2, axes)
    padded = image + pads.sum(0)
    counts = (padded - (block - 1) * dilations - 1) // strides + 1
    if min(*block, *counts) < 1:
        raise node.refuse(f"an image {image.tolist()} of {counts.tolist()} windows")
    node.limited(*block.tolist(), *counts.tolist())
    places = np.zeros((), np.int64)
    for axis in range(axes):  # [block..., windows...], axis by axis
        along = (np.arange(block[axis]) * dilations[axis])[:, None]
        along = along + np.arange(counts[axis]) * strides[axis]
        places = places[..., None, None] * padded[axis] + along
    order = (*range(0, 2 * axes, 2), *range(1, 2 * axes, 2))
    flat = np.ascontiguousarray(places.transpose(order)).reshape(-1)
    n, columns = sizes_of(node, x)[:2]
    if not isinstance(columns, int):
        raise node.undetermined(f"the shape {x.type}", columns)
    shape: Any = (n, columns // prod(block.tolist()))
    blank = ops.broadcast_to(zero(x), (*shape, prod(padded.tolist())))
    updates = ops.reshape(x, (*shape, len(flat)))
    y = ops.scatter_add(ops.constant(flat), updates, blank, 2)
    ends = zip(pads[0].tolist(), (pads[0] + image).tolist(), strict=True)
    cut = (slice(low, high) for low, high in ends)
    y = ops.reshape(y, (*shape, *padded.tolist()))
    return ops.getitem(y, (slice(None), slice(None), *cut))


@rules.on("DeformConv")
def deform_conv(
    node: OnnxNode,
    x: Value,
    w: Value,
    offset: Value,
    bias: Value | None = None,
    mask: Value | None = None,
) -> Value:
    """A convolution whose windows read each point at an offset of its own, linearly.

    Dai 2017, https://arxiv.org/abs/1703.06211; the mask is of Zhu 2018.
    x: [n, channels, sizes...], offset: [n, groups * points * axes, places...].
    """
    out, inner, *kernel = node.dims(w)
    axes, points, groups = len(kernel), prod(kernel), node.get("group")
    n, _, *places = sizes_of(node, offset)
    parts, sizes = node.get("offset_group"), sizes_of(node, x)[2:]
    at: Any = (n, parts, points, axes, *places)
    offset = ops.reshape(as_places(offset), at)
    taps, window = [], window_of(node, x, kernel)
    for axis, size in enumerate(sizes):
        steps = np.indices(kernel)[axis] * window.dilations[axis] - window.pads[axis][0]
        steps = steps.reshape(-1, *(1,) * axes).astype(numpy_dtype(offset.type.dtype))
        first = ops.reshape(counted(places[axis]), (-1, *(1,) * (axes - 1 - axis)))
        first = ops.cast(first * window.strides[axis], offset.type.dtype)
        own = ops.getitem(offset, (*(slice(None),) * 3, slice(axis, axis + 1)))
        p = ops.squeeze(own, 3) + (first + ops.constant(steps))
        taps.append(taps_at(p, length_of(size, offset)))
    image = ops.reshape(counted(n), (-1, *(1,) * (axes + 2))) * parts
    image = image + ops.reshape(counted(parts), (-1, *(1,) * (axes + 1)))
    split: Any = (-1, inner * groups // parts, *sizes)
    y = reduce(ops.add, terms(ops.reshape(x, split), list(split), image, taps))
    if mask is not None:  # y: [n, parts, points, places..., channels]
        y = y * ops.reshape(mask, (*at[:3], *places, 1))
    y = ops.transpose(y, (0, *range(3, 3 + axes), 1, 3 + axes, 2))
    columns: Any = (n, -1, groups, inner * points)
    filters = ops.reshape(w, (groups, out // groups, inner * points))
    y = ops.einsum("npgc,goc->ngop", ops.reshape(y, columns), filters)
    shape: Any = (n, out, *places)
    return with_bias(ops.reshape(y, shape), bias)
