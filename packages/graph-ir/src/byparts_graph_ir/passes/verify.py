"""The invariants of a graph, numbered; tests and comments cite the numbers.

G1  every input is a value that no node makes, and is listed once
G2  every node reads only inputs of the graph and outputs of nodes before it
G3  every output of the graph is an input of it or is made by one of its nodes
G4  no node is listed twice
G5  every output of a node has the type that the op's shape rule gives
G6  graphs inside an op are well formed themselves, and capture nothing
G7  what an op says of its inputs and outputs (in place, views) names ones that exist
G8  what has an effect has an output, by which `Graph.of` can be told to keep it
"""

from __future__ import annotations

from byparts_graph_ir.errors import GraphError, VerifyError
from byparts_graph_ir.model.bodies import has_effect, nested, way_to
from byparts_graph_ir.model.graph import Graph
from byparts_graph_ir.model.value import Node, Value, output_types


def verify(graph: Graph) -> Graph:
    """Give the graph back if it is well formed.  O(nodes), also inside subgraphs.

    Raises:
        VerifyError: the number of the broken invariant, and the node.
    """
    for inner in nested(graph):
        try:
            _verify(inner)
        except VerifyError as error:
            if inner is graph:
                raise
            raise VerifyError(f"G6: in {way_to(graph, inner)}: {error}") from error
    return graph


def _verify(graph: Graph) -> None:
    known: set[Value] = set()
    for i, v in enumerate(graph.inputs):
        if v.node is not None or v in known:
            why = "is made by a node" if v.node is not None else "is listed twice"
            raise VerifyError(f"G1: input {i} of type {v.type} {why}")
        known.add(v)
    seen: set[Node] = set()
    for i, node in enumerate(graph.nodes):
        place = f"node {i} ({node.op.name})" + (f" made at {node.where}" if node.where else "")
        if node in seen:
            raise VerifyError(f"G4: {place} is listed twice")
        seen.add(node)
        for k, v in enumerate(node.inputs):
            if v not in known:
                raise VerifyError(
                    f"G2: {place} reads {v.type} as input {k} before anything makes it"
                )
        _verify_types(node, place)
        _verify_facts(node, place)
        if not node.outputs and has_effect(node.op):
            raise VerifyError(
                f"G8: {place} has an effect and no output; give it one, for instance its input"
            )
        known.update(node.outputs)
    for i, v in enumerate(graph.outputs):
        if v not in known:
            raise VerifyError(f"G3: output {i} of type {v.type} is made by no node of the graph")


def _verify_types(node: Node, place: str) -> None:
    try:
        inferred = output_types(node.op, [v.type for v in node.inputs])
    except GraphError as error:
        raise VerifyError(f"G5: the shape rule of {place} refuses its inputs: {error}") from error
    have = tuple(v.type for v in node.outputs)
    if inferred != have or any(v.node is not node for v in node.outputs):
        want, got = ", ".join(map(str, inferred)), ", ".join(map(str, have))
        raise VerifyError(f"G5: {place} has outputs ({got}) where its shape rule gives ({want})")


def _verify_facts(node: Node, place: str) -> None:
    op, inputs, outputs = node.op, len(node.inputs), len(node.outputs)
    pairs = list(op.inplace)
    if all(v.type.static for v in (*node.inputs, *node.outputs)):
        pairs += [(i, o) for i, o, _ in op.views(*(v.type for v in node.inputs))]
    for i, o in pairs:
        if not (0 <= i < inputs and 0 <= o < outputs):
            raise VerifyError(
                f"G7: {place} speaks of input {i} and output {o}, and has {inputs} and {outputs}"
            )
