"""Several memory spaces in one program: copies where a node reads what is in another space.

A node is in the space of the backend that takes it, feeds and fetches are in that of the first
backend, a variable is where it was made.  Each space has an arena.  A copy waits for the space that
it reads; the space that it writes does it in its turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

from byparts_graph_ir import (
    Backend,
    Copy,
    Graph,
    GraphError,
    Kernel,
    Node,
    Space,
    Stage,
    TensorType,
    Value,
)
from byparts_graph_ir.kernel import Run
from byparts_graph_ir.pipeline import returned_graph
from byparts_runtime.building.discover import Parts
from byparts_runtime.building.signature import Signature
from byparts_runtime.memory.plan import Bytes

if TYPE_CHECKING:  # compile.py needs this module first
    from byparts_runtime.building.compile import Compiled, Kernels

_MOST_TRIES = 5  # a constant that is copied is no constant, and another backend may take its reader


def with_copies(
    graph: Graph,
    constants: Sequence[Node],
    signature: Signature,
    kernels: Kernels,
    parts: Parts,
    stages: list[Stage],
) -> Graph:
    """The graph in which each node reads values of its own space.

    Raises:
        GraphError: the nodes have no spaces for which that is so.
    """
    start = perf_counter()
    inputs = input_spaces(signature, constants, kernels, parts.space)
    outputs = [parts.space.name] * signature.fetches + [v.space.name for v in signature.updates]
    for _ in range(_MOST_TRIES):
        before = graph
        graph = returned_graph(
            parts.transfer(graph, partial(space_of, kernels), inputs, outputs), parts.transfer
        )
        if graph is before:
            stages.append(Stage("transfer", graph, perf_counter() - start))
            return graph
    raise GraphError("a node moves to another space whenever its inputs are copied to this one")


def input_spaces(
    signature: Signature, constants: Sequence[Node], kernels: Kernels, first: Space
) -> tuple[str, ...]:
    """The space of each input of a compiled graph; `first` is that of the feeds."""
    variables = [v.space.name for v in signature.variables]
    made = [space_of(kernels, node) for node in constants for _ in node.outputs]
    return (*[first.name] * signature.feeds, *variables, *made)


def space_of(kernels: Kernels, node: Node) -> str:
    """The space in which a node computes."""
    return kernels(node).backend.space.name


def space_of_values(graph: Graph, compiled: Compiled, parts: Parts) -> Callable[[Value], str]:
    """For a planner: value -> the space that it is in."""
    given = input_spaces(compiled.signature, compiled.constants, compiled.kernels, parts.space)
    found: dict[Value, str] = dict(zip(graph.inputs, given, strict=True))
    for node in graph.nodes:
        found.update(dict.fromkeys(node.outputs, space_of(compiled.kernels, node)))
    return found.__getitem__


def copying(op: Copy, type: TensorType, spaces: dict[str, Space]) -> tuple[Backend, Kernel]:
    """What makes a copy: the runtime, whose arrays are addresses."""
    source, target = spaces[op.source], spaces[op.space]

    def bind(inputs: Sequence[Bytes], outputs: Sequence[Bytes], *_: object) -> Run:
        return partial(_copy, source, inputs[0], target, outputs[0], type.size_bytes)

    return Backend("runtime", _address, space=target), Kernel(bind)


def _copy(source: Space, x: Bytes, target: Space, y: Bytes, size_bytes: int) -> None:
    source.synchronize()
    target.write(y.memory, y.offset, source.read(x.memory, x.offset, size_bytes))


def _address(memory: Any, offset: int, kind: TensorType) -> Bytes:
    return Bytes(memory, offset)
