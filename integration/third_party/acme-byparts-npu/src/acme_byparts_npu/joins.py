"""A product that only a sum reads, and that sum, become one `mul_add`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from acme_byparts_npu.ops import MulAdd
from byparts_graph_ir import Graph, Node, Value
from byparts_opset import Add, Mul


def join(graph: Graph) -> Graph:
    """The same program with x * a + b in one op.  Preserves values to rounding.  O(nodes)."""
    return graph.rewrite(rule_for(graph))


def rule_for(graph: Graph) -> Callable[[Node], tuple[Value, ...] | None]:
    """What to do with each node of this graph."""
    reads = Counter(v for node in graph.nodes for v in node.inputs)
    reads.update(graph.outputs)
    once = {node for node in graph.nodes if all(reads[v] == 1 for v in node.outputs)}

    def rule(node: Node) -> tuple[Value, ...] | None:
        match node:
            case Node(Add(), (Value(node=Node(Mul(), (x, a)) as mul), b)) if mul in once:
                return (MulAdd()(x, a, b),)
            case Node(Add(), (b, Value(node=Node(Mul(), (x, a)) as mul))) if mul in once:
                return (MulAdd()(x, a, b),)
        return None

    return rule
