"""A product of matrices and what is added to it, as one op: what every BLAS computes in one call.

No graph that a person writes has it: passes of backends put it in (`accumulate.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

import byparts_opset as ops
from byparts_graph_ir import FLOATS, Node, Op, Sample, ShapeError, TensorType, Types, Value
from byparts_opset.binary import add
from byparts_opset.broadcast import broadcast_types
from byparts_opset.dtypes import Array, narrow, require, wide
from byparts_opset.matmul import MatMul


class AddMatmul(Op):
    """y = c + scale * a @ b, for c that broadcasts to the product: a bias, or a sum so far.

    a: [..., m, k], or [k, m] with `transpose_a`; b: [k, n], or [n, k]; c: up to [..., m, n].
    """

    transpose_a: bool = False
    transpose_b: bool = False
    scale: float = 1.0

    inplace = ((0, 0),)
    pattern = "contraction"

    def infer(self, c: TensorType, a: TensorType, b: TensorType) -> Types:
        if b.rank != 2 or (a.rank != 2 and self.transpose_a):
            raise ShapeError(f"{self.name}: b is one matrix, and a is if transposed: {a}, {b}")
        (product,) = MatMul(self.transpose_a, self.transpose_b).infer(a, b)
        require(self.name, product, FLOATS)
        if broadcast_types(self.name, c, product) != product:
            raise ShapeError(f"{self.name}: c is {c}, which does not broadcast to {product}")
        return (product,)

    def infer_unranked(self, c: TensorType, a: TensorType, b: TensorType) -> Types:
        (product,) = MatMul(self.transpose_a, self.transpose_b).infer_unranked(a, b)
        return (require(self.name, product, FLOATS),)

    def evaluate(self, c: Array, a: Array, b: Array) -> tuple[Array, ...]:
        product = MatMul(self.transpose_a, self.transpose_b).evaluate(wide(a), wide(b))[0]
        return (narrow(wide(c) + product * self.scale, a.dtype),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return ops.gradient_by_decomposition(node, dy)

    def decompose(self, c: Value, a: Value, b: Value) -> tuple[Value, ...] | None:
        product = MatMul(self.transpose_a, self.transpose_b)(a, b)
        return (add(c, product if self.scale == 1 else product * self.scale),)

    def flops(self, c: TensorType, a: TensorType, b: TensorType) -> int:
        product = MatMul(self.transpose_a, self.transpose_b)
        return product.flops(a, b) + product.infer(a, b)[0].size

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for c, a, b in (
            *(((4,), (3, 2), (2, 4)), ((3, 4), (3, 2), (2, 4)), ((3, 1), (3, 2), (2, 4))),
            *(((), (3, 2), (2, 4)), ((4,), (2, 3, 2), (2, 4)), ((2, 3, 4), (2, 3, 2), (2, 4))),
            *(((3, 4), (2, 3, 2), (2, 4)), ((4,), (0, 2), (2, 4)), ((4,), (3, 0), (0, 4))),
        ):
            types = tuple(TensorType("f32", shape) for shape in (c, a, b))
            yield Sample(cls(), types)
        flipped = (TensorType("f32", s) for s in ((4,), (2, 3), (4, 2)))
        yield Sample(cls(True, True, -2.0), tuple(flipped))
