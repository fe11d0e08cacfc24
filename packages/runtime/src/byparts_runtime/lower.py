"""From the program as it was written to the one that runs, in stages that can be looked at.

    specialize -> passes (optimize: fold, simplify, merge) -> legalize -> hoist

Each stage is a graph; `str(stage)` is its line.  What follows, place and bind, makes no new graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Optional

from byparts_graph_ir import (
    Backend,
    Graph,
    Node,
    Pass,
    ShapeError,
    Stage,
    Types,
    pipeline,
    specialize,
)
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_runtime.discover import Legalize
from byparts_runtime.hoist import hoist


@dataclass(frozen=True)
class Lowered:
    """The graph that runs, how it came about, and the nodes that were taken out of it.

    Its inputs are those of the written program, then the outputs of `constants`.
    """

    graph: Graph
    constants: tuple[Node, ...]
    stages: tuple[Stage, ...]


def lower(
    graph: Graph,
    types: Types,
    passes: Sequence[Pass],
    legalize: Optional[Legalize],
    backends: Sequence[Backend],
) -> Lowered:
    """Lower for these input types and backends.

    Raises:
        ShapeError: a type contradicts the graph, or some type is not static afterwards.
    """
    constants: list[Node] = []

    def take_constants(graph: Graph) -> Graph:
        rest, found = hoist(graph)
        constants.extend(found)
        return rest

    row = [Pass("specialize", lambda g: _static(specialize(g, types)), gives=("static",)), *passes]
    if legalize is not None:
        row.append(Pass("legalize", partial(_legal, legalize, backends), gives=("legal",)))
    row += [p for b in backends for p in b.passes]
    row.append(Pass("hoist", take_constants))
    stages = pipeline(*row).stages(graph)
    return Lowered(stages[-1].graph, tuple(constants), tuple(stages))


def _legal(legalize: Legalize, backends: Sequence[Backend], graph: Graph) -> Graph:
    return legalize(graph, lambda node: any(b.supports(node.op) for b in backends))


def _static(graph: Graph) -> Graph:
    for i, v in enumerate(graph.inputs):
        if not v.type.static:
            name = repr(getattr(v, "name", "") or i)
            raise ShapeError(
                f"input {name} is {v.type}, and memory needs numbers: use Executor, which fits a "
                "program to each feed, or specialize(graph, types)"
            )
    for v in graph.values:
        if not v.type.static:
            made = v.node.op.name if v.node else "input"
            raise ShapeError(f"{made}: its result {v.type} is not static though all inputs are")
    return graph
