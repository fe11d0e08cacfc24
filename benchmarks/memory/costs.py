"""What a node costs by the measure of the tables that ours stand beside."""

from __future__ import annotations

from byparts_graph_ir import Node


def as_traced(node: Node) -> float:
    """Sums of products in full, everything else one operation for each element of an output.

    For `Steps` and `rematerialize`, which leave views out.  Traces of PyTorch count so, and our
    `flops` do but for a few ops: those of optimizers, and those with several outputs, all of which
    count.
    """
    if node.op.pattern == "contraction":
        return float(node.op.flops(*[v.type for v in node.inputs]))
    return float(max((v.type.size for v in node.outputs), default=0))
