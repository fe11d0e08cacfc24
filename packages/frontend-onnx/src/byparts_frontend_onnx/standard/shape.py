"""Shapes: asking for them, and putting elements into other ones."""

from __future__ import annotations

from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_frontend_onnx.node import OnnxNode, axis_in, ints, rank_of, shape_of
from byparts_frontend_onnx.rules import rules
from byparts_frontend_onnx.sizes import Known, Size, sizes_of
from byparts_graph_ir import Dimension, Value, dimension


def _whole(node: OnnxNode, shape: tuple[Dimension, ...]) -> list[Size]:
    sizes = [d for d in shape if d is not None]
    if len(sizes) < len(shape):
        raise node.undetermined(f"the shape {shape}")
    return sizes


@rules.on("Shape", raw=True)
def shape(node: OnnxNode, x: Any) -> Known:
    """The sizes of its input."""
    dims = shape_of(x)
    start, end = node.get("start", 0), node.get("end", len(dims))
    first, last, _ = slice(start, end).indices(len(dims))
    return sizes_of(_whole(node, dims[first:last]))


@rules.on("Size", raw=True)
def size(node: OnnxNode, x: Any) -> Known:
    """The number of elements of its input."""
    return sizes_of(product(_whole(node, shape_of(x))))


def product(sizes: list[Size]) -> Size:
    """The product of sizes."""
    total: Any = 1
    for s in sizes:
        total = dimension("a*b", {"a": total, "b": s})
    return total  # type: ignore[no-any-return]


@rules.on("Reshape", known=(1,))
def reshape(node: OnnxNode, x: Value, target: Known | None = None) -> Value:
    """The elements in another shape: 0 keeps a size, -1 is what is left."""
    wanted: list[Any] = list(node.get("shape", ())) if target is None else ints(target)
    dims = shape_of(x)
    if not node.get("allowzero", 0):
        if any(w == 0 and i >= len(dims) for i, w in enumerate(wanted)):
            raise node.refuse(f"the shape {wanted} of {x.type}, with a 0 beyond its axes,")
        wanted = [dims[i] if w == 0 else w for i, w in enumerate(wanted)]
    if -1 in wanted and 0 in dims and all(isinstance(w, int) for w in wanted):
        wanted = [0 if w == -1 else w for w in wanted]
    return ops.reshape(x, tuple(wanted))


@rules.on("Flatten")
def flatten(node: OnnxNode, x: Value) -> Value:
    """A matrix: the axes before `axis`, and those from there on."""
    dims = shape_of(x)
    axis = axis_in(node.get("axis"), len(dims))
    rows, columns = (product(_whole(node, part)) for part in (dims[:axis], dims[axis:]))
    return ops.reshape(x, (rows, columns))


def axes_of(node: OnnxNode, parameter: Known | None, rank: int) -> tuple[int, ...] | None:
    """Axes that an attribute or an input says, from 0 on; `None` if neither does."""
    axes = ints(parameter) if parameter is not None else node.get("axes")
    return None if axes is None else tuple(axis_in(int(a), rank) for a in axes)


@rules.on("Squeeze", known=(1,))
def squeeze(node: OnnxNode, x: Value, parameter: Known | None = None) -> Value:
    """Without axes of size 1; all of them if none are named."""
    axes = axes_of(node, parameter, rank_of(x))
    if axes is None:
        axes = tuple(i for i, d in enumerate(node.dims(x)) if d == 1)
    return ops.squeeze(x, axes) if axes else x


@rules.on("Unsqueeze", known=(1,))
def unsqueeze(node: OnnxNode, x: Value, parameter: Known | None = None) -> Value:
    """With axes of size 1, at these places of the result."""
    count = len(node.get("axes", ())) if parameter is None else len(ints(parameter))
    axes = axes_of(node, parameter, rank_of(x) + count) or ()
    return ops.expand_dims(x, tuple(sorted(axes))) if axes else x


@rules.on("Transpose")
def transpose(node: OnnxNode, x: Value) -> Value:
    """The axes in another order; reversed if none is said."""
    return ops.transpose(x, node.get("perm"))


@rules.on("Concat")
def concat(node: OnnxNode, *xs: Value) -> Value:
    """Arrays behind each other."""
    axis = axis_in(node.get("axis", 1), rank_of(xs[0]))
    some = [x for x in xs if shape_of(x) != (0,)] or list(xs[:1])
    return ops.concat(some, axis) if len(some) > 1 else some[0]


