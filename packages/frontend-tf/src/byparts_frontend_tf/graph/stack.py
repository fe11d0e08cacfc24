"""The default graph, and the graph that an operation is added to."""

from __future__ import annotations

from collections.abc import Sequence

from byparts_frontend_tf.graph.default_graphs import blocks
from byparts_frontend_tf.graph.function import FunctionGraph
from byparts_frontend_tf.graph.graph import Graph
from byparts_frontend_tf.graph.operation import Tensor

_default: list[Graph] = []  # that of the process, once it is asked for


def get_default_graph() -> Graph:
    """The graph that operations are added to."""
    if blocks.graphs:
        return blocks.graphs[-1]
    if not _default:
        _default.append(Graph())
    return _default[0]


def reset_default_graph() -> None:
    """Begin with an empty default graph.

    Raises:
        AssertionError: a graph is the default one by a `with` block.
    """
    if blocks.graphs:
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
    if blocks.graphs and isinstance(blocks.graphs[-1], FunctionGraph):
        function = blocks.graphs[-1]
        return function, function.own(inputs)
    if not inputs:
        return get_default_graph(), ()
    graph = inputs[0].op.graph
    for t in inputs:
        if t.op.graph is not graph:
            raise ValueError(f"{t} must be from the same graph as {inputs[0]}.")
    return graph, tuple(inputs)
