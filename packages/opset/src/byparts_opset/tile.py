"""Whole copies of a tensor side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Dimension, Node, Op, Sample, ShapeError, TensorType, Types, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.dtypes import Array
from byparts_opset.reshape import as_target


@dataclass(frozen=True)
class Tile(Op):
    """y[i] = x[i mod x.shape]: `repeats[a]` copies along axis a, one number for each axis."""

    repeats: tuple[int, ...]

    pattern = "injective"

    def infer(self, x: TensorType) -> Types:
        shape = x.shape or ()
        if len(shape) != len(self.repeats) or any(r < 0 for r in self.repeats):
            raise ShapeError(
                f"tile: takes one number of copies for each axis, got {self.repeats} for {x}"
            )
        return (TensorType(x.dtype, tuple(map(_times, shape, self.repeats))),)

    def infer_unranked(self, x: TensorType) -> Types:
        return self.infer(TensorType(x.dtype, (None,) * len(self.repeats)))

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return (np.array(np.tile(x, self.repeats), order="C"),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,) = node.inputs
        ones, copies = self._copies(x)
        return (ops.reshape_like(ops.sum_like(ops.reshape_like(dy, copies), ones), x),)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        return node.inputs if all(r == 1 for r in self.repeats) else None

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        (y,) = Node(self, (x,)).outputs
        target = as_target(y.type.shape)
        return None if target is None else (ops.Reshape(target)(self._copies(x)[1]),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for repeats, shape in (
            *(((2,), (3,)), ((2, 3), (2, 2)), ((1, 2, 1), (2, 1, 3)), ((), ())),
            *(((0, 2), (2, 2)), ((2, 2), (0, 2))),
        ):
            yield Sample(cls(repeats), (TensorType("f32", shape),))

    def _copies(self, x: Value) -> tuple[Value, Value]:
        """x with an axis of size 1 before each of its own; the same with the copies along those."""
        ones = ops.ExpandDims(tuple(range(0, 2 * len(self.repeats), 2)))(x)
        shape: Any = tuple(d for r in self.repeats for d in (r, -1))
        return ones, ops.BroadcastTo(shape)(ones)


def tile(x: Value, repeats: int | Iterable[int]) -> Value:
    """Copies of x side by side, `repeats[a]` along axis a."""
    return Tile((repeats,) if isinstance(repeats, int) else tuple(repeats))(x)


def _times(d: Dimension, repeats: int) -> Dimension:
    if isinstance(d, int) or repeats == 0:
        return repeats * d if isinstance(d, int) else 0
    return d if repeats == 1 else None
