"""Ops that move elements: reshape, join, cut, pick, repeat."""

from __future__ import annotations

from math import prod
from typing import Any

import byparts_opset as ops
from byparts_frontend_mxnet.errors import MXNetError
from byparts_frontend_mxnet.ops.entry import Dims, dtype_name, op, op_table


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


def _swapped(rank: int, a: int, b: int) -> list[int]:
    order = list(range(rank))
    order[a], order[b] = order[b], order[a]
    return order


def _row(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else (x,)


def _clipped(indices: Any, size: int) -> Any:
    """Indices of an axis; what is outside of it becomes its first or last one."""
    return ops.minimum(ops.maximum(ops.cast(indices, "i32"), 0), size - 1)


op_table(
    {
        "Reshape reshape": lambda data, *, shape=(), reverse=False, target_shape=(): ops.reshape(
            data, reshaped(data.type.dims, shape or [n or -1 for n in target_shape], reverse)
        ),
        "Flatten flatten": lambda data: ops.reshape(data, reshaped(data.type.dims, (0, -1))),
        "reshape_like": lambda lhs, rhs: ops.reshape(lhs, rhs.type.dims),
        "transpose": lambda data, *, axes=(): ops.transpose(
            data, axes or tuple(range(data.type.rank))[::-1]
        ),
        "SwapAxis swapaxes": lambda data, *, dim1=0, dim2=0: ops.transpose(
            data, _swapped(data.type.rank, dim1, dim2)
        ),
        "expand_dims": lambda data, *, axis: ops.expand_dims(data, axis),
        "squeeze": lambda data, *, axis=None: ops.squeeze(data, axis),
        "Concat concat": lambda *args, dim=1: ops.concat(args, dim),
        "stack": lambda *args, axis=0: ops.stack(args, axis),
        "slice_axis": lambda data, *, axis, begin=0, end=None: data[
            (slice(None),) * (axis % data.type.rank) + (slice(begin, end),)
        ],
        "reverse flip": lambda data, *, axis: ops.reverse(data, axis),
        "repeat": lambda data, *, repeats, axis=None: ops.repeat(data, repeats, axis),
        "broadcast_to": lambda data, *, shape: ops.broadcast_to(
            data, [d or own for d, own in zip(shape, data.type.dims, strict=True)]
        ),
        "broadcast_like": lambda lhs, rhs: ops.broadcast_to(lhs, rhs.type.dims),
        "batch_take": lambda a, indices: pick(a, indices),
        "one_hot": lambda indices, *, depth, on_value=1.0, off_value=0.0, dtype="float32": (
            ops.one_hot(ops.cast(indices, "i32"), depth, dtype_name(dtype), on_value, off_value)
        ),
    }
)


def _parts(p: Any) -> tuple[str, ...]:
    count = p["num_outputs"]
    return tuple([f"output{i}" for i in range(count)]) if count > 1 else ("output",)


@op("SliceChannel", "split", outputs=_parts)
def split(data: Any, *, num_outputs: int, axis: int = 1, squeeze_axis: bool = False) -> Any:
    """Equal parts along an axis."""
    if data.type.dims[axis] % num_outputs:
        raise MXNetError(f"split: axis {axis} of {data.type} is no {num_outputs} equal parts")
    parts = ops.split(data, num_outputs, axis)
    return tuple([ops.squeeze(p, axis) for p in parts] if squeeze_axis else parts)


@op("slice", "crop")
def slice_(data: Any, *, begin: Any, end: Any, step: Any = ()) -> Any:
    """A box: from begin to end along the first axes; None is an end of the axis."""
    bounds = _row(begin), _row(end), _row(step) if step else (None,) * len(_row(begin))
    return data[tuple([slice(*b) for b in zip(*bounds, strict=True)])]


@op("slice_like")
def slice_like(data: Any, shape_like: Any, *, axes: Any = ()) -> Any:
    """The first part of data, as large as another array along the axes."""
    sizes: list[Any] = [None] * data.type.rank
    for a in axes or range(data.type.rank):
        sizes[a] = shape_like.type.dims[a]
    return data[tuple(map(slice, sizes))]


@op("tile")
def tile(data: Any, *, reps: Any) -> Any:
    """The array repeated as a whole."""
    rank = max(len(_row(reps)), data.type.rank)
    x = ops.reshape(data, (1,) * (rank - data.type.rank) + data.type.dims)
    return ops.tile(x, (1,) * (rank - len(_row(reps))) + _row(reps))


@op("Pad", "pad")
def pad(data: Any, *, pad_width: Any, mode: str = "constant", constant_value: float = 0) -> Any:
    """More elements around: constant, edge or reflect; pad_width has before and after by axis."""
    pairs = list(zip(pad_width[::2], pad_width[1::2], strict=True))
    return ops.pad(data, pairs, constant_value if mode == "constant" else 0, mode)


@op("broadcast_axis", "broadcast_axes")
def broadcast_axis(data: Any, *, axis: Any, size: Any) -> Any:
    """Axes of size 1 made larger."""
    dims = dict(enumerate(data.type.dims)) | dict(zip(_row(axis), _row(size), strict=True))
    return ops.broadcast_to(data, tuple(dims.values()))


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
        line = [count if a == axis else 1 for a in range(len(dims))]
        numbers = ops.reshape(ops.arange(0, count, 1, "i32"), line)
        chosen = ops.where(ops.equal(places, numbers), data, ops.zeros_like(data))
        return ops.sum(chosen, axis, keepdims)
    y = ops.take_along_axis(data, places, axis)
    return y if keepdims else ops.squeeze(y, axis)


@op("gather_nd")
def gather_nd(data: Any, indices: Any) -> Any:
    """The elements or slices of data at the columns of indices."""
    depth, dims = indices.type.dims[0], data.type.dims
    flat, *rows = [ops.cast(row, "i32") for row in ops.unstack(indices, 0)]
    for size, row in zip(dims[1:depth], rows, strict=True):
        flat = flat * size + row
    return ops.gather(ops.reshape(data, (prod(dims[:depth]), *dims[depth:])), flat)


@op("dot")
def dot(lhs: Any, rhs: Any, *, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """The products of the last axis of lhs and the first one of rhs, summed."""
    if lhs.type.rank == 1 == rhs.type.rank:
        return ops.sum(lhs * rhs, 0, keepdims=True)
    of_a, of_b = lhs.type.dims, rhs.type.dims
    ends = of_a[0 if transpose_a else -1], of_b[-1 if transpose_b else 0]
    if ends[0] != ends[1]:
        raise MXNetError(f"dot: lhs is {lhs.type} and rhs {rhs.type}: {ends[0]} meets {ends[1]}")
    rest = (of_a[1:] if transpose_a else of_a[:-1]) + (of_b[:-1] if transpose_b else of_b[1:])
    a = ops.reshape(lhs, (ends[0], -1) if transpose_a else (-1, ends[0]))
    b = ops.reshape(rhs, (-1, ends[1]) if transpose_b else (ends[1], -1))
    y = ops.matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    return y if y.type.dims == rest else ops.reshape(y, rest)


@op("batch_dot", "linalg_gemm2")
def batch_dot(
    lhs: Any, rhs: Any, *, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0
) -> Any:
    """Products of matrices, one for each example."""
    y = ops.matmul(lhs, rhs, transpose_a=transpose_a, transpose_b=transpose_b)
    return y if alpha == 1 else y * alpha
