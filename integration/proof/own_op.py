"""An op of a third party: no part has a kernel for it, so it must be decomposed to run."""

from __future__ import annotations

from typing import Any

from byparts_graph_ir import Op, TensorType, Types, Value


class Blend(Op):
    """weight x + (1 - weight) y, elementwise, for x and y of one type."""

    weight: float = 0.5
    pattern = "elementwise"

    def infer(self, x: TensorType, y: TensorType) -> Types:
        return (x,)

    def evaluate(self, x: Any, y: Any) -> tuple[Any, ...]:
        return (x * x.dtype.type(self.weight) + y * y.dtype.type(1 - self.weight),)

    def decompose(self, x: Value, y: Value) -> tuple[Value, ...]:
        return (x * self.weight + y * (1 - self.weight),)


OWN_OPS: dict[str, type[Op]] = {"blend": Blend}
