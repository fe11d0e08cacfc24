"""From the program as it was written to the one that runs, in stages that can be looked at.

    specialize -> passes (optimize: fold, simplify, merge) -> legalize -> what the backends want:
    passes of their own, regions to compute in one go (fuse, inline) -> hoist -> barriers

Each stage is a graph; `str(stage)` is its line.  Barriers keep what is computed twice on purpose
from being merged or joined with the first time; nothing after them does that, so there they go.
What follows, order and rematerialize, is in `arrange.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from time import perf_counter
from typing import Optional

from byparts_graph_ir import (
    Backend,
    Graph,
    Node,
    Op,
    OptimizationBarrier,
    Pass,
    ShapeError,
    Stage,
    Types,
    Value,
    pipeline,
    specialize,
)
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_graph_ir.pipeline import returned_graph
from byparts_runtime.discover import Fuse, Legalize, Supports
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
    fuse: Optional[Fuse] = None,
    refused: Collection[Op] = (),
) -> Lowered:
    """Lower for these input types and backends; `refused` are regions that none of them takes.

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
        has = partial(_has, backends, fuse is not None)
        row.append(Pass("legalize", partial(_legal, legalize, has), gives=("legal",)))
    row += _wanted(backends, fuse, refused)
    row.append(Pass("hoist", take_constants))
    stages = pipeline(*row).stages(graph)
    stages += _without_barriers(stages[-1].graph)
    return Lowered(stages[-1].graph, tuple(constants), tuple(stages))


def _wanted(
    backends: Sequence[Backend], fuse: Optional[Fuse], refused: Collection[Op]
) -> Iterator[Pass]:
    """The backends' own passes, then their regions, then back with those that they refused."""
    for backend in backends:
        yield from backend.passes
    for backend in backends:
        if backend.fuses is not None and fuse is not None:
            alone = partial(_lacks, backends)
            yield Pass("fuse", partial(fuse, wants=backend.fuses, alone=alone))
    if refused:
        yield Pass("inline", lambda graph: graph.rewrite(partial(_inlined, refused)))


def _without_barriers(graph: Graph) -> Iterator[Stage]:
    """The graph in the same order, where there are any."""
    if any(isinstance(node.op, OptimizationBarrier) for node in graph.nodes):
        start = perf_counter()
        found = graph.rewrite(_past_barrier)
        yield Stage("barriers", found, perf_counter() - start)


def _past_barrier(node: Node) -> Optional[tuple[Value, ...]]:
    return node.inputs[:1] if isinstance(node.op, OptimizationBarrier) else None


def _legal(legalize: Legalize, has: Supports, graph: Graph) -> Graph:
    return returned_graph(legalize(graph, has), legalize)


def _has(backends: Sequence[Backend], fusing: bool, node: Node) -> bool:
    """Whether some backend has a rule for the node or will get it in a region, or none needs it."""
    if isinstance(node.op, OptimizationBarrier) or any(b.supports(node.op) for b in backends):
        return True
    return fusing and any(b.fuses is not None and b.fuses(node) for b in backends)


def _lacks(backends: Sequence[Backend], node: Node) -> bool:
    return not any(b.supports(node.op) for b in backends)


def _inlined(refused: Collection[Op], node: Node) -> Optional[tuple[Value, ...]]:
    return node.op.decompose(*node.inputs) if node.op in refused else None


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
