"""What must run before a node: straight through views, effects in their order."""

from __future__ import annotations

from hypothesis import given as drawn
from planned_ops import Add, Copy, Like, Reshape, add, copy, given, neg, shout
from random_graphs import graphs

from byparts_graph_ir import Graph, Node, has_effect
from byparts_memplan.dependencies import dependencies


def numbered(graph: Graph) -> dict[Node, tuple[int, ...]]:
    """Of each node, where every node but reshapes counts, by its place."""
    place = {node: k for k, node in enumerate(graph.nodes) if not isinstance(node.op, Reshape)}
    return dependencies(graph, lambda node, before: place.get(node))


def test_a_node_waits_for_what_its_views_look_at() -> None:
    x = given(4)
    a, b = copy(x), neg(x)
    view = Reshape((2, 2))(Reshape((4, 1))(a))
    graph = Graph.of([x], [Reshape((4,))(view), b, Like()(b, view)], order=[a, b])

    names = {node.op.name: before for node, before in numbered(graph).items()}
    assert names == {"copy": (), "neg": (), "reshape": (0,), "like": (1, 0)}


def test_effects_keep_their_order() -> None:
    """Also where neither reads the other."""
    x = given(4)
    first, second = shout(x), shout(x)
    graph = Graph.of([x], [first, second])

    assert list(numbered(graph).values()) == [(), (0,)]


def test_what_counts_is_decided_with_what_it_waits_for() -> None:
    """A node that waits for two others may be given a number for that."""
    x = given(4)
    graph = Graph.of([x], [neg(add(copy(x), neg(x)))])
    numbers: dict[Node, int] = {}

    def number(node: Node, before: tuple[int, ...]) -> int | None:
        if isinstance(node.op, Copy) or len(before) > 1:
            return numbers.setdefault(node, len(numbers))
        return None

    found = dependencies(graph, number)
    assert [type(node.op) for node in numbers] == [Copy]
    assert [found[node] for node in graph.nodes] == [(), (), (0,), (0,)]
    assert isinstance(graph.nodes[2].op, Add)


@drawn(graphs())
def test_everything_before_a_node_stands_before_it(graph: Graph) -> None:
    """And what it reads of counted nodes is among that; so is the last effect."""
    place = {node: k for k, node in enumerate(graph.nodes)}
    found = dependencies(graph, lambda node, before: place[node])
    effect: int | None = None
    for k, node in enumerate(graph.nodes):
        read = {place[v.node] for v in node.inputs if v.node is not None}
        if has_effect(node.op):
            read |= {effect} - {None}  # type: ignore[arg-type]  # an int is left
            effect = k
        assert set(found[node]) == read and all(before < k for before in read)
