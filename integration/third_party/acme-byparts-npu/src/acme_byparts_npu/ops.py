"""Two ops that the NPU has and the standard set has not."""

from __future__ import annotations

from collections.abc import Iterator
from time import sleep
from typing import Any

from byparts_graph_ir import Node, Op, Sample, TensorType, Types, Value
from byparts_opset import Add, Mul, sum_like
from byparts_opset.elementwise import computed


class MulAdd(Op):
    """y = x a + b, elementwise."""

    pattern = "elementwise"
    cancels = True
    inplace = ((0, 0), (1, 0), (2, 0))

    def infer(self, x: TensorType, a: TensorType, b: TensorType) -> Types:
        (product,) = Mul().infer(x, a)
        return Add().infer(product, b)

    infer_unranked = infer

    def evaluate(self, x: Any, a: Any, b: Any) -> tuple[Any, ...]:
        return computed(lambda x, a, b: x * a + b, x, a, b)

    def decompose(self, x: Value, a: Value, b: Value) -> tuple[Value, ...]:
        return (x * a + b,)

    def gradient(self, node: Node, dy: Value) -> tuple[Value, ...]:
        x, a, b = node.inputs
        return (sum_like(dy * a, x), sum_like(dy * x, a), sum_like(dy, b))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        same = (((3, 4),) * 3, ((),) * 3, ((0, 2),) * 3)
        for shapes in (*same, ((3, 4), (), (4,)), ((2,), (1,), ())):
            yield Sample(cls(), tuple(TensorType("f32", shape) for shape in shapes))


class Delay(Op):
    """y = x, after some seconds: to see what happens to that which waits."""

    seconds: float = 0.0

    inplace = ((0, 0),)

    def infer(self, x: TensorType) -> Types:
        return (x,)

    infer_unranked = infer

    def evaluate(self, x: Any) -> tuple[Any, ...]:
        sleep(self.seconds)
        return (x.copy(),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value, ...]:
        return (dy,)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for shape in ((3, 4), (), (0, 2)):
            yield Sample(cls(), (TensorType("f32", shape),))


OPS: dict[str, type[Op]] = {op.name: op for op in (MulAdd, Delay)}
