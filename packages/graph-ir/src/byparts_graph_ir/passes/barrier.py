"""An identity that passes do not see through: "this value, but not before that one".

    %9: f32[4] = optimization_barrier(%2, %8)

Equal pure nodes may be merged into one, and a node may run as soon as its inputs are there.  Who
computes a value twice on purpose, to save memory, has to forbid both: the second computation reads
its inputs through this op.  The name is that of StableHLO and XLA; theirs passes all its operands
on, ours the first one, and the bytes of the second are never read, nor kept alive.
"""

from __future__ import annotations

from byparts_graph_ir.model.op import Op, Sample
from byparts_graph_ir.model.types import TensorType
from byparts_graph_ir.model.value import Node, Types, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class OptimizationBarrier(Op):
    """y = x, once `after` has been computed.  y is x's bytes; those of `after` are not read."""

    ignores = (1,)

    def infer(self, x: TensorType, after: TensorType) -> Types:
        return (x,)

    infer_unranked = infer

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        return (outputs[0], inputs[1])

    def evaluate(self, x: Any, after: Any) -> tuple[Any, ...]:
        return (x,)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (dy, None)

    def decompose(self, x: Value, after: Value) -> tuple[Value, ...]:
        """Nothing is left of it: right once no pass follows that merges or reorders."""
        return (x,)

    def views(self, x: TensorType, after: TensorType) -> tuple[tuple[int, int, int], ...]:
        return ((0, 0, 0),)

    def flops(self, x: TensorType, after: TensorType) -> int:
        return 0

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for kind in (TensorType("f32", (3, 4)), TensorType("f64", ()), TensorType("i32", (0, 2))):
            yield Sample(cls(), (kind, TensorType("f32", (2,))))
