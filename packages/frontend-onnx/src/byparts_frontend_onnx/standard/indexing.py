"""Elements by their places: slices, gathers, scatters, pads."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_frontend_onnx.node import OnnxNode, axis_in, ints, rank_of, shape_of
from byparts_frontend_onnx.rules import rules
from byparts_frontend_onnx.sizes import Known, Size, at_least, counted, size_value
from byparts_frontend_onnx.standard.elementwise import is_float, number, zero
from byparts_graph_ir import Dimension, Value, dimension

_END = 10**9  # from here on a bound means the end of the axis: exporters write 10^9, 2^31 - 1, ...


@rules.on("Slice", known=(1, 2, 3, 4))
def slice_(node: OnnxNode, x: Value, *parameters: Known | None) -> Value:
    """start:end:step of some axes."""
    if "starts" in node.attributes:
        starts, ends = list(node.get("starts")), list(node.get("ends"))
        axes, steps = node.get("axes"), None
    else:
        given = [None if p is None else ints(p) for p in (*parameters, None, None)[:4]]
        starts, ends, axes, steps = given[0] or [], given[1] or [], given[2], given[3]
    axes = [axis_in(int(a), rank_of(x)) for a in (range(len(starts)) if axes is None else axes)]
    for axis, start, end, step in zip(axes, starts, ends, steps or [1] * len(starts), strict=True):
        x = _sliced(node, x, axis, start, end, int(step))
    return x


def _sliced(node: OnnxNode, x: Value, axis: int, start: Size, end: Size, step: int) -> Value:
    size = shape_of(x)[axis]
    if size is None:
        raise node.undetermined(f"the shape {x.type}")
    if isinstance(start, str) or isinstance(end, str) or (step < 0 and isinstance(size, str)):
        return _to_named_bounds(node, x, axis, start, end, step)
    whole = (slice(None),) * axis
    if isinstance(size, str):
        stop = None if end >= _END else end
        return ops.getitem(x, (*whole, slice(start or None, stop, step)))
    places = range(size)[slice(start, None if step < 0 and end < -size else end, step)]
    if places == range(size):
        return x
    if step > 0:
        return ops.getitem(x, (*whole, slice(places.start, max(places.stop, places.start), step)))
    if places == range(size)[::-1]:
        return ops.reverse(x, axis)
    node.limited(len(places))
    return ops.gather(x, ops.constant(np.array(places, np.int64)), axis)


def _to_named_bounds(
    node: OnnxNode, x: Value, axis: int, start: Size, end: Size, step: int
) -> Value:
    """A slice between sizes that are names: a gather of counted places.

    Of a table of weights it has as many rows as it asks for, and fails where the table has fewer:
    ONNX would give those that there are, which then meet others of the size that was asked for.
    """
    size = shape_of(x)[axis]
    assert size is not None
    if step < 0 and (start == -1 or (isinstance(start, int) and start >= _END)) and (
        isinstance(end, int) and end <= -_END and step == -1
    ):  # fmt: skip
        return ops.reverse(x, axis)
    first, last = (_from_front(b, size) for b in (start, end))
    if step < 1 or first is None or last is None:
        raise node.undetermined(f"the slice [{start}:{end}:{step}] of {size}", start, end, size)
    if first == 0 and at_least(last, size) and step == 1:
        return x
    terms = {"a": first, "b": last, "n": size}
    if isinstance(size, int) and size > 1 and not node.walk.reads_inputs(x):
        node.walk.note(f"{node.label}: a table of {size} rows is read up to {last}")
        terms["n"] = last
    count = dimension(f"(max(min(b,n)-min(a,n),0)+{step - 1})//{step}", terms)
    if count is None:
        raise node.undetermined(f"the slice [{start}:{end}:{step}] of {size}", start, end, size)
    places = counted(count)
    places = places if step == 1 else places * step
    return ops.gather(x, places if first == 0 else places + size_value(first), axis)


def _from_front(bound: Size, size: Size) -> Size | None:
    """A bound counted from the front, at least 0; `None` where it may be either."""
    if isinstance(bound, int) and bound >= _END:
        return size
    if at_least(bound, 0):
        return bound
    negative = dimension("-1-b", {"b": bound})
    if negative is not None and at_least(negative, 0):
        return dimension("max(n+b,0)", {"n": size, "b": bound})
    if bound == dimension("n-1", {"n": size}):
        return dimension("max(n-1,0)", {"n": size})
    return None


@rules.on("Gather")
def gather(node: OnnxNode, x: Value, indices: Value) -> Value:
    """Rows by their indices, which count from the end below 0."""
    axis = axis_in(node.get("axis"), rank_of(x))
    return ops.gather(x, from_front(node, indices, shape_of(x)[axis], 1), axis)


def from_front(node: OnnxNode, indices: Value, size: Dimension, place: int) -> Value:
    """Indices of an axis counted from the front, as i64.

    Args:
        node: which reads them.
        indices: of any integer dtype.
        size: of the axis.
        place: the input of the node at which they stand, to look whether they are known.
    """
    known = node.inputs[place] if place < len(node.inputs) else None
    if isinstance(known, np.ndarray) and isinstance(size, int):
        return node.value(np.where(known < 0, known + size, known).astype(np.int64))
    if isinstance(known, np.ndarray) and (known >= 0).all():
        return ops.cast(indices, "i64")
    if size is None:
        raise node.undetermined("the size of an axis that indices may count from the end of")
    wide = ops.cast(indices, "i64")
    return ops.where(wide < 0, wide + size_value(size), wide)


@rules.on("GatherElements")
def gather_elements(node: OnnxNode, x: Value, indices: Value) -> Value:
    """An element for each index, along an axis; other axes may be shorter than those of x."""
    axis = axis_in(node.get("axis"), rank_of(x))
    x = _cut(x, indices, axis)
    return ops.take_along_axis(x, from_front(node, indices, shape_of(x)[axis], 1), axis)


def _cut(x: Value, like: Value, axis: int) -> Value:
    for a, (d, n) in enumerate(zip(shape_of(x), shape_of(like), strict=True)):
        if a != axis and d != n and isinstance(n, int):
            x = ops.getitem(x, (*(slice(None),) * a, slice(0, n)))
    return x


def _places(shape: tuple[int, ...], axis: int, indices: Value, within: tuple[int, ...]) -> Value:
    """Flat places in an array of a shape, of indices along one of its axes."""
    strides = [prod(shape[a + 1 :]) for a in range(len(shape))]
    others = np.zeros(within, np.int64)
    for a, n in enumerate(within):
        if a != axis:
            others += (
                np.arange(n).reshape([-1 if i == a else 1 for i in range(len(within))]) * strides[a]
            )
    return ops.constant(others) + indices * strides[axis]


@rules.on("ScatterElements", "Scatter")
def scatter_elements(node: OnnxNode, x: Value, indices: Value, updates: Value) -> Value:
    """x with an update at each index along an axis."""
    axis = axis_in(node.get("axis"), rank_of(x))
    shape, within = node.dims(x), node.dims(indices)
    node.limited(*within)
    places = _places(shape, axis, from_front(node, indices, shape[axis], 1), within)
    flat = (ops.reshape(v, (-1,)) for v in (x, places, updates))
    return ops.reshape(_scattered(node, *flat), shape)


def _scattered(node: OnnxNode, x: Value, places: Value, updates: Value) -> Value:
    reduction = node.get("reduction", "none")
    if reduction == "none":
        return ops.scatter(x, places, updates, 0)
    if reduction == "add":
        return x + ops.scatter_add(places, updates, x, 0)
    return _one_by_one(node, x, places, updates, reduction)


def _one_by_one(node: OnnxNode, x: Value, places: Value, updates: Value, reduction: str) -> Value:
    """Updates that multiply, or that keep the greater or the smaller, in their order."""
    join = {"mul": ops.mul, "max": ops.maximum, "min": ops.minimum}.get(reduction)
    if join is None:
        raise node.refuse(f"the reduction {reduction!r}")

    def put(rows: Value, place: Value, update: Value) -> tuple[Value, ...]:
        at = ops.reshape(place, (1,))
        return (ops.scatter(rows, at, join(ops.gather(rows, at), ops.expand_dims(update, 0))),)

    (result,) = ops.scan(put, (x,), (places, updates))
    return result


def _flat_rows(node: OnnxNode, shape: tuple[Dimension, ...], indices: Value, place: int) -> Value:
    """Places of the rows that the last axis of `indices` names by their first coordinates."""
    count = shape_of(indices)[-1]
    if not isinstance(count, int):
        raise node.undetermined("how many coordinates an index has", count)
    total: Value | None = None
    wide = ops.cast(indices, "i64")
    for axis in range(count):
        one = ops.squeeze(ops.getitem(wide, (Ellipsis, slice(axis, axis + 1))), -1)
        size = shape[axis]
        assert size is not None
        one = ops.where(one < 0, one + size_value(size), one)
        total = one if total is None else total * size_value(size) + one
    if total is None:
        raise node.refuse("an index without coordinates")
    return total


@rules.on("GatherND")
def gather_nd(node: OnnxNode, x: Value, indices: Value) -> Value:
    """Rows by their first coordinates, in each of the batches."""
    batch = node.get("batch_dims", 0)
    count = shape_of(indices)[-1]
    if not batch:
        shape = shape_of(x)
        places = _flat_rows(node, shape, indices, 1)
        rows: Any = (-1, *shape[int(count or 0) :])
        return ops.gather(ops.reshape(x, rows), places, 0)
    dims = node.dims(x)
    rest, inner = dims[batch + int(count or 0) :], prod(dims[batch : batch + int(count or 0)])
    places = _flat_rows(node, dims[batch:], indices, 1)
    batches = prod(dims[:batch])
    node.limited(batches)
    shift = ops.constant((np.arange(batches) * inner).reshape(-1, 1))
    flat = ops.reshape(ops.reshape(places, (batches, -1)) + shift, (-1,))
    found = ops.gather(ops.reshape(x, (batches * inner, *rest)), flat, 0)
    return ops.reshape(found, (*node.dims(places), *rest))


@rules.on("ScatterND")
def scatter_nd(node: OnnxNode, x: Value, indices: Value, updates: Value) -> Value:
    """x with rows, named by their first coordinates, replaced."""
    shape = shape_of(x)
    count = shape_of(indices)[-1]
    if not isinstance(count, int):
        raise node.undetermined("how many coordinates an index has", count)
    places = ops.reshape(_flat_rows(node, shape, indices, 1), (-1,))
    rows: Any = (-1, *shape[count:])
    written = _scattered(node, ops.reshape(x, rows), places, ops.reshape(updates, rows))
    return ops.reshape_like(written, x)


@rules.on("TensorScatter")
def tensor_scatter(node: OnnxNode, past: Value, update: Value, first: Value | None = None) -> Value:
    """A cache with an update written behind what each sample has."""
    dims = node.dims(past)
    axis = axis_in(node.get("axis"), len(dims))
    batch, size, count = dims[0], dims[axis], node.dims(update)[axis]
    node.limited(batch + count)
    start = ops.constant(np.zeros(batch, np.int64)) if first is None else ops.cast(first, "i64")
    places = ops.reshape(start, (batch, 1)) + ops.constant(np.arange(count).reshape(1, count))
    if node.get("mode") == "circular":
        places = ops.mod(places, ops.fill(size, "i64"))
    order = [0, axis, *(a for a in range(len(dims)) if a not in (0, axis))]
    rest = [dims[a] for a in order[2:]]
    shift = ops.constant((np.arange(batch) * size).reshape(batch, 1))
    rows = ops.reshape(ops.transpose(past, order), (batch * size, *rest))
    new = ops.reshape(ops.transpose(update, order), (batch * count, *rest))
    written = ops.scatter(rows, ops.reshape(places + shift, (-1,)), new, 0)
    back = [order.index(a) for a in range(len(dims))]
    return ops.transpose(ops.reshape(written, (batch, size, *rest)), back)


@rules.on("OneHot", known=(1,))
def one_hot(node: OnnxNode, indices: Value, depth: Known, values: Value) -> Value:
    """values[1] at the index along a new axis, else values[0]."""
    (count,) = ints(depth)
    axis = axis_in(node.get("axis"), rank_of(indices) + 1)
    wide = ops.cast(indices, "i64")
    wide = ops.where(wide < 0, wide + size_value(count), wide)
    places = ops.reshape(counted(count), (-1, *(1,) * (rank_of(indices) - axis)))
    hit = ops.equal(ops.expand_dims(wide, axis), places)
    off, on = (ops.reshape(ops.getitem(values, slice(i, i + 1)), ()) for i in (0, 1))
    return ops.where(hit, on, off)


@rules.on("Trilu", known=(1,))
def trilu(node: OnnxNode, x: Value, diagonal: Known | None = None) -> Value:
    """The upper or lower triangle of matrices, and zeros."""
    k = 0 if diagonal is None else ints(diagonal)[0]
    rows, columns = shape_of(x)[-2:]
    if rows is None or columns is None:
        raise node.undetermined(f"the shape {x.type}")
    i, j = ops.reshape(counted(rows), (-1, 1)), counted(columns)
    moved = i + size_value(k)
    keep = ops.greater_equal(j, moved) if node.get("upper") else ops.less_equal(j, moved)
    return ops.where(keep, x, zero(x))


@rules.on("Pad", known=(1, 2, 3))
def pad(
    node: OnnxNode,
    x: Value,
    pads: Known | None = None,
    value: Known | None = None,
    axes: Known | None = None,
) -> Value:
    """More elements at both ends of axes, or fewer."""
    said: Any = node.get("pads", node.get("paddings")) if pads is None else ints(pads)
    rank = rank_of(x)
    places = range(rank) if axes is None else [axis_in(int(a), rank) for a in ints(axes)]
    fill = node.get("value", 0.0) if value is None else np.asarray(value).item()
    half = len(said) // 2
    for i, axis in enumerate(places):
        x = _padded(node, x, axis, said[i], said[i + half], fill)
    return x


def _padded(node: OnnxNode, x: Value, axis: int, low: Size, high: Size, fill: Any) -> Value:
    mode = {"reflect": "reflect", "edge": "edge", "wrap": "wrap"}.get(node.get("mode"), "constant")
    if isinstance(low, str) or isinstance(high, str):
        return _padded_by_names(node, x, axis, low, high, fill)
    if low < 0 or high < 0:
        stop = None if high >= 0 else high
        x = ops.getitem(x, (*(slice(None),) * axis, slice(max(-low, 0), stop)))
        low, high = max(low, 0), max(high, 0)
    if not (low or high):
        return x
    around = [(low, high) if a == axis else (0, 0) for a in range(rank_of(x))]
    if mode == "constant":
        dtype = x.type.dtype
        return ops.pad(x, around, bool(fill) if dtype == "bool" else
                       float(fill) if is_float(x) else int(fill))  # fmt: skip
    size = shape_of(x)[axis]
    if isinstance(size, int) and (mode == "wrap" or max(low, high) >= size):
        node.limited(low + size + high)
        places = np.pad(np.arange(size), (low, high), mode=mode)  # type: ignore[call-overload]
        return ops.gather(x, ops.constant(places.astype(np.int64)), axis)
    if mode == "wrap":
        raise node.undetermined("a pad that wraps", size)
    return ops.pad(x, around, mode=mode)


def _padded_by_names(
    node: OnnxNode, x: Value, axis: int, low: Size, high: Size, fill: Any
) -> Value:
    if node.get("mode") not in ("constant", None) or not (at_least(low, 0) and at_least(high, 0)):
        raise node.undetermined(f"the pad ({low}, {high})", low, high)
    shape = shape_of(x)

    def part(size: Size) -> list[Value]:
        dims: Any = tuple(size if a == axis else d for a, d in enumerate(shape))
        return [ops.broadcast_to(number(fill, x), dims)] if size != 0 else []

    return ops.concat([*part(low), x, *part(high)], axis)


@rules.on("NonZero", raw=True)
def non_zero(node: OnnxNode, x: Any) -> Any:
    """The places of the elements that are not 0, one row for each axis."""
    filled = isinstance(x, Value) and x.node is not None and isinstance(x.node.op, ops.Fill)
    size = shape_of(x)[0] if filled and rank_of(x) == 1 and x.node.op.value else None
    if size is not None:  # how PyTorch counted, in opset 9
        return ops.expand_dims(counted(size), 0)
    x = node.known(0)
    return np.stack(np.nonzero(np.atleast_1d(x))).astype(np.int64)


@rules.on("Compress", known=(1,))
def compress(node: OnnxNode, x: Value, condition: Any) -> Value:
    """The rows at which a condition holds."""
    places = ops.constant(np.nonzero(condition)[0].astype(np.int64))
    axis = node.get("axis")
    if axis is None:
        return ops.gather(ops.reshape(x, (-1,)), places, 0)
    return ops.gather(x, places, axis_in(axis, rank_of(x)))


@rules.on("Unique", known=(0,))
def unique(node: OnnxNode, x: Any) -> tuple[Any, ...]:
    """Elements, or rows, that differ; their first places, where each is, how often each is."""
    axis = node.get("axis")
    values, first, inverse, counts = np.unique(x, True, True, True, axis=axis)
    if not node.get("sorted"):
        order = np.argsort(first)
        values = np.take(values, order, axis or 0)
        first, counts = first[order], counts[order]
        inverse = np.argsort(order)[inverse.reshape(-1)]
    return (values, *(a.reshape(-1).astype(np.int64) for a in (first, inverse, counts)))


@rules.on("ReverseSequence")
def reverse_sequence(node: OnnxNode, x: Value, lengths: Value) -> Value:
    """The first elements of each sample, so many as its length, in reversed order."""
    dims = shape_of(x)
    time, batch = node.get("time_axis"), node.get("batch_axis")
    size = dims[time]
    if size is None:
        raise node.undetermined(f"the shape {x.type}")
    order = [time, batch, *(a for a in range(len(dims)) if a not in (time, batch))]
    y = ops.transpose(x, order)
    steps = ops.reshape(counted(size), (-1, 1))
    ends = ops.reshape(ops.cast(lengths, "i64"), (1, -1))
    places = ops.where(steps < ends, ends - 1 - steps, steps)
    tail = (1,) * (len(dims) - 2)
    places = ops.broadcast_like(ops.reshape(places, (*shape_of(places), *tail)), y)  # type: ignore[arg-type]
    return ops.transpose(
        ops.take_along_axis(y, places, 0), [order.index(a) for a in range(len(dims))]
    )
