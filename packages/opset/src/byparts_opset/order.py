"""Elements in order along an axis, their places, and where others belong among them.

nan counts as the greatest, as in `TopK`, NumPy and torch: last in rising order, first in falling
order.  Orders are stable: of equals the first comes first, either way.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Node, Op, Sample, ShapeError, TensorType, Types, Value
from byparts_opset.broadcast import given_axis, meet_dims, normal_axis, same_dtype
from byparts_opset.dtypes import NUMBERS, Array, narrow, require, wide
from byparts_opset.elementwise import flat, same_shape_back


class Ordered(Op):
    """Something of the elements of x in rising or falling order along `axis`."""

    axis: int = -1
    descending: bool = False

    infer_inputs = same_shape_back

    def check(self, x: TensorType) -> None:
        """Raise ShapeError where x has no order, or no such axis."""
        require(self.name, x, NUMBERS, "cast(x, 'i32') first")
        if x.shape is not None:
            normal_axis(self.name, self.axis, len(x.shape))

    def places(self, x: Array) -> Array:
        """Where in x the elements stand that come first, second, and so on."""
        if not self.descending:
            return np.argsort(wide(x), self.axis, kind="stable")
        # Sorted from behind, so that a stable sort leaves the first of equals last, then turned.
        turned = np.argsort(np.flip(wide(x), self.axis), self.axis, kind="stable")
        return np.asarray(x.shape[self.axis] - 1 - np.flip(turned, self.axis))

    def by_top_k(self, x: Value) -> tuple[Value, Value] | None:
        """The elements in order and their places, as `TopK` of all; `None` for an unknown size."""
        n = None if x.type.shape is None else x.type.shape[self.axis]
        if x.type.shape is None or not isinstance(n, int):
            return None
        rank = len(x.type.shape)
        order = [*(a for a in range(rank) if a != self.axis % rank), self.axis % rank]
        x = ops.transpose(x, order)
        # The greatest come first.  Turned before and after, the least do, and equals stay in order.
        values, places = ops.top_k(x if self.descending else ops.reverse(x, -1), n)
        if not self.descending:
            values, places = ops.reverse(values, -1), n - 1 - ops.reverse(places, -1)
        back = sorted(range(rank), key=order.__getitem__)
        return ops.transpose(values, back), ops.transpose(places, back)

    def flops(self, x: TensorType) -> int:
        return x.size * x.dims[self.axis].bit_length()

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for axis, descending, shape in (
            *((-1, False, (5,)), (0, True, (4, 3)), (1, False, (2, 3, 2)), (-1, True, (2, 6))),
            *((0, False, (0, 2)), (1, True, (2, 1))),
        ):
            yield Sample(cls(axis, descending), (TensorType("f32", shape),))


class Sort(Ordered):
    """y = the elements of x in order along `axis`; nan counts as the greatest."""

    zero_sign = False  # 0.0 and -0.0 are equal, and their order is that of the backend

    def infer(self, x: TensorType) -> Types:
        self.check(x)
        return (x,)

    infer_unranked = infer

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        rising = np.sort(wide(x), self.axis)  # not stable: equal numbers are the same but for 0
        y = np.flip(rising, self.axis) if self.descending else rising
        return (narrow(np.array(y, order="C"), x.dtype),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,) = node.inputs
        places = ArgSort(self.axis, self.descending)(x)
        return (ops.AddAlongAxis(self.axis)(places, dy, x),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        made = self.by_top_k(x)
        return made and (made[0],)


class ArgSort(Ordered):
    """y = where in x along `axis` its elements in order stand, as i64; equals keep their order."""

    name = "argsort"

    gradient = flat

    def infer(self, x: TensorType) -> Types:
        self.check(x)
        return (TensorType("i64", x.shape),)

    infer_unranked = infer

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return (np.array(self.places(x), np.int64, order="C"),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        made = self.by_top_k(x)
        return made and (made[1],)


class SearchSorted(Op):
    """y = how many elements of the rising `row` are less than x, as i64: where x belongs.

    row: [..., n]; x: [..., m] with the leading axes of `row`, or of any shape where that has one
    axis.  With `right` equal ones count too: x belongs behind them.  A row that is not in order, or
    has a nan, gives any numbers; a nan in x belongs behind all.
    """

    right: bool = False

    name = "searchsorted"
    gradient = flat

    def infer(self, row: TensorType, x: TensorType) -> Types:
        shape, dims = row.shape or (), x.shape or ()
        if not shape or (len(shape) > 1 and len(shape) != len(dims)):
            raise ShapeError(
                f"searchsorted: a row is [n], or [..., n] beside an x [..., m]: "
                f"row is {row} and x is {x}"
            )
        if len(shape) > 1:
            for a, b in zip(shape[:-1], dims[:-1], strict=True):
                meet_dims(self.name, a, b, f"row is {row} and x is {x}")
        return self.infer_unranked(row, x)

    def infer_unranked(self, row: TensorType, x: TensorType) -> Types:
        same_dtype(self.name, require(self.name, row, NUMBERS, "cast it to i32 first"), x)
        return (TensorType("i64", x.shape),)

    def domain(self, row: Array, x: Array) -> tuple[Array, ...]:
        numbers = np.where(np.isnan(wide(row)), 0, wide(row))
        return (np.sort(numbers, -1).astype(row.dtype), x)

    def evaluate(self, row: Array, x: Array) -> tuple[Array, ...]:
        rows = wide(row).reshape(-1, row.shape[-1]) if row.size else np.zeros((0, 0), row.dtype)
        y = np.zeros(x.shape, np.int64)
        parts = (a.reshape(len(rows), -1) for a in (wide(x), y)) if len(rows) else ((), ())
        for line, values, found in zip(rows, *parts, strict=True):
            found[...] = np.searchsorted(line, values, "right" if self.right else "left")
        return (y,)

    def decompose(self, row: Value, x: Value) -> tuple[Value, ...] | None:
        """Compare with each: O(n) for an element of x, where a search takes O(log n)."""
        if row.type.rank is None:
            return None
        line = row if row.type.rank == 1 else ops.expand_dims(row, -2)
        behind = (ops.greater if self.right else ops.greater_equal)(line, ops.expand_dims(x, -1))
        return (ops.Sum((-1,))(ops.cast(ops.logical_not(behind), "i64")),)

    def flops(self, row: TensorType, x: TensorType) -> int:
        return x.size * row.dims[-1].bit_length()

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for right, row, x in (
            *((False, (5,), (7,)), (True, (4,), (2, 3)), (False, (2, 3), (2, 4)), (True, (3,), ())),
            *((True, (2, 1, 4), (2, 1, 3)), (False, (0,), (2,)), (True, (3,), (0, 2))),
        ):
            yield Sample(cls(right), (TensorType("f32", row), TensorType("f32", x)))


def sort(x: Value, axis: int = -1, descending: bool = False) -> Value:
    """The elements in order along `axis`; nan counts as the greatest."""
    return Sort(given_axis("sort", axis, x), descending)(x)


def argsort(x: Value, axis: int = -1, descending: bool = False) -> Value:
    """Where the elements stand in order along `axis`, as i64; of equals the first comes first."""
    return ArgSort(given_axis("argsort", axis, x), descending)(x)


def searchsorted(row: Value, x: Value, side: str = "left", sorter: Value | None = None) -> Value:
    """Where each x belongs in the rising row: before its equals ("left") or behind them ("right").

    `sorter` says where the elements of a 1-d `row` that is not in order stand, as `argsort` does.
    """
    if side not in ("left", "right"):
        raise ShapeError(f"searchsorted: side is {side!r}; it is 'left' or 'right'")
    row = row if sorter is None else ops.gather(row, sorter)
    return SearchSorted(side == "right")(row, x)
