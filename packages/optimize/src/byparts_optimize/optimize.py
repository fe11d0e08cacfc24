"""The usual passes in the usual order, until nothing changes."""

from __future__ import annotations

from byparts_graph_ir import Graph
from byparts_optimize.canonical import canonical
from byparts_optimize.fold import LIMIT_BYTES, fold
from byparts_optimize.merge import merge
from byparts_optimize.simplify import simplify

_MOST_ROUNDS = 10


def optimize(graph: Graph, *, fast_math: bool = False, limit_bytes: int = LIMIT_BYTES) -> Graph:
    """The same program, smaller: canonical forms, constants folded, algebra, equal work done once.

    Needs nothing, does most on static types (`specialize` first); preserves what `simplify` does.
    O(nodes) a round, two or three rounds in practice.
    """
    for _ in range(_MOST_ROUNDS):
        before = graph
        graph = fold(canonical(graph), limit_bytes=limit_bytes)
        graph = merge(simplify(graph, fast_math=fast_math))
        if graph == before:
            break
    return graph
