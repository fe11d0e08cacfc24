"""Several memory spaces in one program: copies where a node reads what is in another space.

A node is in the space of the backend that takes it, feeds and fetches are in that of the first
backend, a variable is where it was made.  Each space has an arena.  A copy waits for the space that
it reads; the space that it writes makes it after the work that it was given before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

from byparts_graph_ir import Graph, GraphError, Node, Space, Stage, Value
from byparts_graph_ir.passes.pipeline import applied
from byparts_runtime.building.discover import Parts
from byparts_runtime.building.kernels import Kernels
from byparts_runtime.building.signature import Signature

_MOST_TRIES = 5  # a constant that is copied is no constant, and another backend may take its reader


def with_copies(
    graph: Graph,
    constants: Sequence[Node],
    signature: Signature,
    kernels: Kernels,
    parts: Parts,
) -> Stage:
    """The stage with the graph in which each node reads values of its own space.

    Raises:
        GraphError: the nodes have no spaces for which that is so.
    """
    start = perf_counter()
    inputs = input_spaces(signature, constants, kernels, parts.space)
    outputs = [parts.space.name] * signature.fetches + [v.space.name for v in signature.updates]
    for _ in range(_MOST_TRIES):
        before = graph
        graph = applied(parts.transfer, graph, kernels.space, inputs, outputs)
        if graph is before:
            return Stage("transfer", graph, perf_counter() - start)
    raise GraphError("a node moves to another space whenever its inputs are copied to this one")


def input_spaces(
    signature: Signature, constants: Sequence[Node], kernels: Kernels, first: Space
) -> tuple[str, ...]:
    """The space of each input of a compiled graph; `first` is that of the feeds."""
    variables = [v.space.name for v in signature.variables]
    constant_spaces = [kernels.space(node) for node in constants for _ in node.outputs]
    return (*[first.name] * signature.feeds, *variables, *constant_spaces)


def space_of_values(
    graph: Graph, constants: Sequence[Node], signature: Signature, kernels: Kernels, first: Space
) -> Callable[[Value], str]:
    """For a planner: value -> the space that it is in.

    Inputs behind those of the signature stand for memory of the caller, in the first space.
    """
    of_inputs = list(input_spaces(signature, constants, kernels, first))
    of_inputs += [first.name] * (len(graph.inputs) - len(of_inputs))
    spaces: dict[Value, str] = dict(zip(graph.inputs, of_inputs, strict=True))
    for node in graph.nodes:
        spaces.update(dict.fromkeys(node.outputs, kernels.space(node)))
    return spaces.__getitem__
