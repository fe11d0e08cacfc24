"""Elements in the opposite order along some axes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from byparts_graph_ir import Node, Op, Sample, TensorType, Types, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.broadcast import normal_axes
from byparts_opset.dtypes import Array
from byparts_opset.elementwise import same_shape_back


@dataclass(frozen=True)
class Reverse(Op):
    """y[i] = x[n - 1 - i] along each of `axes`."""

    axes: tuple[int, ...]

    pattern = "injective"

    def infer(self, x: TensorType) -> Types:
        if x.shape is not None:
            normal_axes(self.name, self.axes, len(x.shape))
        return (x,)

    infer_unranked = infer
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return (np.array(np.flip(x, self.axes), order="C"),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (Reverse(self.axes)(dy),)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        """Axes counted from the front, without those of size 1."""
        (x,) = node.inputs
        if x.type.shape is None:
            return None
        axes = normal_axes(self.name, self.axes, len(x.type.shape))
        axes = tuple(a for a in axes if x.type.shape[a] not in (0, 1))
        if not axes:
            return (x,)
        return None if axes == self.axes else (Reverse(axes)(x),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for axes, shape in (((0,), (3,)), ((0, -1), (2, 3, 4)), ((1,), (0, 2)), ((), ())):
            yield Sample(cls(axes), (TensorType("f32", shape),))


def reverse(x: Value, axes: int | Iterable[int]) -> Value:
    """x turned round along these axes."""
    axes = (axes,) if isinstance(axes, int) else tuple(axes)
    return Reverse(
        axes if x.type.shape is None else normal_axes("reverse", axes, len(x.type.shape))
    )(x)
