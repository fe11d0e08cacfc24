"""Joins the nodes that a backend wants into regions, each computed by one kernel.

    %2 = mul(%x, %y)                 %4 = fused(%x, %y, graph=(%0, %1) {
    %3 = matmul(%x, %y)       ->         %2 = mul(%0, %1)  %3 = add(%2, %1)  return %3 })
    %4 = add(%2, %y)                 %3 = matmul(%x, %y)

A region is convex: no path leaves it and enters it again, so it can run as soon as all its inputs
are computed.  Regions are maximal: no two of them can be joined so that the backend agrees and the
program has no cycle.  There are several such sets of regions; which one results is decided by the
order of the joins: edges in program order, then siblings.  Finding a best set is NP-hard for every
usual cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, Optional

from byparts_graph_ir import Fused, Graph, Input, Node, Op, Value, reads_of
from byparts_graph_ir.backend.fused import lone_region
from byparts_graph_ir.contract import checked
from byparts_optimize.grow import Growth, Joins, may_join, wants_named
from byparts_optimize.merge import merge

Wants = Callable[[Node], bool]


@checked
def fuse(
    graph: Graph,
    wants: Wants,
    joins: Optional[Joins] = None,
    alone: Wants = lambda node: False,
    refused: Collection[Op] = (),
) -> Graph:
    """Return the program with each maximal convex region of wanted nodes as one `Fused` node.

    Only nodes without effects, of known shapes, that are not `Fused` already, enter a region.
    Dimensions may have names, where `wants` and `joins` take such.
    Preserves values to the bit, effects and their order; nodes are reordered only where a region
    requires it.  Idempotent.  Calls `joins` and `Regions.join` O(edges) times.  What decomposed ops
    of a region have in common is computed once, unless two outputs would be one; the bodies of
    nodes are left as they are.

    Args:
        graph: any graph.
        wants: whether a node may be in a region.
        joins: returns the joint region of two regions, or `None` to keep them apart (see
            `Backend.joins`).  Called for regions of which one reads the other, then for siblings:
            regions that read the same value of more than one element.  If `joins` is `None`, all
            regions of which one reads the other are joined, and no siblings.
        alone: whether this node may be a region by itself; otherwise it stays a plain node.
        refused: ops of regions that must not be made, e.g. because they did not compile.  Their
            nodes are joined into regions of at most half as many nodes; one node stays a node.

    Raises:
        GraphError: `joins` returned something else than the two regions joined.
    """
    wanted = [may_join(node) and wants_named(node, wants) for node in graph.nodes]
    if not any(wanted):
        return graph
    limits: dict[int, int] = {}  # index of a node -> the largest number of nodes of its region
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
    """A node of the new program and the nodes that it replaces.

    Attributes:
        nodes: indices of the replaced nodes in the old program.
        node: the node that replaces them; it reads values of the old program.
        outputs: the values of the old program that the outputs of `node` stand for.
    """

    nodes: list[int]
    node: Node
    outputs: Sequence[Value]


def _parts(
    graph: Graph,
    wanted: Sequence[bool],
    joins: Optional[Joins],
    alone: Wants,
    limits: dict[int, int],
) -> list[_Part]:
    """The nodes of the new program, in order."""
    reads, parts = reads_of(graph), []
    for nodes in Growth(graph, wanted, joins, limits).members():
        node = graph.nodes[nodes[0]]
        if len(nodes) > 1:
            parts.append(_joint(nodes, [graph.nodes[i] for i in nodes], reads))
        elif wanted[nodes[0]] and limits.get(nodes[0], 1) and alone(node):
            parts.append(_Part(nodes, lone_region(node), node.outputs))
        else:
            parts.append(_Part(nodes, node, node.outputs))
    return parts


def _joint(ids: list[int], nodes: Sequence[Node], reads: Mapping[Value, int]) -> _Part:
    """A `Fused` node for `nodes`; its inputs are in the order in which they are first read."""
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
    once = merge(graph)
    if len(set(once.outputs)) == len(set(graph.outputs)):
        graph = once
    return _Part(ids, Node(Fused(graph), taken, nodes[-1].where), outputs)


def _again(old: Node, env: Mapping[Value, Value]) -> Node:
    """The node with its inputs replaced by `env`; the same node if no input changes."""
    inputs = tuple([env[v] for v in old.inputs])
    return old if inputs == old.inputs else Node(old.op, inputs, old.where)
