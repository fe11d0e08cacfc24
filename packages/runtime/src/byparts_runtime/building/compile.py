"""Step 2 of `build`: a kernel for each node, before anything is planned.

Regions that no backend takes are parted; then what depends on nothing is taken out of the program,
since a kernel of a region may want its constants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from time import perf_counter
from typing import Optional

from byparts_graph_ir import (
    Fused,
    Graph,
    Input,
    MissingRule,
    Node,
    Op,
    OptimizationBarrier,
    Stage,
    Types,
    Value,
    add_note,
)
from byparts_graph_ir.backend.progress import report
from byparts_graph_ir.model.frozen import Frozen, replace
from byparts_runtime.building.discover import Parts
from byparts_runtime.building.kernels import BodyCompiler, Kernels, is_constant
from byparts_runtime.building.lower import Lowered, fusing, legal, runs_bodies
from byparts_runtime.building.signature import Signature
from byparts_runtime.building.spaces import with_copies


class Compiled(Frozen):
    """The graph that runs, with a kernel for each node, and the constants that it reads.

    Attributes:
        graph: its last inputs are the outputs of `constants`, in order.
        constants: nodes that are run once, when the program is loaded.
    """

    graph: Graph
    signature: Signature
    kernels: Kernels
    constants: tuple[Node, ...]
    stages: tuple[Stage, ...]

    def __str__(self) -> str:
        names = Counter(self.kernels(node).backend.name for node in self.graph.nodes)
        where = ", ".join(f"{count} on {name}" for name, count in names.items())
        most = max((self.kernels(n).workspace_bytes for n in self.graph.nodes), default=0)
        kept = sum(self.kernels(n).kernel.persistent_bytes for n in self.graph.nodes)
        facts = f"largest workspace {most:,} bytes, persistent {kept:,} bytes"
        return f"compiled   {len(self.graph.nodes)} kernels ({where}); {facts}"


def compile_kernels(
    lowered: Lowered,
    parts: Parts,
    bodies: Callable[[str], BodyCompiler],
    fixed: Collection[int] = (),
) -> Compiled:
    """Compile each node, part the regions that no backend takes, and take the constants out.

    Args:
        lowered: what step 1 gave.
        parts: with the backends.
        bodies: makes the compiler of ops with bodies for the memory space of this name.
        fixed: positions of inputs that are the same at each run, beside the constants.

    Raises:
        MissingRule: no backend takes a node.
    """
    kernels = Kernels(parts.backends, bodies)
    with parts.context():
        stages = [*lowered.stages, *_parted(lowered.graph, kernels, parts)]
        stages += _without_barriers(stages[-1].graph)
        start = perf_counter()
        graph, constants = hoist(stages[-1].graph)
        stages.append(Stage("hoist", graph, perf_counter() - start))
        signature = replace(lowered.signature, constants=sum(len(n.outputs) for n in constants))
        unchanging = [graph.inputs[i] for i in fixed]
        kernels.constants = frozenset((*signature.constant_values(graph), *unchanging))
        if parts.several:
            stages.append(with_copies(graph, constants, signature, kernels, parts))
        graph = stages[-1].graph
        for node in _each((*constants, *graph.nodes)):
            kernels(node)  # now: what is missing is said before anything is planned
    return Compiled(graph, signature, kernels, constants, tuple(stages))


def _parted(graph: Graph, kernels: Kernels, parts: Parts) -> list[Stage]:
    """Part the regions that no backend takes, and decompose other such nodes.

    Returns a stage for each time that something was refused; the graph of the last one is what is
    left.  Empty where backends take all nodes.

    The nodes of a refused region are legalized and fused again, in regions of at most half as many.
    A kernel may refuse the types of a node (no elements, some dtype) whose parts have kernels.
    """
    refused: set[Op] = set()
    stages: list[Stage] = []
    while reasons := dict(_refused(graph.nodes, kernels, parts)):
        start = perf_counter()
        refused.update(op for op, _ in reasons if isinstance(op, Fused))
        graph = graph.rewrite(partial(_decomposed, reasons))
        try:
            graph = legal(parts, graph, refused)
        except MissingRule as error:
            raise add_note(error, f"refused: {next(iter(reasons.values()))}") from None
        for again in fusing(parts, refused):
            graph = again.run(graph)
        stages.append(Stage("part", graph, perf_counter() - start))
    return stages


def _refused(
    nodes: Iterable[Node], kernels: Kernels, parts: Parts
) -> Iterator[tuple[tuple[Op, Types], str]]:
    """Each region or op with parts that no backend takes, with what the backends answered."""
    asked = [node for node in nodes if isinstance(node.op, Fused) or _has_parts(node, parts)]
    for node in _each(asked):
        try:
            kernels(node)
        except MissingRule as error:
            if isinstance(node.op, Fused) or node.op.decompose(*node.inputs) is not None:
                yield _key(node), str(error).partition("; tried ")[2]


def _has_parts(node: Node, parts: Parts) -> bool:
    """Whether the op may be decomposed where its kernel refuses the types."""
    whole = type(node.op).decompose is Op.decompose or parts.legalize is None
    return not (whole or runs_bodies(node))


def _decomposed(reasons: Collection[tuple[Op, Types]], node: Node) -> Optional[tuple[Value, ...]]:
    return node.op.decompose(*node.inputs) if _key(node) in reasons else None


def _key(node: Node) -> tuple[Op, Types]:
    return node.op, tuple([v.type for v in node.inputs])


def _each(nodes: Sequence[Node]) -> Iterator[Node]:
    """The nodes; says before each one how far it is."""
    for i, node in enumerate(nodes):
        report(i, len(nodes), f"kernels; {node.op.name} {node.where.rpartition('/')[2]}")
        yield node


def _without_barriers(graph: Graph) -> list[Stage]:
    """Take the barriers out, and keep the order of the other nodes; no stage if there are none.

    A barrier keeps what is computed twice on purpose from being merged or joined with the first
    time; nothing after this does that.
    """
    if not any(isinstance(node.op, OptimizationBarrier) for node in graph.nodes):
        return []
    start = perf_counter()
    graph = graph.rewrite(past_barrier)
    return [Stage("barriers", graph, perf_counter() - start)]


def past_barrier(node: Node) -> Optional[tuple[Value, ...]]:
    """The value that a barrier passes on; no barrier stays as it is."""
    return node.inputs[:1] if isinstance(node.op, OptimizationBarrier) else None


def hoist(graph: Graph) -> tuple[Graph, tuple[Node, ...]]:
    """Take out of a graph what depends on nothing, so that it is computed once and not at each run.

    Returns the graph, whose last inputs stand for the outputs of the constant nodes, and those
    nodes.  Preserves meaning and order.  O(nodes).
    """
    constants = tuple([node for node in graph.nodes if is_constant(node)])
    if not constants:
        return graph, ()
    stand_ins = {
        n: tuple([Input(v.type, None, n.op.name, n.where) for v in n.outputs]) for n in constants
    }
    inputs = (*graph.inputs, *(v for values in stand_ins.values() for v in values))
    return Graph(inputs, graph.nodes, graph.outputs).rewrite(stand_ins.get), constants
