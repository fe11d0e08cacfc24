"""Products along axes, with a gradient that is right where factors are 0, to any order.

dy/dx[i] is the product of the other factors.  Dividing y by x[i] fails at 0, so it is an op of its
own, `ProdOfOthers`: one running product from each side, O(n).  Its own gradient, for second
derivatives, multiplies in an [n, n] table and is made of ordinary ops and itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Node, Op, Sample, TensorType, Types, Value
from byparts_opset.broadcast import given_axis
from byparts_opset.dtypes import Array, narrow, wide
from byparts_opset.elementwise import same_shape_back
from byparts_opset.reduction import Axes, Reduction, reduced_axes


class Prod(Reduction):
    """y = the product of x over `axes`, in any order; 1 of no elements."""

    limits = (0.5, 2.0)

    def domain(self, x: Array) -> tuple[Array, ...]:
        """Factors whose product is the same in all orders: it does not overflow on its way to 0."""
        w = wide(x)
        if not np.issubdtype(w.dtype, np.floating):
            return (x,)
        sizes, most = np.abs(w), np.finfo(w.dtype).maxexp - 1
        plain = np.isfinite(w) & (w != 0)
        logs = np.log2(sizes, where=plain, out=np.zeros_like(w))
        grows, shrinks = self._summed(np.maximum(logs, 0)), self._summed(np.maximum(-logs, 0))
        zero, infinite = self._summed(w == 0) > 0, self._summed(np.isinf(w)) > 0
        too_large = (grows > most) & (zero | (shrinks > 0))
        too_small = (shrinks > most) & (infinite | (grows > 0))
        count = np.maximum(self._summed(plain), 1)
        near = np.exp2(np.clip(logs, -most / count, most / count))
        changed = (too_large | too_small) & plain
        return (np.where(changed, np.copysign(near, w), w).astype(x.dtype),)

    def _summed(self, x: Array) -> Array:
        total: Array = x.sum(axis=self.axes, keepdims=True)
        return total

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        w = wide(x)
        with np.errstate(all="ignore"):
            y = w.prod(axis=self.axes, keepdims=self.keepdims, dtype=w.dtype)
            return (narrow(y, x.dtype),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,) = node.inputs
        if self.axes is None:
            line = ops.Reshape((-1,))(x)
            return (ops.reshape_like(_chain(line, (0,), ops.Reshape((1,))(dy)), x),)
        return (_chain(x, self.axes, self.restore(dy)),)


class ProdOfOthers(Op):
    """y[i] = the product of all x[j] along `axis` but x[i]."""

    axis: int

    def infer(self, x: TensorType) -> Types:
        Prod((self.axis,)).infer(x)
        return (x,)

    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        w = np.moveaxis(wide(x), self.axis, 0)
        y = np.ones_like(w)
        with np.errstate(all="ignore"):
            for i in range(len(w)):
                others = np.delete(w, i, axis=0)
                y[i] = others.prod(axis=0, dtype=w.dtype)
        return (narrow(np.ascontiguousarray(np.moveaxis(y, 0, self.axis)), x.dtype),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        """dx[k] = the sum over i, other than k, of dy[i] * the product of x but for i and k."""
        (x,) = node.inputs
        one_out, itself = _leave_one_out(x, self.axis)  # [i, k]: x[k], but 1 where k = i
        rows, columns = _two_axes(self.axis)
        others = ops.select(itself, 0, ProdOfOthers(columns)(one_out))
        return (ops.Sum((rows,))(ops.ExpandDims((columns,))(dy) * others),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        one_out, _ = _leave_one_out(x, self.axis)
        return (Prod((_two_axes(self.axis)[1],))(one_out),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for axis, shape in ((0, (3,)), (-1, (2, 3)), (1, (2, 1, 2)), (0, (0, 2))):
            yield Sample(cls(axis), (TensorType("f32", shape),), ((0.5, 2.0),))


def prod(x: Value, axis: Axes = None, keepdims: bool = False) -> Value:
    """The product over `axis`, all by default."""
    return Prod(reduced_axes("prod", axis, x.type), keepdims)(x)


def prod_of_others(x: Value, axis: int) -> Value:
    """For each element along `axis`, the product of the others."""
    return ProdOfOthers(given_axis("prod_of_others", axis, x))(x)


def _chain(x: Value, axes: tuple[int, ...], dy: Value) -> Value:
    """The gradient of a product over `axes`, axis by axis; dy has these axes with size 1."""
    stages = [x]
    for axis in axes[:-1]:
        stages.append(Prod((axis,), True)(stages[-1]))
    for axis, stage in zip(reversed(axes), reversed(stages), strict=False):
        dy = dy * ProdOfOthers(axis)(stage)
    return dy


def _leave_one_out(x: Value, axis: int) -> tuple[Value, Value]:
    """x along a new axis before `axis`, with 1 on the diagonal of the two; and that diagonal."""
    before, after = _two_axes(axis)
    number = ops.CumSum(axis)(ops.ones_like(ops.cast(x, "i64")))  # its own place along the axis
    itself = ops.equal(ops.ExpandDims((before,))(number), ops.ExpandDims((after,))(number))
    return ops.select(itself, 1, ops.ExpandDims((before,))(x)), itself


def _two_axes(axis: int) -> tuple[int, int]:
    """The positions of a new axis, inserted before `axis`, and of `axis` after that."""
    return (axis, axis + 1) if axis >= 0 else (axis - 1, axis)
