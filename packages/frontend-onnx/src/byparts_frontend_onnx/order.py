"""Nodes of a graph in an order in which each comes after what it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onnx import AttributeProto, GraphProto, NodeProto

from byparts_frontend_onnx.node import operator_of
from byparts_graph_ir import FormatError

_DEEPEST = 60


def sorted_nodes(nodes: Iterable[NodeProto], outside: set[str]) -> list[NodeProto]:
    """The nodes, each after those that it reads, else in the order of the file.  O(edges).

    Args:
        nodes: of one graph.
        outside: names that are there before.

    Raises:
        FormatError: two nodes give one name, or nodes wait for each other.
    """
    nodes = list(nodes)
    made: dict[str, int] = {}
    for i, node in enumerate(nodes):
        for name in node.output:
            if name in made or (name and name in outside and name in made):
                raise FormatError(f"two nodes give {name!r}: {_label(nodes[made[name]])} and "
                                  f"{_label(node)}")  # fmt: skip
            if name:
                made[name] = i
    waits = [{made[n] for n in reads(node) if n in made and made[n] != i}
             for i, node in enumerate(nodes)]  # fmt: skip
    if all(all(j < i for j in before) for i, before in enumerate(waits)):
        return nodes
    return [nodes[i] for i in _by_need(nodes, waits)]


def _by_need(nodes: list[NodeProto], waits: list[set[int]]) -> Iterator[int]:
    """Depth first, without recursion; a node that waits for itself through others is an error."""
    state = [0] * len(nodes)  # 0: not seen, 1: its inputs are being visited, 2: given
    for root in range(len(nodes)):
        stack = [(root, iter(sorted(waits[root])))] if state[root] == 0 else []
        state[root] = max(state[root], 1)
        while stack:
            i, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                state[i] = 2
                yield i
                stack.pop()
            elif state[following] == 1:
                raise FormatError(f"{_label(nodes[following])} waits for itself, by way of "
                                  f"{_label(nodes[i])}")  # fmt: skip
            elif state[following] == 0:
                state[following] = 1
                stack.append((following, iter(sorted(waits[following]))))


def reads(node: NodeProto, depth: int = 0) -> set[str]:
    """The names that a node reads, also inside its graphs.

    Raises:
        FormatError: graphs stand too deep inside each other.
    """
    names = {name for name in node.input if name}
    for graph in graphs_of(node):
        names |= captured(graph, depth + 1)
    return names


def captured(graph: GraphProto, depth: int = 0) -> set[str]:
    """The names that a graph reads and does not give."""
    if depth > _DEEPEST:
        raise FormatError(f"graphs stand more than {_DEEPEST} deep inside each other")
    own = {i.name for i in graph.input} | {t.name for t in graph.initializer}
    names: set[str] = set()
    for node in graph.node:
        names |= reads(node, depth)
        own |= set(node.output)
    return (names | {o.name for o in graph.output}) - own


def graphs_of(node: NodeProto) -> Iterator[GraphProto]:
    """The graphs in the attributes of a node."""
    for a in node.attribute:
        if a.type == AttributeProto.GRAPH:
            yield a.g
        elif a.type == AttributeProto.GRAPHS:
            yield from a.graphs


def _label(node: NodeProto) -> str:
    return f"{operator_of(node)} {node.name!r}"
