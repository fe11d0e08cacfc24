"""Triangles of matrices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Node, Op, Sample, TensorType, Types, Value
from byparts_linalg.matrices import matrices
from byparts_opset.dtypes import Array


class Triangle(Op):
    """y = a, but 0 above the diagonal (below it if `upper`), and `diagonal` times a on it."""

    upper: bool = False
    diagonal: float = 1.0

    def infer(self, a: TensorType) -> Types:
        matrices(self.name, a)
        return (a,)

    def infer_unranked(self, a: TensorType) -> Types:
        return (a,)

    def compute(self, a: Array) -> tuple[Array, ...]:
        y = np.triu(a) if self.upper else np.tril(a)
        n = range(min(a.shape[-2:]))
        y[..., n, n] *= self.diagonal
        return (y,)

    evaluate = compute

    def decompose(self, a: Value) -> tuple[Value, ...] | None:
        if not a.type.static:
            return None
        whole = np.tri(a.type.dims[-2], a.type.dims[-1], k=-1 if self.upper else 0, dtype=bool)
        inside = ops.constant(~whole if self.upper else whole)
        y = ops.select(inside, a, ops.zeros_like(a))
        if self.diagonal == 1:
            return (y,)
        on = ops.constant(np.eye(*a.type.dims[-2:], dtype=bool))
        return (ops.select(on, y * self.diagonal, y),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (self(dy),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for op in (cls(), cls(True), cls(False, 0.5), cls(True, 0.0)):
            for shape in ((3, 3), (2, 3, 4), (4, 2), (0, 3), (2, 0, 0)):
                yield Sample(op, (TensorType("f32", shape),))


def tril(a: Value) -> Value:
    """The lower triangles of matrices, with their diagonals."""
    return Triangle()(a)


def triu(a: Value) -> Value:
    """The upper triangles of matrices, with their diagonals."""
    return Triangle(True)(a)