@rules.on("Split", known=(1,))
def split(node: OnnxNode, x: Value, parameter: Known | None = None) -> tuple[Value, ...]:
    """Parts of these sizes, or of equal ones, the last of which may be smaller."""
    axis = axis_in(node.get("axis", 0), rank_of(x))
    sizes: Any = node.get("split") if parameter is None else ints(parameter)
    if sizes is None:
        parts = node.get("num_outputs", len(node.proto.output))
        whole = shape_of(x)[axis]
        if not isinstance(whole, int):
            raise node.undetermined(f"the size {whole} of what it splits", whole)
        each = -(-whole // parts)
        sizes = [max(min(each, whole - each * i), 0) for i in range(parts)]
    if any(isinstance(s, str) for s in sizes):
        raise node.undetermined(f"the sizes {sizes} of its parts", *sizes)
    return tuple(ops.split(x, sizes, axis))


@rules.on("Tile", known=(1, 2))
def tile(node: OnnxNode, x: Value, repeats: Known, axis: Known | None = None) -> Value:
    """Copies behind each other, so many along each axis."""
    counts = ints(repeats)
    if axis is not None:  # before opset 6: copies along one axis
        (along,) = ints(axis)
        counts = [counts[0] if i == along else 1 for i in range(rank_of(x))]
    if all(isinstance(n, int) for n in counts):
        return ops.tile(x, [int(n) for n in counts])
    for i, n in enumerate(counts):  # a named number of copies: a new axis, repeated and merged
        dims = shape_of(x)
        merged = product(_whole(node, (dims[i], n)))
        wider = ops.broadcast_to(ops.expand_dims(x, i), _targets(node, (*dims[:i], n, *dims[i:])))
        x = ops.reshape(wider, _targets(node, (*dims[:i], merged, *dims[i + 1 :])))
    return x


def _targets(node: OnnxNode, dims: tuple[Dimension, ...]) -> tuple[Size, ...]:
    return tuple(_whole(node, dims))


@rules.on("Expand", known=(1,))
def expand(node: OnnxNode, x: Value, target: Known) -> Value:
    """x and a shape, broadcast to each other."""
    dims: list[Dimension] = list(shape_of(x))
    wanted = ints(target)
    rank = max(len(dims), len(wanted))
    dims[:0], wanted[:0] = [1] * (rank - len(dims)), [1] * (rank - len(wanted))
    if any(
        isinstance(d, str) and isinstance(w, str) and d != w
        for d, w in zip(dims, wanted, strict=True)
    ):
        return _by_arithmetic(x, tuple(wanted))
    shape = tuple(
        d if w == 1 or (isinstance(d, int) and d != 1) else w
        for d, w in zip(dims, wanted, strict=True)
    )
    return ops.broadcast_to(x, shape)  # type: ignore[arg-type]


def _by_arithmetic(x: Value, shape: tuple[Size, ...]) -> Value:
    """x broadcast against a shape whose names may be 1: the sizes decide when it runs."""
    one: Any = True if x.type.dtype == "bool" else 1
    ones = ops.broadcast_to(ops.fill(one, x.type.dtype), shape)
    return ops.logical_and(x, ones) if x.type.dtype == "bool" else ops.mul(x, ones)


@rules.on("DepthToSpace")
def depth_to_space(node: OnnxNode, x: Value) -> Value:
    """Channels as blocks of rows and columns."""
    n, c, h, w = _whole(node, shape_of(x))
    b = node.get("blocksize")
    channels = dimension(f"c//{b * b}", {"c": c})
    first = node.get("mode", "DCR") == "DCR"
    inner: Any = (n, b, b, channels, h, w) if first else (n, channels, b, b, h, w)
    y = ops.transpose(ops.reshape(x, inner), (0, 3, 4, 1, 5, 2) if first else (0, 1, 4, 2, 5, 3))
    outer: Any = (n, channels, product([h, b]), product([w, b]))
    return ops.reshape(y, outer)


@rules.on("SpaceToDepth")
def space_to_depth(node: OnnxNode, x: Value) -> Value:
    """Blocks of rows and columns as channels."""
    n, c, h, w = _whole(node, shape_of(x))
    b = node.get("blocksize")
    rows, columns = (dimension(f"s//{b}", {"s": s}) for s in (h, w))
    inner: Any = (n, c, rows, b, columns, b)
    last = (0, 1, 3, 5, 2, 4) if node.get("mode", "DCR") == "CRD" else (0, 3, 5, 1, 2, 4)
    outer: Any = (n, product([c, b * b]), rows, columns)
    return ops.reshape(ops.transpose(ops.reshape(x, inner), last), outer)


@rules.on("EyeLike")
def eye_like(node: OnnxNode, x: Value) -> Value:
    """Ones on a diagonal, in the shape of its input."""
    from byparts_frontend_onnx.tensors import dtype_of

    rows, columns = node.dims(x)
    node.limited(rows, columns)
    to = node.get("dtype")
    dtype = x.type.dtype if to is None else dtype_of(to)
    ones = np.eye(rows, columns, node.get("k")).astype(bool)
    return ops.cast(ops.constant(ones), dtype)
