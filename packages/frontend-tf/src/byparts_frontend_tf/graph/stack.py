"""The default graph, and graphs that are default inside a block.  Per thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from byparts_frontend_tf.graph.function import FunctionGraph
from byparts_frontend_tf.graph.graph import Graph
from byparts_frontend_tf.graph.operation import Tensor


class _Stack(threading.local):
    def __init__(self) -> None:
        self.graphs: list[Graph] = []


_stack = _Stack()
_default: list[Graph] = []  # that of the process, once it is asked for


def get_default_graph() -> Graph:
    """The graph that operations are added to."""
    if _stack.graphs:
        return _stack.graphs[-1]
    if not _default:
        _default.append(Graph())
    return _default[0]


@contextmanager
def default_graph(graph: Graph) -> Iterator[Graph]:
    """Make `graph` the default one inside the block."""
    _stack.graphs.append(graph)
    try:
        yield graph
    finally:
        for i in range(len(_stack.graphs) - 1, -1, -1):  # blocks may end in any order
            if _stack.graphs[i] is graph:
                del _stack.graphs[i]
                break


def reset_default_graph() -> None:
    """Begin with an empty default graph.

    Raises:
        AssertionError: a graph is the default one by a `with` block.
    """
    if _stack.graphs:
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared "
            "graph, exit the nesting and create a new graph."
        )
    _default[:] = [Graph()]


def in_one_graph(inputs: Sequence[Tensor]) -> tuple[Graph, tuple[Tensor, ...]]:
    """The graph that an operation on `inputs` is added to, theirs or the default one; the inputs.

    In the graph of a function they are what stands there for tensors of outside.

    Raises:
        ValueError: they are of several graphs.
    """
    if _stack.graphs and isinstance(_stack.graphs[-1], FunctionGraph):
        function = _stack.graphs[-1]
        return function, function.own(inputs)
    if not inputs:
        return get_default_graph(), ()
    graph = inputs[0].op.graph
    for t in inputs:
        if t.op.graph is not graph:
            raise ValueError(f"{t} must be from the same graph as {inputs[0]}.")
    return graph, tuple(inputs)
