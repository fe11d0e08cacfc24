"""Ops that move elements: reshape, join, cut, pick, repeat."""

from __future__ import annotations

from math import prod
from typing import Any

import byparts_opset as ops
from byparts_frontend_mxnet.errors import MXNetError
from byparts_frontend_mxnet.ops.entry import Dims, dtype_name, op


def reshaped(dims: Dims, shape: Any, reverse: bool = False) -> Dims:
    """The shape that MXNet's codes name.

    0 keeps a size, -1 is what is left, -2 keeps all others, -3 joins two, -4 splits one in two.
    """
    codes = [shape] if isinstance(shape, int) else list(shape)
    if reverse:
        return reshaped(dims[::-1], codes[::-1])[::-1]
    result: list[int] = []
    at, i = 0, 0
    while i < len(codes):
        code = codes[i]
        if code == -2:
            result += dims[at:]
            at = len(dims)
        elif code == -3:
            result.append(dims[at] * dims[at + 1])
            at += 2
        elif code == -4:
            a, b = codes[i + 1 : i + 3]
            a, b = (dims[at] // b if a == -1 else a), (dims[at] // a if b == -1 else b)
            result += [a, b]
            at, i = at + 1, i + 2
        else:
            result.append(dims[at] if code == 0 else code)
            at += 1
        i += 1
    size, others = prod(dims), prod([d for d in result if d != -1])
    if size % others if -1 in result and others else size != others and -1 not in result:
        raise MXNetError(f"reshape: {dims} has {size} elements; {tuple(codes)} means {result}")
    return tuple([size // max(others, 1) if d == -1 else d for d in result])


@op("Reshape", "reshape")
def reshape(data: Any, *, shape: Any = (), reverse: bool = False, target_shape: Any = ()) -> Any:
    """The elements in another shape, with the codes of `reshaped`."""
    return ops.reshape(data, reshaped(data.type.dims, shape or target_shape, reverse))


@op("Flatten", "flatten")
def flatten(data: Any) -> Any:
    """[n, ...] -> [n, rest]."""
    return ops.reshape(data, (data.type.dims[0], prod(data.type.dims[1:])))


@op("reshape_like")
def reshape_like(lhs: Any, rhs: Any) -> Any:
    """lhs in the shape of rhs."""
    return ops.reshape(lhs, rhs.type.dims)


@op("transpose")
def transpose(data: Any, *, axes: Any = ()) -> Any:
    """The axes in another order; reversed by default."""
    return ops.transpose(data, axes or tuple(range(data.type.rank))[::-1])


@op("SwapAxis", "swapaxes")
def swap_axes(data: Any, *, dim1: int = 0, dim2: int = 0) -> Any:
    """Two axes exchanged."""
    order = list(range(data.type.rank))
    order[dim1], order[dim2] = order[dim2], order[dim1]
    return ops.transpose(data, order)


@op("expand_dims")
def expand_dims(data: Any, *, axis: int) -> Any:
    """A new axis of size 1."""
    return ops.expand_dims(data, axis)


@op("squeeze")
def squeeze(data: Any, *, axis: Any = None) -> Any:
    """Without axes of size 1."""
    return ops.squeeze(data, axis)


@op("Concat", "concat")
def concat(*args: Any, dim: int = 1) -> Any:
    """Arrays one after the other along an axis."""
    return ops.concat(args, dim)


@op("stack")
def stack(*args: Any, axis: int = 0) -> Any:
    """Arrays along a new axis."""
    return ops.stack(args, axis)


def _parts(p: Any) -> tuple[str, ...]:
    return (
        tuple([f"output{i}" for i in range(p["num_outputs"])])
        if p["num_outputs"] > 1
        else ("output",)
    )


@op("SliceChannel", "split", outputs=_parts)
def split(data: Any, *, num_outputs: int, axis: int = 1, squeeze_axis: bool = False) -> Any:
    """Equal parts along an axis."""
    size = data.type.dims[axis]
    if size % num_outputs:
        raise MXNetError(f"split: axis {axis} of {data.type} is no {num_outputs} equal parts")
    parts = ops.split(data, num_outputs, axis)
    return tuple([ops.squeeze(p, axis) for p in parts] if squeeze_axis else parts)


@op("slice", "crop")
def slice_(data: Any, *, begin: Any, end: Any, step: Any = ()) -> Any:
    """A box: from begin to end along the first axes; None is an end of the axis."""
    begin, end = ((x,) if isinstance(x, int) or x is None else x for x in (begin, end))
    steps = (step,) if isinstance(step, int) else step or (None,) * len(begin)
    return data[tuple([slice(*b) for b in zip(begin, end, steps, strict=True)])]


@op("slice_axis")
def slice_axis(data: Any, *, axis: int, begin: int = 0, end: Any = None) -> Any:
    """From begin to end along one axis."""
    return data[(slice(None),) * (axis % data.type.rank) + (slice(begin, end),)]


@op("slice_like")
def slice_like(data: Any, shape_like: Any, *, axes: Any = ()) -> Any:
    """The first part of data, as large as another array along the axes."""
    along = [a % data.type.rank for a in axes or range(data.type.rank)]
    sizes = shape_like.type.dims
    return data[
        tuple([slice(sizes[a]) if a in along else slice(None) for a in range(data.type.rank)])
    ]


@op("reverse", "flip")
def reverse(data: Any, *, axis: Any) -> Any:
    """The elements in reverse order along axes."""
    return ops.reverse(data, axis)


@op("tile")
def tile(data: Any, *, reps: Any) -> Any:
    """The array repeated as a whole."""
    reps = (reps,) if isinstance(reps, int) else tuple(reps)
    rank = max(len(reps), data.type.rank)
    x = ops.reshape(data, (1,) * (rank - data.type.rank) + data.type.dims)
    return ops.tile(x, (1,) * (rank - len(reps)) + reps)


@op("repeat")
def repeat(data: Any, *, repeats: int, axis: Any = None) -> Any:
    """Each element repeated along an axis, or of the flat array."""
    return ops.repeat(data, repeats, axis)


@op("Pad", "pad")
def pad(data: Any, *, pad_width: Any, mode: str = "constant", constant_value: float = 0) -> Any:
    """More elements around: constant, edge or reflect; pad_width has before and after by axis."""
    pairs = list(zip(pad_width[::2], pad_width[1::2], strict=True))
    return ops.pad(data, pairs, constant_value if mode == "constant" else 0, mode)


@op("broadcast_to")
def broadcast_to(data: Any, *, shape: Any) -> Any:
    """Axes of size 1 made as large as `shape`; 0 keeps a size."""
    return ops.broadcast_to(data, [d or own for d, own in zip(shape, data.type.dims, strict=True)])


@op("broadcast_axis", "broadcast_axes")
def broadcast_axis(data: Any, *, axis: Any, size: Any) -> Any:
    """Axes of size 1 made larger."""
    axes, sizes = ((x,) if isinstance(x, int) else x for x in (axis, size))
    dims = list(data.type.dims)
    for a, n in zip(axes, sizes, strict=True):
        dims[a] = n
    return ops.broadcast_to(data, dims)


@op("broadcast_like")
def broadcast_like(lhs: Any, rhs: Any) -> Any:
    """lhs in the shape of rhs."""
    return ops.broadcast_to(lhs, rhs.type.dims)


def _clipped(indices: Any, size: int) -> Any:
    """Indices of an axis; what is outside of it becomes its first or last one."""
    return ops.minimum(ops.maximum(ops.cast(indices, "i32"), 0), size - 1)


@op("take")
def take(a: Any, indices: Any, *, axis: int = 0, mode: str = "clip") -> Any:
    """The slices of a along an axis that indices name; clip or wrap."""
    size = a.type.dims[axis]
    whole = ops.cast(indices, "i32")
    return ops.gather(a, ops.mod(whole, size) if mode == "wrap" else _clipped(indices, size), axis)


_SMALL = 128  # classes, up to which comparing with all is faster than a lookup, which is no loop


@op("pick")
def pick(data: Any, index: Any, *, axis: int = -1, keepdims: bool = False) -> Any:
    """One element of each line along an axis."""
    axis, dims = axis % data.type.rank, list(data.type.dims)
    count, dims[axis] = dims[axis], 1
    places = ops.reshape(_clipped(index, count), dims)
    if count <= _SMALL:
        numbers = ops.reshape(
            ops.arange(0, count, 1, "i32"), [count if a == axis else 1 for a in range(len(dims))]
        )
        chosen = ops.where(ops.equal(places, numbers), data, ops.zeros_like(data))
        return ops.sum(chosen, axis, keepdims)
    y = ops.take_along_axis(data, places, axis)
    return y if keepdims else ops.squeeze(y, axis)


@op("batch_take")
def batch_take(a: Any, indices: Any) -> Any:
    """One element of each row."""
    return pick(a, indices)


@op("one_hot")
def one_hot(
    indices: Any, *, depth: int, on_value: float = 1.0, off_value: float = 0.0,
    dtype: Any = "float32",
) -> Any:  # fmt: skip
    """Rows with on_value at the index and off_value elsewhere."""
    return ops.one_hot(ops.cast(indices, "i32"), depth, dtype_name(dtype), on_value, off_value)


@op("gather_nd")
def gather_nd(data: Any, indices: Any) -> Any:
    """The elements or slices of data at the columns of indices."""
    depth = indices.type.dims[0]
    rows = [ops.cast(row, "i32") for row in ops.unstack(indices, 0)]
    flat = rows[0]
    for size, row in zip(data.type.dims[1:depth], rows[1:], strict=True):
        flat = flat * size + row
    return ops.gather(
        ops.reshape(data, (prod(data.type.dims[:depth]), *data.type.dims[depth:])), flat
    )


@op("dot")
def dot(lhs: Any, rhs: Any, *, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """The products of the last axis of lhs and the first one of rhs, summed."""
    if lhs.type.rank == 1 == rhs.type.rank:
        return ops.sum(lhs * rhs, 0, keepdims=True)
    a = transpose(lhs, axes=(*range(1, lhs.type.rank), 0)) if transpose_a else lhs
    b = transpose(rhs, axes=(rhs.type.rank - 1, *range(rhs.type.rank - 1))) if transpose_b else rhs
    size = b.type.dims[0]
    if a.type.dims[-1] != size:
        raise MXNetError(
            f"dot: lhs is {lhs.type} and rhs {rhs.type}: {a.type.dims[-1]} meets {size}"
        )
    if lhs.type.rank == 2 == rhs.type.rank:
        return ops.matmul(lhs, rhs, transpose_a=transpose_a, transpose_b=transpose_b)
    y = ops.matmul(ops.reshape(a, (-1, size)), ops.reshape(b, (size, -1)))
    return ops.reshape(y, (*a.type.dims[:-1], *b.type.dims[1:]))


@op("batch_dot", "linalg_gemm2")
def batch_dot(
    lhs: Any, rhs: Any, *, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0
) -> Any:
    """Products of matrices, one for each example."""
    y = ops.matmul(lhs, rhs, transpose_a=transpose_a, transpose_b=transpose_b)
    return y if alpha == 1 else y * alpha
