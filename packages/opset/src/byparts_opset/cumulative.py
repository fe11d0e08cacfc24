"""Running sums along an axis."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from byparts_graph_ir import Node, Op, Sample, TensorType, Types, Value
from byparts_opset.broadcast import given_axis, normal_axis
from byparts_opset.dtypes import NUMBERS, Array, narrow, require, total_dtype, wide
from byparts_opset.elementwise import same_shape_back


class CumSum(Op):
    """y[i] = x[0] + ... + x[i] along `axis`.

    `exclusive` leaves x[i] out, `reverse` starts at the end.
    The dtype stays; half types are summed in f32.
    """

    name = "cumsum"

    axis: int
    exclusive: bool = False
    reverse: bool = False

    def infer(self, x: TensorType) -> Types:
        require(self.name, x, NUMBERS, "cast(x, 'i32') first")
        if x.shape is not None:
            normal_axis(self.name, self.axis, len(x.shape))
        return (x,)

    infer_unranked = infer
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        w = np.moveaxis(wide(x), self.axis, 0)
        w = w[::-1] if self.reverse else w
        with np.errstate(all="ignore"):
            y = np.cumsum(w, axis=0, dtype=total_dtype(w.dtype))
        if self.exclusive:
            y = np.concatenate([np.zeros_like(y[:1]), y[:-1]])
        y = y[::-1] if self.reverse else y
        return (narrow(np.ascontiguousarray(np.moveaxis(y, 0, self.axis)), x.dtype),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (CumSum(self.axis, self.exclusive, not self.reverse)(dy),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for axis, exclusive, reverse, shape in (
            *((0, False, False, (4,)), (-1, True, False, (2, 3)), (0, False, True, (3, 2))),
            *((1, True, True, (2, 3, 2)), (0, True, False, (0, 2))),
        ):
            yield Sample(cls(axis, exclusive, reverse), (TensorType("f32", shape),))


def cumsum(x: Value, axis: int, exclusive: bool = False, reverse: bool = False) -> Value:
    """Running sums along `axis`."""
    return CumSum(given_axis("cumsum", axis, x), exclusive, reverse)(x)
