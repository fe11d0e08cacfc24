"""Several nodes as one: a region of a program that a backend wants to compute by itself.

    f32[4] = fused(%x, %y, graph=(%0: f32[4], %1: f32[4]) { ... return %3 })

Its meaning is that of the graph inside, so whoever cannot compile that may put the nodes back.  The
pass `fuse` makes such nodes, a backend has a kernel rule on `Fused` that compiles `op.graph`.
"""

from __future__ import annotations

from byparts_graph_ir.errors import GraphError
from byparts_graph_ir.model.arithmetic import arithmetic
from byparts_graph_ir.model.graph import Graph
from byparts_graph_ir.model.op import Op, Sample
from byparts_graph_ir.model.types import TensorType
from byparts_graph_ir.model.value import Input, Node, Types, Value
from byparts_graph_ir.passes.specialize import body_for, body_inputs, result_types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any


class Fused(Op):
    """The outputs of `graph` on these inputs, in one step.  `graph` is closed and pure."""

    graph: Graph

    def infer(self, *types: TensorType) -> Types:
        """The types of the graph's outputs.

        Raises:
            ShapeError: the inputs are not those of the graph.
        """
        return result_types(self, self.graph, types)

    infer_unranked = infer

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        return body_inputs(self, self.graph, inputs)

    def evaluate(self, *inputs: Any) -> tuple[Any, ...]:
        known = dict(zip(self.graph.inputs, inputs, strict=True))
        for node in self.graph.nodes:
            results = node.op.evaluate(*[known[v] for v in node.inputs])
            known.update(zip(node.outputs, results, strict=True))
        return tuple(known[v] for v in self.graph.outputs)

    def decompose(self, *inputs: Value) -> tuple[Value, ...]:
        return inline(self.graph, inputs)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        """The graph inside gets the types that the outside has got."""
        graph = body_for(self, self.graph, [v.type for v in node.inputs])
        return None if graph is self.graph else Node(Fused(graph), node.inputs, node.where).outputs

    def flops(self, *types: TensorType) -> int:
        return graph_flops(body_for(self, self.graph, types))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        """Arithmetic, once an op set says what that is; with two outputs, and with an inner one."""
        if not {"add", "mul", "sub"} <= arithmetic.keys():
            return
        for dtype, shape in (("f32", (3, 4)), ("f32", ()), ("f32", (0, 2)), ("f64", (5,))):
            kind = TensorType(dtype, shape)
            yield _sample((kind, kind), lambda x, y: (x * y + x,))
            yield _sample((kind, kind), lambda x, y: (x * y, x * y - y))
        yield _sample((TensorType("f32", (3, 1)), TensorType("f32", (4,))), lambda x, y: (x + y,))
        yield _sample((TensorType("i32", (2, 3)),), lambda x: ((x + x) * x,))


def inline(graph: Graph, inputs: Sequence[Value]) -> tuple[Value, ...]:
    """The outputs of `graph` on these values: its nodes again, outside.  O(nodes)."""
    if len(inputs) != len(graph.inputs):
        raise GraphError(f"inline: {len(inputs)} values for a graph of {len(graph.inputs)} inputs")
    env = dict(zip(graph.inputs, inputs, strict=True))
    for old in graph.nodes:
        node = Node(old.op, tuple([env[v] for v in old.inputs]), old.where)
        env.update(zip(old.outputs, node.outputs, strict=True))
    return tuple(env[v] for v in graph.outputs)


def parted(graph: Graph, refused: Callable[[Node], bool]) -> Graph:
    """The same program with the nodes of each region (`Fused`) for which `refused(node)` holds.

    Preserves values to the bit, effects and their order.  O(nodes); does not enter bodies.  The
    nodes may have to be legalized again, and are fused again by `fuse(..., refused=ops)`.
    """

    def rule(node: Node) -> tuple[Value, ...] | None:
        if isinstance(node.op, Fused) and refused(node):
            return node.op.decompose(*node.inputs)
        return None

    return graph.rewrite(rule)


def lone_region(node: Node) -> Node:
    """The node in a region of its own, on the same inputs.  Equal for equal op and types."""
    inner = {v: Input(v.type, None, getattr(v, "name", ""), "") for v in node.inputs}
    again = Node(node.op, tuple([inner[v] for v in node.inputs]), node.where)
    graph = Graph(tuple(inner.values()), (again,), again.outputs)
    return Node(Fused(graph), tuple(inner), node.where)


def graph_flops(graph: Graph) -> int:
    """Floating point operations of all its nodes, on static types."""
    return sum(n.op.flops(*[v.type for v in n.inputs]) for n in graph.nodes)


def _sample(types: Types, program: Callable[..., tuple[Value, ...]]) -> Sample:
    inputs = [Input(t, None, "", "") for t in types]
    return Sample(Fused(Graph.of(inputs, program(*inputs))), types)
