"""The same value in another memory space: where two spaces of one program meet.

    %4: f32[8] = copy(%3, space='npu:0', source='host')

The pass `transfer` puts these where a node reads what is elsewhere; the runtime makes them, and
each space waits there for the other.  No backend needs a kernel.
"""

from __future__ import annotations

from byparts_graph_ir.model.op import Op, Sample
from byparts_graph_ir.model.types import TensorType
from byparts_graph_ir.model.value import Node, Types, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Copy(Op):
    """y = x, in the memory of `space`; x is in that of `source`, if given."""

    space: str
    source: str = ""

    pattern = "injective"

    def infer(self, x: TensorType) -> Types:
        return (x,)

    infer_unranked = infer

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        return outputs

    def evaluate(self, x: Any) -> tuple[Any, ...]:
        return (x.copy(),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (Copy(self.source, self.space)(dy) if self.source else dy,)

    def decompose(self, x: Value) -> tuple[Value, ...]:
        """Nothing is left of it where there is one space."""
        return (x,)

    def flops(self, x: TensorType) -> int:
        return 0

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for kind in (TensorType("f32", (3, 4)), TensorType("f64", ()), TensorType("i32", (0, 2))):
            yield Sample(cls("npu:0", "host"), (kind,))
