"""Regions of a graph: whether one can run as one kernel, and a backend that joins given ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from byparts_graph_ir import Backend, BackendError, Fused, Graph, Node, Pass, Region, Table
from byparts_graph_ir.errors import PartError
from byparts_graph_ir.parts.hub import parts
from byparts_runtime import build

Wants = Callable[[Node], bool]


def check_regions(graph: Graph, regions: Sequence[Sequence[Node]], wants: Wants) -> None:
    """Check that regions hold each wanted node once, are connected, and can run as kernels.

    Raises:
        AssertionError: one does not; a sentence with the nodes.
    """
    for nodes in regions:
        assert not isinstance(nodes, Node), (
            f"a region is a list of nodes; this is one: {shown([nodes])}"
        )
    for node in graph.nodes:
        count = sum(node in nodes for nodes in regions)
        sentence = f"{shown([node])} is in {count} regions: a wanted node is in one, others in none"
        assert count == int(wants(node)), sentence
    for nodes in regions:
        assert is_connected(nodes), f"{shown(nodes)} are one region, and not connected"
        if by := way_back(graph, nodes, regions):
            way = f"a way leaves the region by {shown([by])} and comes back"
            raise AssertionError(f"{shown(nodes)} cannot be one kernel: {way}")


def check_few(graph: Graph, regions: Sequence[Sequence[Node]]) -> None:
    """Check that no two of these regions could be one.

    Raises:
        AssertionError: two of them could; a sentence with the nodes of both.
    """
    for i, a in enumerate(regions):
        for j, b in enumerate(regions[:i]):
            others = [nodes for k, nodes in enumerate(regions) if k not in (i, j)]
            joint = [*b, *a]
            if is_connected(joint) and not way_back(graph, joint, others):
                both = f"{shown(b)} and {shown(a)}"
                raise AssertionError(f"{both} could be one kernel: there is no way back")


def is_connected(nodes: Sequence[Node]) -> bool:
    """Whether every node reads, or is read by, another one, so that they hang together."""
    todo, seen = [nodes[0]], {nodes[0]}
    while todo:
        node = todo.pop()
        for other in nodes:
            if other not in seen and (_reads(node, other) or _reads(other, node)):
                seen.add(other)
                todo.append(other)
    return len(seen) == len(nodes)


def way_back(graph: Graph, region: Sequence[Node], others: Sequence[Sequence[Node]]) -> Node | None:
    """A node by which a way leaves the region that comes back to it; `None` if there is none.

    A kernel runs as a whole: a way that enters one of `others` leaves it by any of its nodes.
    """
    home = {n: nodes for nodes in (*([n] for n in graph.nodes), *others) for n in nodes}
    for begin in graph.nodes:
        if begin in region or not any(_reads(begin, n) for n in region):
            continue
        behind = set(home[begin])
        for _ in range(len(others) + 1):  # a kernel may stand first, and run after another one
            for node in graph.nodes:
                if any(v.node in behind for v in node.inputs):
                    behind.update(home[node] if node not in region else [node])
        if not behind.isdisjoint(region):
            return begin
    return None


def generated(graph: Graph, yours: Callable[[Backend, Table[Any]], Backend]) -> str:
    """What a program has of generated code, as a sentence; or why none can be had here."""
    try:
        native = parts.backend("native")
        steps = build(graph, backends=(yours(native, native.kernels), "numpy")).steps
    except (PartError, BackendError) as error:
        return f"not tried in generated code: {error}"
    fused, plain = sum(type(s.node.op) is Fused for s in steps), len(build(graph).steps)
    return f"{len(steps)} kernels instead of {plain}, {fused} of them C for your regions"


def joining(
    backend: Backend,
    kernels: Table[Any],
    wants: Wants,
    regions: Callable[[Graph], Sequence[Sequence[Node]]],
) -> Backend:
    """A backend that runs these kernels, and joins the nodes of each region of `regions(graph)`."""
    home: dict[Node, int] = {}

    def look(graph: Graph) -> Graph:
        home.update({n: i for i, nodes in enumerate(regions(graph)) for n in nodes})
        return graph

    def joins(a: Region, b: Region) -> Region | None:
        return a.joined(b) if home[a.nodes[0]] == home[b.nodes[0]] else None

    return Backend(
        "yours",
        backend.view,
        kernels,
        around=backend.around,
        wants=wants,
        joins=joins,
        passes=(Pass("look", look),),
    )


def evaluated() -> Table[Any]:
    """Kernels for regions that do what they mean, one op after the other."""
    kernels: Table[Any] = Table("kernel")

    @kernels.on(Fused)
    def fused(op: Fused, inputs: Sequence[Any], outputs: Sequence[Any]) -> Callable[[], None]:
        def run() -> None:
            for a, b in zip(outputs, op.evaluate(*inputs), strict=True):
                a[...] = b

        return run

    return kernels


def shown(nodes: Sequence[Node]) -> str:
    """The nodes, for a sentence."""
    return ", ".join(f"{n.op.name} {n.outputs[0].type}" for n in nodes)


def _reads(a: Node, b: Node) -> bool:
    return any(v.node is b for v in a.inputs)
