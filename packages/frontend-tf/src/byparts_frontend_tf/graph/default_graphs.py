"""Graphs that are the default one inside a block, innermost last.  Per thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from byparts_frontend_tf.graph.graph import Graph


class _Blocks(threading.local):
    def __init__(self) -> None:
        self.graphs: list[Graph] = []


blocks = _Blocks()


@contextmanager
def default_graph(graph: Graph) -> Iterator[Graph]:
    """Make `graph` the default one inside the block."""
    blocks.graphs.append(graph)
    try:
        yield graph
    finally:
        for i in range(len(blocks.graphs) - 1, -1, -1):  # blocks may end in any order
            if blocks.graphs[i] is graph:
                del blocks.graphs[i]
                break
