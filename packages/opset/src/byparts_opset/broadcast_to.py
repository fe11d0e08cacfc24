"""Repetition along axes of size 1 and along new leading ones, by NumPy's rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Union

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Dimension, Node, Op, Sample, ShapeError, TensorType, Types, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.dtypes import Array


@dataclass(frozen=True)
class BroadcastTo(Op):
    """y = x in `shape`: numbers or symbols; -1 keeps the dimension of x."""

    shape: tuple[Union[int, str], ...]

    pattern = "broadcast"
    shape_fields = ("shape",)

    def infer(self, x: TensorType) -> Types:
        old = x.shape or ()
        lead = len(self.shape) - len(old)
        if lead < 0 or -1 in self.shape[:lead]:
            why = "has fewer axes than x" if lead < 0 else "keeps a dimension that x does not have"
            raise ShapeError(f"broadcast_to: shape {self.shape} {why}: x is {x}")
        dims = [self._joined(x, d, to) for d, to in zip(old, self.shape[lead:], strict=True)]
        return (TensorType(x.dtype, (*self.shape[:lead], *dims)),)

    def infer_unranked(self, x: TensorType) -> Types:
        return (TensorType(x.dtype, tuple(None if d == -1 else d for d in self.shape)),)

    def views(self, x: TensorType) -> tuple[tuple[int, int, int], ...]:
        (y,) = self.infer(x)
        return ((0, 0, 0),) if x.size == y.size else ()

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        (y,) = self.infer(TensorType("f32", x.shape))
        return (np.array(np.broadcast_to(x, y.dims), order="C"),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (ops.sum_like(dy, node.inputs[0]),)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        (x,), (y,) = node.inputs, node.outputs
        if y.type.static and x.type == y.type:
            return (x,)
        known = y.type.static and y.type.dims != self.shape
        return (BroadcastTo(y.type.dims)(x),) if known else None

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for shape, x in (
            *(((3, 4), (3, 1)), ((2, 3), (3,)), ((2,), ()), ((), ()), ((0, 2), (1, 2))),
            *(((2, -1), (3,)), ((1, 3), (3,))),
        ):
            yield Sample(cls(shape), (TensorType("f32", x),))

    def _joined(self, x: TensorType, d: Dimension, to: Union[int, str]) -> Dimension:
        if to == -1:
            return d
        if isinstance(d, int) and isinstance(to, int) and d not in (1, to):
            raise ShapeError(
                f"broadcast_to: {x} does not broadcast to {self.shape}: {d} meets {to}"
            )
        return d if isinstance(d, int) and d != 1 else to


def broadcast_to(x: Value, shape: int | Iterable[Union[int, str]]) -> Value:
    """x repeated into `shape`; -1 keeps the dimension of x."""
    return BroadcastTo((shape,) if isinstance(shape, int) else tuple(shape))(x)
