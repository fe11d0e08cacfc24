"""Axes in another order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from byparts_graph_ir import Node, Op, Sample, ShapeError, TensorType, Types, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.broadcast import normal_axis
from byparts_opset.dtypes import Array


@dataclass(frozen=True)
class Transpose(Op):
    """y.shape[i] = x.shape[permutation[i]]; `None` turns the order of the axes round."""

    permutation: tuple[int, ...] | None = None

    pattern = "injective"

    def infer(self, x: TensorType) -> Types:
        shape = x.shape or ()
        order = self._order(len(shape))
        if len(order) != len(shape):
            raise ShapeError(f"transpose: permutation {order} is of {len(order)} axes, x is {x}")
        return (TensorType(x.dtype, tuple(shape[a] for a in order)),)

    def infer_unranked(self, x: TensorType) -> Types:
        p = self.permutation
        return (TensorType(x.dtype, None if p is None else (None,) * len(self._order(len(p)))),)

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        (y,) = outputs
        if y.shape is None:
            return inputs
        back = inverse(self._order(len(y.shape)))
        return (TensorType(inputs[0].dtype, tuple(y.shape[a] for a in back)),)

    def views(self, x: TensorType) -> tuple[tuple[int, int, int], ...]:
        """The same bytes, if the axes longer than 1 stay in order."""
        moved = [a for a in self._order(len(x.dims)) if x.dims[a] != 1]
        return ((0, 0, 0),) if moved == sorted(moved) or x.size == 0 else ()

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return (np.array(np.transpose(x, self.permutation), order="C"),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        p = self.permutation
        return (Transpose(None if p is None else inverse(self._order(len(p))))(dy),)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        """Nothing where no axis moves; negative axes counted from the front."""
        (x,) = node.inputs
        if x.type.shape is None:
            return None
        rank = len(x.type.shape)
        order = self._order(rank)
        if order == tuple(range(rank)):
            return (x,)
        best = None if order == tuple(range(rank))[::-1] else order
        return None if best == self.permutation else (Transpose(best)(x),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for permutation, shape in (
            *((None, (2, 3)), ((1, 2, 0), (2, 3, 4)), ((-1, 0, 1), (2, 3, 4)), (None, ())),
            *(((1, 0), (0, 3)), ((0, 2, 1), (2, 1, 3))),
        ):
            yield Sample(cls(permutation), (TensorType("f32", shape),))

    def _order(self, rank: int) -> tuple[int, ...]:
        if self.permutation is None:
            return tuple(range(rank))[::-1]
        order = tuple(normal_axis(self.name, a, len(self.permutation)) for a in self.permutation)
        if len(set(order)) != len(order):
            raise ShapeError(
                f"transpose: {self.permutation} is no permutation: an axis comes twice"
            )
        return order


def transpose(x: Value, permutation: Iterable[int] | None = None) -> Value:
    """x with its axes in this order, or turned round."""
    return Transpose(None if permutation is None else tuple(permutation))(x)


def inverse(permutation: tuple[int, ...]) -> tuple[int, ...]:
    """The permutation that undoes this one."""
    return tuple(sorted(range(len(permutation)), key=permutation.__getitem__))
