"""Joins the nodes that a backend wants into regions that it can compute in one go.

    %2 = mul(%x, %y)                 %4 = fused(%x, %y, graph=(%0, %1) {
    %3 = matmul(%x, %y)       ->         %2 = mul(%0, %1)  %3 = add(%2, %1)  return %3 })
    %4 = add(%2, %y)                 %3 = matmul(%x, %y)

A region is convex: no path leaves it and comes back, so it can run when all its inputs are there.
Regions are maximal: no two of them, and no wanted node beside one, can be joined along an edge and
leave the program without a cycle.  (Which maximal ones is a choice: earlier edges first.  The best
ones are NP-hard to find, whatever "best" is.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from byparts_graph_ir import Fused, Graph, Input, Node, Value
from byparts_graph_ir.contract import checked
from byparts_optimize.inside import effectful
from byparts_optimize.regions import Regions

Wants = Callable[[Node], bool]


@checked
def fuse(graph: Graph, wants: Wants, alone: Wants = lambda node: False) -> Graph:
    """The same program with maximal convex regions of wanted nodes as one `Fused` node each.

    Needs nothing; takes nodes without effects, of static types, that are not regions already.  A
    region of one node stays as it is, unless `alone(node)`.  Preserves values to the bit, effects
    and their order; the order of nodes changes where a region asks for it.  Idempotent.  O(edges)
    questions of `Regions.join`; does not enter subgraphs.
    """
    wanted = [_may_join(node) and wants(node) for node in graph.nodes]
    if not any(wanted):
        return graph
    made_by = {v: i for i, node in enumerate(graph.nodes) for v in node.outputs}
    reads = [[made_by[v] for v in node.inputs if v in made_by] for node in graph.nodes]
    regions = _grown(_edges(graph, reads), reads, wanted)
    members: dict[int, list[Node]] = {}
    for i, node in enumerate(graph.nodes):
        members.setdefault(regions.find(i), []).append(node)
    kept = {i for i, nodes in members.items() if len(nodes) == 1}
    kept -= {i for i in kept if wanted[i] and alone(graph.nodes[i])}
    if len(kept) == len(graph.nodes):
        return graph
    return _rebuilt(graph, [(members[i], i not in kept) for i in regions.order()])


def _may_join(node: Node) -> bool:
    types = (v.type for v in (*node.inputs, *node.outputs))
    return (
        not effectful(node.op) and not isinstance(node.op, Fused) and all(t.static for t in types)
    )


def _edges(graph: Graph, reads: Sequence[Sequence[int]]) -> list[set[int]]:
    """Node -> nodes that must come later: those that read it, and after an effect the next one."""
    after: list[set[int]] = [set() for _ in graph.nodes]
    for i, sources in enumerate(reads):
        for source in sources:
            after[source].add(i)
    effects = [i for i, node in enumerate(graph.nodes) if effectful(node.op)]
    for first, second in pairwise(effects):
        after[first].add(second)
    return after


def _grown(
    edges: Sequence[set[int]], reads: Sequence[Sequence[int]], wanted: Sequence[bool]
) -> Regions:
    """Join along edges, in order, until no edge can be."""
    regions = Regions(edges)
    rest = [(a, b) for b, sources in enumerate(reads) if wanted[b] for a in sources if wanted[a]]
    while True:
        refused = []
        for a, b in rest:
            first, second = regions.find(a), regions.find(b)
            if first != second and not regions.join(first, second):
                refused.append((a, b))  # until what is between them has joined one of the two
        if len(refused) in (0, len(rest)):
            return regions
        rest = refused


def _rebuilt(graph: Graph, parts: Sequence[tuple[list[Node], bool]]) -> Graph:
    """The program in this order, with a region for each part that says so."""
    readers: dict[Value, set[Node]] = {v: set() for v in graph.values}
    for node in graph.nodes:
        for v in node.inputs:
            readers[v].add(node)
    results = set(graph.outputs)
    env: dict[Value, Value] = {v: v for v in graph.inputs}
    for nodes, joined in parts:
        made = [v for node in nodes for v in node.outputs]
        if joined:
            made = [v for v in made if v in results or not readers[v].issubset(nodes)]
        node = _region(nodes, made, env) if joined else _again(nodes[0], env)
        env.update(zip(made, node.outputs, strict=True))
    return Graph.of(graph.inputs, [env[v] for v in graph.outputs], order=env.values())


def _again(old: Node, env: dict[Value, Value]) -> Node:
    """The node on the values that its inputs are now; itself if they are the same."""
    inputs = tuple([env[v] for v in old.inputs])
    return old if inputs == old.inputs else Node(old.op, inputs, old.where)


def _region(nodes: Sequence[Node], outputs: Sequence[Value], env: dict[Value, Value]) -> Node:
    """One node for these; its inputs in the order in which they are first read."""
    made = {v for node in nodes for v in node.outputs}
    taken = tuple(dict.fromkeys(v for node in nodes for v in node.inputs if v not in made))
    inner: dict[Value, Value] = {
        v: Input(v.type, None, getattr(v, "name", ""), getattr(v, "where", "")) for v in taken
    }
    inputs = tuple(inner.values())
    for node in nodes:
        inner.update(zip(node.outputs, _again(node, inner).outputs, strict=True))
    graph = Graph.of(inputs, [inner[v] for v in outputs], order=inner.values())
    return Node(Fused(graph), tuple([env[v] for v in taken]), nodes[-1].where)
