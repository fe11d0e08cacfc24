"""Joins the nodes that a backend wants into regions that it can compute in one go.

    %2 = mul(%x, %y)                 %4 = fused(%x, %y, graph=(%0, %1) {
    %3 = matmul(%x, %y)       ->         %2 = mul(%0, %1)  %3 = add(%2, %1)  return %3 })
    %4 = add(%2, %y)                 %3 = matmul(%x, %y)

A region is convex: no path leaves it and comes back, so it can run when all its inputs are there.
Regions are maximal: no two of them, and no wanted node beside one, can be joined where the backend
agrees and the program stays without a cycle.  (Which maximal ones is a choice: earlier edges first,
then siblings.  The best ones are NP-hard to find, whatever "best" is.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, Optional

from byparts_graph_ir import Fused, Graph, Input, Node, Op, Value, reads_of
from byparts_graph_ir.contract import checked
from byparts_graph_ir.fused import lone_region
from byparts_optimize.grow import Growth, Joins, may_join

Wants = Callable[[Node], bool]


@checked
def fuse(
    graph: Graph,
    wants: Wants,
    joins: Optional[Joins] = None,
    alone: Wants = lambda node: False,
    refused: Collection[Op] = (),
) -> Graph:
    """The same program with maximal convex regions of wanted nodes as one `Fused` node each.

    Takes nodes without effects, of static types, that are not regions already.  Preserves values to
    the bit, effects and their order; the order of nodes changes where a region asks for it.
    Idempotent.  O(edges) questions, and as many of `Regions.join`; does not enter subgraphs.

    Args:
        graph: needs nothing.
        wants: whether a node may be in a region.
        joins: the region that two regions make, or `None` (see `Backend.joins`), asked of regions
            that read each other, then of siblings: those that read the same value, if that is more
            than a number.  Without it all are joined that read each other, and no siblings.
        alone: whether a region may be this one node; otherwise it stays as it is.
        refused: regions that are not to be made, e.g. because they did not compile.  Their nodes
            are joined into regions of at most half as many nodes; a region of one stays a node.

    Raises:
        GraphError: `joins` gave something else than the two regions joined.
    """
    wanted = [may_join(node) and wants(node) for node in graph.nodes]
    if not any(wanted):
        return graph
    limits: dict[int, int] = {}  # how many nodes the region of a node may have
    parts = _parts(graph, wanted, joins, alone, limits)
    while broken := [p for p in parts if p.node.op in refused] if refused else ():
        for part in broken:
            limits.update(dict.fromkeys(part.nodes, len(part.nodes) // 2))
        parts = _parts(graph, wanted, joins, alone, limits)
    if all(part.node is graph.nodes[part.nodes[0]] for part in parts):
        return graph
    env: dict[Value, Value] = {v: v for v in graph.inputs}
    for part in parts:
        env.update(zip(part.outputs, _again(part.node, env).outputs, strict=True))
    return Graph.of(graph.inputs, [env[v] for v in graph.outputs], order=env.values())


class _Part(NamedTuple):
    """Nodes that become one, and what of theirs that one computes."""

    nodes: list[int]
    node: Node  # on the values of the program as it was
    outputs: Sequence[Value]


def _parts(
    graph: Graph,
    wanted: Sequence[bool],
    joins: Optional[Joins],
    alone: Wants,
    limits: dict[int, int],
) -> list[_Part]:
    """The program as it is to be, in order."""
    reads, found = reads_of(graph), []
    for nodes in Growth(graph, wanted, joins, limits).members():
        node = graph.nodes[nodes[0]]
        if len(nodes) > 1:
            found.append(_joint(nodes, [graph.nodes[i] for i in nodes], reads))
        elif wanted[nodes[0]] and limits.get(nodes[0], 1) and alone(node):
            found.append(_Part(nodes, lone_region(node), node.outputs))
        else:
            found.append(_Part(nodes, node, node.outputs))
    return found


def _joint(ids: list[int], nodes: Sequence[Node], reads: Mapping[Value, int]) -> _Part:
    """One node for these; its inputs in the order in which they are first read."""
    inside = Counter(v for node in nodes for v in node.inputs)
    made = dict.fromkeys(v for node in nodes for v in node.outputs)
    outputs = [v for v in made if reads.get(v, 0) > inside[v]]
    taken = tuple([v for v in inside if v not in made])
    inner: dict[Value, Value] = {
        v: Input(v.type, None, getattr(v, "name", ""), getattr(v, "where", "")) for v in taken
    }
    inputs = tuple(inner.values())
    for node in nodes:
        inner.update(zip(node.outputs, _again(node, inner).outputs, strict=True))
    graph = Graph.of(inputs, [inner[v] for v in outputs], order=inner.values())
    return _Part(ids, Node(Fused(graph), taken, nodes[-1].where), outputs)


def _again(old: Node, env: Mapping[Value, Value]) -> Node:
    """The node on the values that its inputs are now; itself if they are the same."""
    inputs = tuple([env[v] for v in old.inputs])
    return old if inputs == old.inputs else Node(old.op, inputs, old.where)
