"""Parts of a tensor, by Python's slices: `x[1:, ..., ::-1]`.

`Slice` takes the three numbers of each slice for the leading axes, `None` as in Python, and clamps
as Python does.  Ints and `None` in an index become squeezes and new axes.  A part that is one run
of bytes is a view and costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from operator import index as as_int
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import (
    ITEM_BYTES,
    Dimension,
    Node,
    Op,
    Sample,
    ShapeError,
    TensorType,
    Types,
    Value,
    dimension,
)
from byparts_opset.broadcast import meet_types
from byparts_opset.dtypes import Array

Bounds = tuple[Optional[int], ...]


class Slice(Op):
    """y = x[starts[0]:stops[0]:steps[0], ...] along the leading axes; the others stay whole."""

    starts: Bounds
    stops: Bounds
    steps: tuple[int, ...] = ()  # none: all 1

    pattern = "injective"

    def infer(self, x: TensorType) -> Types:
        shape, slices = x.shape or (), slices_of(self)
        if len(slices) > len(shape):
            raise ShapeError(f"slice: {len(slices)} slices of {x}, which is of rank {len(shape)}")
        cut = [_length(s, d) for s, d in zip(slices, shape, strict=False)]
        return (TensorType(x.dtype, (*cut, *shape[len(cut) :])),)

    def views(self, x: TensorType) -> tuple[tuple[int, int, int], ...]:
        """y is contiguous in x if it has one index of each leading axis and a range of the next."""
        cut = [range(d)[s] for s, d in zip(slices_of(self), x.dims, strict=False)]
        ranges = [*cut, *map(range, x.dims[len(cut) :])]
        first = next((i for i, r in enumerate(ranges) if len(r) > 1), len(ranges))
        behind = zip(ranges[first + 1 :], x.dims[first + 1 :], strict=True)
        if any(len(r) == 0 for r in ranges) or any(r != range(d) for r, d in behind):
            return ()
        if first < len(ranges) and ranges[first].step != 1:
            return ()
        rows = [prod(x.dims[i + 1 :]) for i in range(len(ranges))]
        start = sum(r[0] * row for r, row in zip(ranges, rows, strict=True))
        return ((0, 0, start * ITEM_BYTES[x.dtype]),)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return (np.array(x[slices_of(self)], order="C"),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (SliceGradient(self.starts, self.stops, self.steps)(dy, node.inputs[0]),)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        """Write each slice of a known axis in one way; drop those at the end that take all."""
        (x,) = node.inputs
        best = _normal(slices_of(self), x.type)
        if best is None:
            return (x,)
        new = Slice(*best)
        return None if new == self else (new(x),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for op, x in _sample_cases():
            yield Sample(op, (TensorType("f32", x),))


class SliceGradient(Op):
    """y = zeros in the shape of `like`, but dy in the part that `Slice` takes."""

    starts: Bounds
    stops: Bounds
    steps: tuple[int, ...] = ()

    ignores = (1,)
    pattern = "injective"

    def infer(self, dy: TensorType, like: TensorType) -> Types:
        (part,) = Slice(self.starts, self.stops, self.steps).infer(like)
        meet_types(self.name, TensorType(dy.dtype, part.shape), dy)
        return (TensorType(dy.dtype, like.shape),)

    def infer_unranked(self, dy: TensorType, like: TensorType) -> Types:
        return (TensorType(dy.dtype, like.shape),)

    def evaluate(self, dy: Array, like: Array) -> tuple[Array, ...]:
        y = np.zeros(like.shape, dy.dtype)
        y[slices_of(self)] = dy
        return (y,)

    def gradient(self, node: Node, ddx: Value) -> tuple[Value | None, ...]:
        return (Slice(self.starts, self.stops, self.steps)(ddx), None)

    def decompose(self, dy: Value, like: Value) -> tuple[Value, ...] | None:
        """Axis by axis: reverse for negative steps, insert zeros between elements, pad."""
        if not like.type.static:
            return None
        y, paddings = dy, [(0, 0)] * len(like.type.dims)
        for axis, (s, d) in enumerate(zip(slices_of(self), like.type.dims, strict=False)):
            taken = range(d)[s]
            if len(taken) > 1 and taken.step < 0:
                y, taken = ops.Reverse((axis,))(y), taken[::-1]
            if len(taken) > 1 and taken.step > 1:
                y = _spread(y, axis, taken.step)
            first, behind = (taken[0], taken[-1] + 1) if taken else (0, 0)
            paddings[axis] = (first, d - behind)
        return (_pad(y, tuple(paddings)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for op, x in _sample_cases():
            (dy,) = op.infer(TensorType("f32", x))
            yield Sample(cls(op.starts, op.stops, op.steps), (dy, TensorType("f32", x)))


def getitem(x: Value, index: Any) -> Value:
    """x[index]: ints, slices, `...` and `None`; or one value, of which the elements are rows of x.

    Raises:
        ShapeError: too many of them, an int out of range, or something else.
    """
    if isinstance(index, Value):
        return ops.gather(x, index)
    items = _without_ellipsis(x.type, index if isinstance(index, tuple) else (index,))
    slices: list[slice] = []
    squeezed: list[int] = []
    new: list[int] = []
    for item in items:
        if item is None:
            new.append(len(slices) - len(squeezed) + len(new))
        elif isinstance(item, slice):
            slices.append(item)
        else:
            squeezed.append(len(slices))
            slices.append(_one(x.type, len(slices), item))
    if any(s != slice(None) for s in slices):
        x = _sliced(slices)(x)
    x = ops.Squeeze(tuple(squeezed))(x) if squeezed else x
    return ops.ExpandDims(tuple(new))(x) if new else x


def along(axis: int, start: int | None, stop: int | None, step: int = 1) -> Slice:
    """Make the `Slice` that takes start:stop:step of `axis`, and all of the other axes."""
    before = (None,) * axis
    return Slice((*before, start), (*before, stop), () if step == 1 else (*(1,) * axis, step))


def slices_of(op: Slice | SliceGradient) -> tuple[slice, ...]:
    """The index that NumPy takes.

    Raises:
        ShapeError: a step of 0, or fields of different lengths.
    """
    steps = op.steps or (1,) * len(op.starts)
    if not len(op.starts) == len(op.stops) == len(steps) or 0 in steps:
        raise ShapeError(
            f"{op.name}: starts {op.starts}, stops {op.stops} and steps {op.steps} are no slices"
        )
    return tuple(map(slice, op.starts, op.stops, steps))


def _sliced(slices: list[slice]) -> Slice:
    steps = tuple(1 if s.step is None else as_int(s.step) for s in slices)
    starts, stops = (
        tuple(None if b is None else as_int(b) for b in bounds)
        for bounds in ([s.start for s in slices], [s.stop for s in slices])
    )
    return Slice(starts, stops, () if set(steps) == {1} else steps)


def _length(s: slice, d: Dimension) -> Dimension:
    if isinstance(d, int):
        return len(range(d)[s])
    if s.step < 0:
        return d if s.start is None and s.stop is None and s.step == -1 else None
    terms = {"d": d, "start": abs(s.start or 0), "stop": abs(s.stop or 0), "step": s.step}
    if (s.start or 0) < 0 and s.stop is None:
        return dimension("(min(d,start)+step-1)//step", terms)
    start = "start" if (s.start or 0) >= 0 else "max(d-start,0)"
    stop = "d" if s.stop is None else "min(d,stop)" if s.stop >= 0 else "d-stop"
    return dimension(f"(max({stop}-{start},0)+step-1)//step", terms)


def _normal(
    slices: tuple[slice, ...], x: TensorType
) -> tuple[Bounds, Bounds, tuple[int, ...]] | None:
    """The slices written one way, without those at the end that take all; `None`: nothing left."""
    dims = x.shape or (None,) * len(slices)
    best = [_one_way(s, d) for s, d in zip(slices, dims, strict=False)]
    while best and best[-1] == (None, None, 1):
        best.pop()
    if not best:
        return None
    starts, stops, steps = zip(*best, strict=True)
    return starts, stops, () if set(steps) == {1} else steps


def _one_way(s: slice, d: Dimension) -> tuple[int | None, int | None, int]:
    if not isinstance(d, int):
        return s.start, s.stop, s.step
    taken = range(d)[s]
    if len(taken) == d and (d < 2 or taken.step == 1):
        return None, None, 1
    if len(taken) < 2:
        return (taken[0], taken[0] + 1, 1) if taken else (0, 0, 1)
    stop = taken[-1] + (1 if taken.step > 0 else -1)
    return taken[0], None if stop < 0 else stop, taken.step


def _spread(y: Value, axis: int, step: int) -> Value:
    """y with `step - 1` zeros between its elements along the axis."""
    dims = y.type.dims
    gaps = ((0, 0),) * (axis + 1) + ((0, step - 1),) + ((0, 0),) * (len(dims) - axis - 1)
    y = _pad(ops.ExpandDims((axis + 1,))(y), gaps)
    y = ops.Reshape((*dims[:axis], dims[axis] * step, *dims[axis + 1 :]))(y)
    return along(axis, 0, (dims[axis] - 1) * step + 1)(y)


def _pad(y: Value, paddings: tuple[tuple[int, int], ...]) -> Value:
    return ops.Pad(paddings)(y) if any(p != (0, 0) for p in paddings) else y


def _without_ellipsis(x: TensorType, items: tuple[Any, ...]) -> tuple[Any, ...]:
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    taken = len([item for item in items if item is not None]) - len(dots)
    if x.shape is not None and taken > len(x.shape):
        raise ShapeError(f"getitem: {taken} indices of {x}, which is of rank {len(x.shape)}")
    if not dots:
        return items
    if len(dots) > 1 or (x.shape is None and dots[0] != len(items) - 1):
        why = "more than one ..." if len(dots) > 1 else f"the rank of {x} is not known"
        raise ShapeError(f"getitem: {why}, so what ... stands for cannot be told")
    whole = 0 if x.shape is None else len(x.shape) - taken
    return (*items[: dots[0]], *(slice(None),) * whole, *items[dots[0] + 1 :])


def _one(x: TensorType, axis: int, item: Any) -> slice:
    """The slice that takes one element; the index is checked where the size is known."""
    if isinstance(item, (bool, np.bool_)) or not hasattr(item, "__index__"):
        what = str(item.type) if isinstance(item, Value) else repr(item)
        raise ShapeError(
            f"getitem: {what} in an index of {x}; takes ints, slices, ... and None, or gather"
        )
    if getattr(item, "shape", ()):
        raise ShapeError(f"getitem: an array in an index of {x}: {item!r:.60}; use ops.gather")
    i, d = as_int(item), None if x.shape is None else x.shape[axis]
    if isinstance(d, int) and not -d <= i < d:
        raise ShapeError(f"getitem: index {i} is out of range for axis {axis} of {x}")
    return slice(i, None if i == -1 else i + 1)


def _sample_cases() -> Iterator[tuple[Slice, tuple[int, ...]]]:
    yield Slice((1,), (3,)), (4, 2)
    yield Slice((0, 1), (2, -1), (1, 2)), (3, 6)
    yield Slice((None, -1), (None, None), (1, -2)), (2, 5)
    yield Slice((-100, 3), (100, 1), (3, 1)), (7, 4)
    yield Slice((1, 0, 1), (2, 3, 2)), (2, 3, 2)
    yield Slice((), ()), ()
    yield Slice((0,), (5,)), (0, 2)
    yield Slice((2,), (1,)), (3, 2)
