"""Rows picked by index tensors, their sum put back, rows put in the place of others.

Picking and the sum are embeddings and their gradients; the third is `x[indices] = rows`.

An index counts from 0 and must be below the size of the axis: a negative one is out of range (as in
TensorFlow and XLA, and one comparison cheaper than NumPy's).  Out of range is a `GraphError` when
the program runs; nothing is clamped silently.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import (
    INTEGERS,
    GraphError,
    Node,
    Op,
    Sample,
    ShapeError,
    TensorType,
    Types,
    Value,
)
from byparts_opset.broadcast import given_axis, meet_types, normal_axis, same_dtype
from byparts_opset.constant import Number, exact
from byparts_opset.domain import index_into
from byparts_opset.dtypes import Array, narrow, numpy_dtype, total_dtype, wide
from byparts_opset.elementwise import flat, same_shape_back


class Gather(Op):
    """y[..., i, ...] = x[..., indices[i], ...]: the indices' axes stand in the place of `axis`."""

    axis: int = 0

    pattern = "injective"

    def infer(self, x: TensorType, indices: TensorType) -> Types:
        check_index_dtype(self.name, indices)
        shape = x.shape or ()
        axis = normal_axis(self.name, self.axis, len(shape))
        return (TensorType(x.dtype, (*shape[:axis], *(indices.shape or ()), *shape[axis + 1 :])),)

    def infer_unranked(self, x: TensorType, indices: TensorType) -> Types:
        check_index_dtype(self.name, indices)
        return (TensorType(x.dtype, None),)

    def domain(self, x: Array, indices: Array) -> tuple[Array, ...]:
        return (x, index_into(x.shape[self.axis], indices))

    def check_indices(self, types: Types, indices: Array) -> None:
        check_range(self.name, indices, types[0].dims[self.axis], self.axis)

    def evaluate(self, x: Array, indices: Array) -> tuple[Array, ...]:
        check_range(self.name, indices, x.shape[self.axis], self.axis)
        return (np.asarray(np.take(x, indices.astype(np.int64), self.axis)),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        x, indices = node.inputs
        return (ScatterAdd(self.axis)(indices, dy, x), None)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for axis, x, indices in (
            *((0, (4, 3), (2,)), (1, (2, 3, 2), (2, 2)), (-1, (2, 3), ()), (0, (3,), (2, 2))),
            *((0, (3, 2), (0,)), (1, (3, 2, 0), (2,))),
        ):
            types = TensorType("f32", x), TensorType("i32", indices)
            yield Sample(cls(axis), types, ((-1.0, 1.0), (0, x[axis])))


class ScatterAdd(Op):
    """y = zeros in the shape of `like`, plus each update at its index along `axis`."""

    axis: int = 0

    ignores = (2,)

    def infer(self, indices: TensorType, updates: TensorType, like: TensorType) -> Types:
        (rows,) = Gather(self.axis).infer(like, indices)
        meet_types(self.name, TensorType(updates.dtype, rows.shape), updates)
        return self.infer_unranked(indices, updates, like)

    def infer_unranked(self, indices: TensorType, updates: TensorType, like: TensorType) -> Types:
        check_index_dtype(self.name, indices)
        if updates.dtype == "bool":
            raise ShapeError(f"scatter_add: bool has no arithmetic, got updates {updates}")
        return (TensorType(updates.dtype, like.shape),)

    def infer_dtypes(
        self, indices: TensorType, updates: TensorType, like: TensorType
    ) -> tuple[str, ...]:
        return (updates.dtype,)

    def domain(self, indices: Array, updates: Array, like: Array) -> tuple[Array, ...]:
        return (index_into(like.shape[self.axis], indices), updates, like)

    def check_indices(self, types: Types, indices: Array) -> None:
        check_range(self.name, indices, types[2].dims[self.axis], self.axis)

    def evaluate(self, indices: Array, updates: Array, like: Array) -> tuple[Array, ...]:
        check_range(self.name, indices, like.shape[self.axis], self.axis)
        y = np.zeros(like.shape, total_dtype(wide(updates).dtype))
        at = range(self.axis % like.ndim, self.axis % like.ndim + indices.ndim)
        rows = np.moveaxis(wide(updates), tuple(at), range(indices.ndim))
        with np.errstate(all="ignore"):
            np.add.at(np.moveaxis(y, self.axis, 0), indices.astype(np.int64), rows)
        return (narrow(y, updates.dtype),)

    def gradient(self, node: Node, ddy: Value) -> tuple[Value | None, ...]:
        return (None, Gather(self.axis)(ddy, node.inputs[0]), None)

    def flops(self, indices: TensorType, updates: TensorType, like: TensorType) -> int:
        return updates.size

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for s in Gather.samples():
            x, indices = s.types
            assert isinstance(s.op, Gather) and x.shape is not None
            (updates,) = s.op.infer(x, indices)
            yield Sample(cls(s.op.axis), (indices, updates, x), (s.ranges[1],))


class Scatter(Op):
    """y = x with each update in the place of the slice at its index along `axis`; the last wins.

    indices: [n]; updates: x with n slices along `axis`.  Of updates at one index y has the one that
    stands last, whatever the backend, and only that one gets a gradient.
    """

    axis: int = 0

    inplace = ((0, 0),)

    def infer(self, x: TensorType, indices: TensorType, updates: TensorType) -> Types:
        if indices.rank != 1:
            raise ShapeError(f"scatter: indices have one axis, got {indices}; reshape them to -1")
        (rows,) = Gather(self.axis).infer(x, indices)
        meet_types(self.name, rows, updates)
        return self.infer_unranked(x, indices, updates)

    def infer_unranked(self, x: TensorType, indices: TensorType, updates: TensorType) -> Types:
        check_index_dtype(self.name, indices)
        same_dtype(self.name, x, updates)
        return (x,)

    def infer_dtypes(
        self, x: TensorType, indices: TensorType, updates: TensorType
    ) -> tuple[str, ...]:
        return (x.dtype,)

    def domain(self, x: Array, indices: Array, updates: Array) -> tuple[Array, ...]:
        return (x, index_into(x.shape[self.axis], indices), updates)

    check_indices = Gather.check_indices

    def evaluate(self, x: Array, indices: Array, updates: Array) -> tuple[Array, ...]:
        check_range(self.name, indices, x.shape[self.axis], self.axis)
        y = x.copy()
        # NumPy assigns in the order of the indices, so what it leaves is the last.
        np.moveaxis(y, self.axis, 0)[indices.astype(np.int64)] = np.moveaxis(updates, self.axis, 0)
        return (y,)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        x, indices, updates = node.inputs
        place = ops.cumsum(ops.cast(ops.ones_like(updates), "i64"), self.axis, exclusive=True)
        last = self(ops.zeros_like(ops.cast(x, "i64")), indices, place)
        wins = ops.equal(Gather(self.axis)(last, indices), place)
        return (
            self(dy, indices, ops.zeros_like(updates)),
            None,
            ops.select(wins, Gather(self.axis)(dy, indices), ops.zeros_like(updates)),
        )

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        """Fewer and more indices than slices, so that some repeat; no index, slice or element."""
        for axis, x, n in (
            *((0, (4, 3), 2), (1, (2, 3, 2), 7), (-1, (2, 3), 5), (0, (3,), 8), (0, (1,), 1)),
            *((0, (3, 2), 0), (1, (3, 2, 0), 2), (0, (0, 2), 0)),
        ):
            front = axis % len(x)
            updates = TensorType("f32", (*x[:front], n, *x[front + 1 :]))
            types = TensorType("f32", x), TensorType("i32", (n,)), updates
            yield Sample(cls(axis), types, ((-1.0, 1.0), (0, x[axis]), (-1.0, 1.0)))


class InRange(Op):
    """y = indices; one that is not in [0, size) is a `GraphError` in the words of the op `of`."""

    size: int
    of: str
    axis: Optional[int] = None  # which they are of; none: they are labels of classes

    inplace = ((0, 0),)
    gradient = flat
    infer_inputs = same_shape_back

    def infer(self, indices: TensorType) -> Types:
        check_index_dtype(self.name, indices)
        return (indices,)

    infer_unranked = infer

    def domain(self, indices: Array) -> tuple[Array, ...]:
        return (index_into(self.size, indices),)

    def check_indices(self, types: Types, indices: Array) -> None:
        check_range(self.of, indices, self.size, self.axis)

    def evaluate(self, indices: Array) -> tuple[Array, ...]:
        check_range(self.of, indices, self.size, self.axis)
        return (np.array(indices),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for shape in ((3,), (2, 5), (), (0,)):
            yield Sample(cls(4, "gather", 0), (TensorType("i32", shape),), ((0, 4),))


class OneHot(Op):
    """y[..., j] = `on` where j = indices[...], else `off`, for j below `depth`.

    An index out of range gives a row of `off`.
    """

    depth: int
    dtype: str = "f32"
    on: Number = 1
    off: Number = 0

    gradient = flat

    def infer(self, indices: TensorType) -> Types:
        (row,) = self.infer_unranked(indices)
        return (TensorType(row.dtype, (*(indices.shape or ()), self.depth)),)

    def infer_unranked(self, indices: TensorType) -> Types:
        check_index_dtype(self.name, indices)
        exact(self.on, self.dtype)
        exact(self.off, self.dtype)
        return (TensorType(self.dtype, None),)

    def evaluate(self, indices: Array) -> tuple[Array, ...]:
        hot = indices[..., None].astype(np.int64) == np.arange(self.depth)
        dtype = numpy_dtype(self.dtype).type
        return (np.asarray(np.where(hot, dtype(self.on), dtype(self.off))),)

    def decompose(self, indices: Value) -> tuple[Value, ...] | None:
        each = ops.arange(0, self.depth, dtype="i64")
        hot = ops.equal(ops.ExpandDims((-1,))(ops.cast(indices, "i64")), each)
        return (ops.select(hot, ops.fill(self.on, self.dtype), ops.fill(self.off, self.dtype)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield Sample(cls(4), (TensorType("i32", (2, 3)),), ((0, 4),))
        yield Sample(cls(3, "i64", 5, -5), (TensorType("i64", (4,)),), ((-2, 5),))
        yield Sample(cls(2), (TensorType("i32", ()),), ((0, 2),))
        yield Sample(cls(0), (TensorType("i32", (2,)),), ((0, 2),))


def gather(x: Value, indices: Value, axis: int = 0) -> Value:
    """The slices of x along `axis` that the indices name."""
    return Gather(given_axis("gather", axis, x))(x, indices)


def scatter_add(indices: Value, updates: Value, like: Value, axis: int = 0) -> Value:
    """Zeros in the shape of `like`, plus each update at its index; equal indices add up."""
    return ScatterAdd(given_axis("scatter_add", axis, like))(indices, updates, like)


def scatter(x: Value, indices: Value, updates: Value, axis: int = 0) -> Value:
    """x with `updates` in the place of the slices along `axis` that `indices` [n] names.

    An assignment: of updates at equal indices the last one wins.
    """
    return Scatter(given_axis("scatter", axis, x))(x, indices, updates)


def in_range(indices: Value, size: int, of: str, axis: Optional[int] = None) -> Value:
    """The indices, of which one that is not in [0, size) is an error of the op `of`.

    They are of an axis, or without one they are labels, and `size` is the number of classes.
    """
    return InRange(size, of, axis)(indices)


def one_hot(
    indices: Value, depth: int, dtype: str = "f32", on: Number = 1, off: Number = 0
) -> Value:
    """Rows of `off` with an `on` at the index."""
    return OneHot(depth, dtype, on, off)(indices)


def check_range(name: str, indices: Array, size: int, axis: int | None = None) -> None:
    """Check that all of `indices` are in [0, size); without an axis they are labels.

    Raises:
        GraphError: the first that is not, and where it stands.
    """
    given = wide(indices)
    wrong = np.argwhere((given < 0) | (given >= size))
    if len(wrong):
        at = tuple(int(i) for i in wrong[0])
        place = f" at {list(at)}" if at else ""
        if axis is None:
            classes = f"there are {size}, 0 to {size - 1}"
            raise GraphError(f"{name}: label {indices[at]} is no class: {classes}")
        raise GraphError(
            f"{name}: index {indices[at]}{place} is out of range for axis {axis} of size {size}"
        )


def check_index_dtype(name: str, indices: TensorType) -> None:
    """Refuse indices that are no integers."""
    if indices.dtype not in INTEGERS:
        raise ShapeError(f"{name}: indices are integers, got {indices}; cast(indices, 'i32') first")
