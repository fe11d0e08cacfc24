"""Running sums and products along an axis, and what is linear in the element before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Node, Op, Sample, TensorType, Types, Value
from byparts_opset.broadcast import given_axis, meet_types, normal_axis, same_dtype
from byparts_opset.dtypes import NUMBERS, Array, narrow, require, total_dtype, wide
from byparts_opset.elementwise import same_shape_back
from byparts_opset.half import in_f32, widened


class Running(Op):
    """y[i] = what `ufunc` gives of x[0] to x[i] along `axis`.

    `exclusive` leaves x[i] out, `reverse` starts at the end.  The dtype stays; half types are
    computed in f32.
    """

    axis: int
    exclusive: bool = False
    reverse: bool = False

    ufunc: ClassVar[np.ufunc]
    infer_inputs = same_shape_back

    def infer(self, x: TensorType) -> Types:
        require(self.name, x, NUMBERS, "cast(x, 'i32') first")
        if x.shape is not None:
            normal_axis(self.name, self.axis, len(x.shape))
        return (x,)

    infer_unranked = infer

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        w = np.moveaxis(wide(x), self.axis, 0)
        w = w[::-1] if self.reverse else w
        with np.errstate(all="ignore"):
            y = self.ufunc.accumulate(w, axis=0, dtype=total_dtype(w.dtype))
        if self.exclusive:
            y = np.concatenate([np.full_like(y[:1], self.ufunc.identity), y[:-1]])
        y = y[::-1] if self.reverse else y
        return (narrow(np.ascontiguousarray(np.moveaxis(y, 0, self.axis)), x.dtype),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for axis, exclusive, reverse, shape in (
            *((0, False, False, (4,)), (-1, True, False, (2, 3)), (0, False, True, (3, 2))),
            *((1, True, True, (2, 3, 2)), (0, True, False, (0, 2))),
        ):
            yield Sample(cls(axis, exclusive, reverse), (TensorType("f32", shape),))


class CumSum(Running):
    """y[i] = x[0] + ... + x[i] along `axis`; without x[i], or from the end, where asked for."""

    name = "cumsum"
    ufunc = np.add

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (CumSum(self.axis, self.exclusive, not self.reverse)(dy),)


class CumProd(Running):
    """y[i] = x[0] * ... * x[i] along `axis`; without x[i], or from the end, where asked for.

    The gradient divides by nothing, so it is right where factors are 0, to any order.  With e[i]
    the product of the factors before x[i], and g[i] all that depends on y[i], it is

        dx[i] = e[i] * g[i]        g[i] = dy[i] + x[i + 1] * g[i + 1]
    """

    name = "cumprod"
    ufunc = np.multiply

    def domain(self, x: Array) -> tuple[Array, ...]:
        """Factors of which no product leaves the range of the dtype on its way to a small one."""
        return ops.Prod((self.axis,)).domain(x)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,) = node.inputs
        w, dw = widened(x), widened(dy)
        back = LinearRecurrence(self.axis, True, not self.reverse)
        behind = back(w, dw if self.exclusive else w * dw)
        before = CumProd(self.axis, True, self.reverse)(w)
        dx = before * (behind if self.exclusive else dw + behind)
        return (ops.cast(dx, x.type.dtype),)

    @in_f32
    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return _scanned(self, lambda h, x: h * x, 1, x)


class LinearRecurrence(Op):
    """y[i] = a[i] * y[i - 1] + b[i] along `axis`, from 0 on, one after the other.

    `exclusive` gives y[i - 1] in the place of y[i], `reverse` starts at the end.  Sums that decay,
    discounted returns, and the gradient of `CumProd`; its own gradient is made of itself.
    """

    axis: int
    exclusive: bool = False
    reverse: bool = False

    def infer(self, a: TensorType, b: TensorType) -> Types:
        require(self.name, a, NUMBERS, "cast(x, 'i32') first")
        if a.shape is not None:
            normal_axis(self.name, self.axis, len(a.shape))
        same_dtype(self.name, a, b)
        return (meet_types(self.name, a, b),)

    infer_unranked = infer

    def evaluate(self, a: Array, b: Array) -> tuple[Array, ...]:
        slope, step = (np.moveaxis(wide(v), self.axis, 0) for v in (a, b))
        y = np.zeros_like(step)
        h = np.zeros(step.shape[1:], step.dtype)
        with np.errstate(all="ignore"):
            for i in range(len(step))[:: -1 if self.reverse else 1]:
                before, h = h, slope[i] * h + step[i]
                y[i] = before if self.exclusive else h
        return (narrow(np.ascontiguousarray(np.moveaxis(y, 0, self.axis)), a.dtype),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        """db[i] = dy[i] + a[i + 1] * db[i + 1], and da[i] = db[i] * y[i - 1]."""
        (a, b), (y,) = node.inputs, node.outputs
        back = LinearRecurrence(self.axis, True, not self.reverse)
        if self.exclusive:
            db = back(a, dy)
            return (db * y, db)
        db = dy + back(a, a * dy)
        return (db * LinearRecurrence(self.axis, True, self.reverse)(a, b), db)

    @in_f32
    def decompose(self, a: Value, b: Value) -> tuple[Value, ...] | None:
        return _scanned(self, lambda h, a, b: a * h + b, 0, a, b)

    def flops(self, a: TensorType, b: TensorType) -> int:
        return 2 * a.size

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for s in CumSum.samples():
            assert isinstance(s.op, CumSum)
            yield Sample(cls(s.op.axis, s.op.exclusive, s.op.reverse), s.types * 2)


def cumsum(x: Value, axis: int, exclusive: bool = False, reverse: bool = False) -> Value:
    """Running sums along `axis`."""
    return CumSum(given_axis("cumsum", axis, x), exclusive, reverse)(x)


def cumprod(x: Value, axis: int, exclusive: bool = False, reverse: bool = False) -> Value:
    """Running products along `axis`."""
    return CumProd(given_axis("cumprod", axis, x), exclusive, reverse)(x)


def linear_recurrence(
    a: Value, b: Value, axis: int, exclusive: bool = False, reverse: bool = False
) -> Value:
    """y[i] = a[i] * y[i - 1] + b[i] along `axis`, from 0 on."""
    return LinearRecurrence(given_axis("linear_recurrence", axis, a), exclusive, reverse)(a, b)


def _scanned(
    op: CumProd | LinearRecurrence, step: Callable[..., Value], start: int, *xs: Value
) -> tuple[Value, ...] | None:
    """The op as a scan of the slices: h = step(h, *slices), and the rows are h, or those before."""
    rank = xs[0].type.rank
    if rank is None:
        return None
    order = list(range(rank))
    order[0], order[op.axis] = order[op.axis], order[0]

    def one(h: Value, *slices: Value) -> tuple[Value, Value]:
        new = step(h, *slices)
        return new, h if op.exclusive else new

    rows = [ops.transpose(x, order) for x in xs]
    first = ops.Sum((0,))(ops.zeros_like(rows[0])) + start  # a slice of one number
    _, y = ops.scan(one, (first,), rows, reverse=op.reverse)
    return (ops.transpose(y, order),)
