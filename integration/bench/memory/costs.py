"""What a node costs by the measure of the tables that ours stand beside."""

from __future__ import annotations

from byparts_graph_ir import Node


def as_traced(node: Node) -> float:
    """Sums of products in full, everything else one operation for each element it gives.

    For `Steps` and `rematerialize`, which leave views out.  Traces of PyTorch count so, batch norm
    too; our `flops` counts 7 for it, which matters where convolutions are small: recomputing all of
    MobileNetV2's activations is 0.7 % of its work by this measure and 2.8 % by ours.
    """
    if node.op.pattern == "contraction":
        return float(node.op.flops(*[v.type for v in node.inputs]))
    return float(max((v.type.size for v in node.outputs), default=0))
