"""Elements picked along one axis, each by an index of its own, and their sum put back.

`take_along_axis(x, argsort(x))` is x in order; the second op is the gradient of the first.  Indices
are those of `Gather`: from 0 on, and out of range is a `GraphError` when the program runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Dimension, Node, Op, Sample, ShapeError, TensorType, Types, Value
from byparts_opset.broadcast import given_axis, meet_dims, normal_axis
from byparts_opset.domain import index_into
from byparts_opset.dtypes import Array, narrow, total_dtype, wide
from byparts_opset.index import check_index_dtype, check_range


class TakeAlongAxis(Op):
    """y[..., i, ...] = x[..., indices[..., i, ...], ...] along `axis`; of one shape but for it."""

    axis: int = -1

    pattern = "injective"

    def infer(self, x: TensorType, indices: TensorType) -> Types:
        check_index_dtype(self.name, indices)
        return (TensorType(x.dtype, _lines(self.name, self.axis, x, indices)),)

    def infer_unranked(self, x: TensorType, indices: TensorType) -> Types:
        check_index_dtype(self.name, indices)
        return (TensorType(x.dtype, indices.shape),)

    def domain(self, x: Array, indices: Array) -> tuple[Array, ...]:
        return (x, index_into(x.shape[self.axis], indices))

    def check_indices(self, types: Types, indices: Array) -> None:
        check_range(self.name, indices, types[0].dims[self.axis], self.axis)

    def evaluate(self, x: Array, indices: Array) -> tuple[Array, ...]:
        check_range(self.name, indices, x.shape[self.axis], self.axis)
        y = np.take_along_axis(x, indices.astype(np.int64), self.axis)
        return (np.array(y, order="C"),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        x, indices = node.inputs
        return (AddAlongAxis(self.axis)(indices, dy, x), None)

    def decompose(self, x: Value, indices: Value) -> tuple[Value, ...] | None:
        places = _flat_places(self, indices, x.type)
        return None if places is None else (ops.Gather(0)(ops.Reshape((-1,))(x), places),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for axis, x, indices in _CASES:
            types = TensorType("f32", x), TensorType("i32", indices)
            yield Sample(cls(axis), types, ((-1.0, 1.0), (0, x[axis])))


class AddAlongAxis(Op):
    """y = zeros in the shape of `like`, plus each update at its index along `axis`; equal ones add.

    The gradient of `TakeAlongAxis`: y[..., indices[..., i, ...], ...] += updates[..., i, ...].
    """

    axis: int = -1

    ignores = (2,)

    def infer(self, indices: TensorType, updates: TensorType, like: TensorType) -> Types:
        _lines(self.name, self.axis, like, indices)
        if updates.rank != indices.rank:
            raise ShapeError(f"{self.name}: indices are {indices} and updates {updates}")
        what = f"indices are {indices} and updates {updates}"
        for a, b in zip(indices.shape or (), updates.shape or (), strict=True):
            meet_dims(self.name, a, b, what)
        return self.infer_unranked(indices, updates, like)

    def infer_unranked(self, indices: TensorType, updates: TensorType, like: TensorType) -> Types:
        check_index_dtype(self.name, indices)
        if updates.dtype == "bool":
            raise ShapeError(f"{self.name}: bool has no arithmetic, got updates {updates}")
        return (TensorType(updates.dtype, like.shape),)

    def domain(self, indices: Array, updates: Array, like: Array) -> tuple[Array, ...]:
        return (index_into(like.shape[self.axis], indices), updates, like)

    def check_indices(self, types: Types, indices: Array) -> None:
        check_range(self.name, indices, types[2].dims[self.axis], self.axis)

    def evaluate(self, indices: Array, updates: Array, like: Array) -> tuple[Array, ...]:
        check_range(self.name, indices, like.shape[self.axis], self.axis)
        y = np.zeros(like.shape, total_dtype(wide(updates).dtype))
        at = list(np.ogrid[tuple(map(slice, indices.shape))])
        at[self.axis] = indices.astype(np.int64)
        with np.errstate(all="ignore"):
            np.add.at(y, tuple(at), wide(updates))
        return (narrow(y, updates.dtype),)

    def gradient(self, node: Node, ddy: Value) -> tuple[Value | None, ...]:
        return (None, TakeAlongAxis(self.axis)(ddy, node.inputs[0]), None)

    def decompose(self, indices: Value, updates: Value, like: Value) -> tuple[Value, ...] | None:
        places = _flat_places(self, indices, like.type)
        if places is None:
            return None
        line = ops.Reshape((-1,))
        y = ops.ScatterAdd(0)(line(places), line(updates), line(like))
        return (ops.Reshape(like.type.dims)(y),)

    def flops(self, indices: TensorType, updates: TensorType, like: TensorType) -> int:
        return updates.size

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for axis, like, indices in _CASES:
            types = TensorType("i32", indices), TensorType("f32", indices), TensorType("f32", like)
            yield Sample(cls(axis), types, ((0, like[axis]),))


# axis, shape of x, shape of the indices
_CASES: tuple[tuple[int, tuple[int, ...], tuple[int, ...]], ...] = (
    *((0, (4, 3), (2, 3)), (1, (2, 3, 2), (2, 5, 2)), (-1, (2, 3), (2, 3)), (0, (3,), (7,))),
    *((0, (3, 2), (0, 2)), (1, (0, 2), (0, 3))),
)


def take_along_axis(x: Value, indices: Value, axis: int = -1) -> Value:
    """The elements of x that the indices name along `axis`; along the others both are broadcast."""
    axis = given_axis("take_along_axis", axis, x)
    return TakeAlongAxis(axis)(*_broadcast_lines(x, indices, axis))


def add_along_axis(indices: Value, updates: Value, like: Value, axis: int = -1) -> Value:
    """Zeros in the shape of `like`, plus each update at its index along `axis`."""
    return AddAlongAxis(given_axis("add_along_axis", axis, like))(indices, updates, like)


def _lines(name: str, axis: int, x: TensorType, indices: TensorType) -> tuple[Dimension, ...]:
    """The shape of what indices pick from x: theirs, with what x knows of the other axes."""
    shape, dims = x.shape or (), indices.shape or ()
    if len(shape) != len(dims):
        raise ShapeError(f"{name}: x and indices have one rank: x is {x}, indices are {indices}")
    axis = normal_axis(name, axis, len(shape))
    what = f"x is {x} and indices are {indices}"
    pairs = enumerate(zip(shape, dims, strict=True))
    return tuple([b if i == axis else meet_dims(name, a, b, what) for i, (a, b) in pairs])


def _broadcast_lines(x: Value, indices: Value, axis: int) -> tuple[Value, Value]:
    """Both, repeated along axes where one has size 1 and the other a number of its own."""
    shape, dims = x.type.shape, indices.type.shape
    if shape is None or dims is None or len(shape) != len(dims):
        return x, indices

    def repeated(v: Value, own: Sequence[Dimension], others: Sequence[Dimension]) -> Value:
        pairs = list(zip(own, others, strict=True))
        grows = [i != axis and a == 1 and b not in (1, None) for i, (a, b) in enumerate(pairs)]
        target = [b if grow else -1 for grow, (_, b) in zip(grows, pairs, strict=True)]
        return ops.broadcast_to(v, [d for d in target if d is not None]) if any(grows) else v

    return repeated(x, shape, dims), repeated(indices, dims, shape)


def _flat_places(op: TakeAlongAxis | AddAlongAxis, indices: Value, x: TensorType) -> Value | None:
    """Where in x, read as one line, each index points; checked.  `None` where sizes are unknown."""
    if not (x.static and indices.type.static):
        return None
    axis = normal_axis(op.name, op.axis, len(x.dims))
    lead, trail = x.dims[:axis], x.dims[axis + 1 :]
    inner, row = prod(trail), x.dims[axis] * prod(trail)
    index = ops.cast(ops.in_range(indices, x.dims[axis], op.name, op.axis), "i64")
    first = ops.arange(0, prod(lead), dtype="i64") * row
    within = ops.arange(0, inner, dtype="i64")
    first = ops.Reshape((*lead, 1, *(1,) * len(trail)))(first)
    return index * inner + first + ops.Reshape(trail)(within)
