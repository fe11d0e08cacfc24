"""A step of gradient descent in some rows of a table, and in no other: for embeddings.

The gradient of a lookup is `scatter_add(indices, dw, like=w)`, a tensor as large as the table, of
zeros mostly.  This op takes `indices` and `dw` themselves, so it reads and writes the rows that
were looked up.  An index that is out of range is passed over: the lookup has refused it before, and
an update of variables must not fail half-way.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import FLOATS, Op, Sample, ShapeError, TensorType, Types, Value
from byparts_opset.broadcast import meet_types, same_dtype
from byparts_opset.dtypes import Array, narrow, require
from byparts_opset.half import widened
from byparts_opset.index import Gather


class DescendRows(Op):
    """w' = w - rate * dw[k] in the row indices[k] along axis 0, for one k after the other.

    Inputs: w [rows, ...], indices [n], dw [n, ...], rate, a 0-d f32.  Rows at an index that occurs
    twice are moved twice; an index out of range moves none.
    """

    inplace = ((0, 0),)

    def infer(self, w: TensorType, indices: TensorType, dw: TensorType, rate: TensorType) -> Types:
        if indices.rank not in (1, None) or w.rank == 0:
            raise ShapeError(f"{self.name}: w is {w}, and indices {indices}; they are of rows, [n]")
        if rate.dtype != "f32" or rate.rank not in (0, None):
            raise ShapeError(f"{self.name}: rate is a 0-d f32, got {rate}; cast(rate, 'f32')")
        same_dtype(self.name, require(self.name, w, FLOATS), dw)
        (rows,) = Gather(0).infer(w, indices) if w.shape and indices.shape else (dw,)
        meet_types(self.name, rows, dw)
        return (w,)

    infer_unranked = infer

    def evaluate(self, w: Array, indices: Array, dw: Array, rate: Array) -> tuple[Array, ...]:
        y, at = w.astype(np.float64), indices.astype(np.int64)
        inside = (at >= 0) & (at < len(w))
        with np.errstate(all="ignore"):
            np.subtract.at(y, at[inside], dw[inside].astype(np.float64) * rate.astype(np.float64))
        return (narrow(y, w.dtype),)

    def decompose(self, w: Value, indices: Value, dw: Value, rate: Value) -> tuple[Value, ...]:
        """The table without the sum of the moves, which is as large."""
        rows = (w.type.shape or (None,))[0]
        if rows == 0:
            return (w,)
        count = ops.count_like(ops.cast(w, "i64"), (0,))
        count = ops.fill(rows, "i64") if isinstance(rows, int) else count
        at, table = ops.cast(indices, "i64"), widened(w)
        inside = ops.logical_and(ops.greater_equal(at, 0), ops.less(at, count))
        rank = len(w.type.shape or ())
        moves = widened(dw) * ops.cast(rate, table.type.dtype)
        moves = ops.where(ops.expand_dims(inside, tuple(range(1, rank))), moves, 0.0)
        total = ops.scatter_add(ops.where(inside, at, 0), moves, table)
        return (ops.cast(table - total, w.type.dtype),)

    def flops(self, w: TensorType, indices: TensorType, dw: TensorType, rate: TensorType) -> int:
        return 2 * dw.size

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        """Fewer and more indices than rows, so that some repeat; none; out of range."""
        for dtype, rows, width, n, highest in (
            *(("f32", 4, (3,), 2, 4), ("f32", 2, (), 7, 2), ("f64", 3, (2, 2), 5, 4)),
            *(("f16", 3, (2,), 2, 3), ("bf16", 2, (3,), 3, 2), ("f32", 3, (2,), 0, 3)),
        ):
            w, dw = TensorType(dtype, (rows, *width)), TensorType(dtype, (n, *width))
            types = (w, TensorType("i32", (n,)), dw, TensorType("f32", ()))
            yield Sample(cls(), types, ((-1, 1), (0, highest), (-1, 1), (0.01, 0.5)))


def descend_rows(w: Value, indices: Value, dw: Value, rate: Value | float) -> Value:
    """w after a step in the rows that `indices` [n] names, against dw [n, ...]."""
    return DescendRows()(w, indices, dw, ops.fill(rate, "f32") if isinstance(rate, float) else rate)
