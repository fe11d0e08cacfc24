"""Step 1 of `build`: from the graph as it was written to one that backends have kernels for.

    specialize -> passes (optimize: fold, simplify, merge) -> legalize -> what the backends want:
    passes of their own, regions to compute in one go (fuse)

Each stage is a graph; `str(stage)` is its line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import partial

from byparts_graph_ir import (
    Backend,
    Graph,
    GraphError,
    Node,
    Op,
    OptimizationBarrier,
    Pass,
    ShapeError,
    Stage,
    Value,
    has_effect,
    pipeline,
    specialize,
    stays_whole,
)
from byparts_graph_ir.model.frozen import Frozen, replace
from byparts_graph_ir.passes.pipeline import applied
from byparts_graph_ir.passes.sizes import is_sized, names_in
from byparts_graph_ir.passes.specialize import names_of
from byparts_runtime.building.discover import Parts
from byparts_runtime.building.options import GraphPass
from byparts_runtime.building.signature import Signature


class Lowered(Frozen):
    """The graph of static types whose nodes the backends have rules for, and how it came about."""

    graph: Graph
    signature: Signature
    stages: tuple[Stage, ...]

    def __str__(self) -> str:
        return "\n".join([f"lowered    {self.signature}", *map(str, self.stages)])


def lower(graph: Graph, signature: Signature, parts: Parts, *, named: bool = False) -> Lowered:
    """Specialize a graph for its variables, run the passes, and lower it for the backends.

    Args:
        graph: with the feeds first.
        signature: the roles of its inputs and outputs.
        parts: the passes and the backends.
        named: whether dimensions may be names.  A pass that needs numbers raises what it likes.

    Raises:
        ShapeError: a type contradicts the graph, or some type is not static (or not named)
            afterwards; or a new value is of another type than its variable.
    """
    types, checked = signature.input_types(graph), _named if named else _static
    row = [Pass("specialize", lambda g: checked(specialize(g, types)), gives=("static",))]
    more = list(parts.passes)
    if parts.legalize is not None:
        more.append(Pass("legalize", partial(legal, parts), gives=("legal",)))
    for i in range(len(parts.backends)):  # what one wants, the next one's passes do not see
        more += [*_passes_of(parts.backends, i), *_fusing_for(parts, i)]
    row += [replace(p, run=partial(kept, p.name, p.run)) for p in more]
    stages = tuple(pipeline(*row).stages(graph))
    lowered = stages[-1].graph
    if not named:  # or else at each size
        signature.check_updates(lowered)
    return Lowered(lowered, signature, stages)


def kept(name: str, run: GraphPass, graph: Graph) -> Graph:
    """Run a pass; its graph must have the same inputs and outputs and be well formed.

    Raises:
        GraphError: it is no such graph; says what the pass was given and what it returned.
    """
    new = applied(run, graph)
    if new is not graph:
        _check_ends(name, graph, new)
        if root_of(run) not in OURS:
            from byparts_graph_ir import verify  # of passes of others alone

            verify(new)
    return new


# Packages whose passes are tried on random graphs; those of others are verified when they run.
OURS = {f"byparts_{part}" for part in ("optimize", "runtime", "memplan", "recompute")} | {
    f"byparts_kernels_{name}" for name in ("native", "cuda", "torch")
}


def root_of(run: object) -> str:
    """The package that a pass or a planner is of."""
    while isinstance(run, partial):
        run = run.func
    return str(getattr(run, "__module__", "")).partition(".")[0]


def _check_ends(name: str, before: Graph, after: Graph) -> None:
    """Refuse a graph with other inputs or outputs than the pass of this name was given.

    Raises:
        GraphError: says which there were, and are.
    """
    for kind, old, new in (
        ("inputs", before.inputs, after.inputs),
        ("outputs", before.outputs, after.outputs),
    ):
        other = [v.type for v in old] != [v.type for v in new]
        if other or (kind == "inputs" and _swapped(old, new)):
            raise GraphError(
                f"pass {name}: the graph had {len(old)} {kind} ({_listed(old)}) and now has "
                f"{len(new)} ({_listed(new)}); a pass keeps them, in their order"
            )


def _swapped(old: Sequence[Value], new: Sequence[Value]) -> bool:
    """Whether inputs of one type have changed places, as far as names tell."""
    names = [[getattr(v, "name", "") for v in values] for values in (old, new)]
    return names[0] != names[1] and sorted(names[0]) == sorted(names[1])


def _listed(values: Sequence[Value]) -> str:
    named = [(getattr(v, "name", ""), str(v.type)) for v in values[:8]]
    listed = [f"{name}: {kind}" if name else kind for name, kind in named]
    return ", ".join([*listed, *["..."] * (len(values) > 8)])


def legal(parts: Parts, graph: Graph, refused: Collection[Op] = ()) -> Graph:
    """The graph in which ops that the backends do not take whole are decomposed (`stays_whole`).

    Args:
        parts: with the pass, if there is one.
        graph: of static types.
        refused: regions that did not compile.
    """
    if parts.legalize is None:
        return graph
    has = partial(_has, parts, refused)
    return applied(parts.legalize, graph, has)


def fusing(parts: Parts, refused: Collection[Op] = ()) -> list[Pass]:
    """A pass for each backend that wants regions; those that are refused are not made again."""
    return [p for i in range(len(parts.backends)) for p in _fusing_for(parts, i, refused)]


def _passes_of(backends: Sequence[Backend], i: int) -> list[Pass]:
    """The passes of the i-th backend, for nodes that no backend before it runs."""
    if i == 0:
        return list(backends[0].passes)
    before = backends[:i]
    return [replace(p, run=partial(_unless_taken, before, p.run)) for p in backends[i].passes]


def _unless_taken(before: Sequence[Backend], run: Callable[[Graph], Graph], graph: Graph) -> Graph:
    """Run the pass; return the graph unchanged where the pass replaces what these backends run."""
    new = applied(run, graph)
    if new is graph:
        return graph
    lost = Counter(n.op for n in graph.nodes) - Counter(n.op for n in new.nodes)
    taken = any(lost[n.op] and not _lacks(before, n) for n in graph.nodes)
    return graph if taken else new


def _fusing_for(parts: Parts, i: int, refused: Collection[Op] = ()) -> list[Pass]:
    """The pass that joins nodes for the i-th backend; none if it wants no regions."""
    backend = parts.backends[i]
    if backend.wants is None or parts.fuse is None:
        return []
    how = {"wants": backend.wants, "joins": backend.joins, "refused": refused}
    alone = partial(_lacks, parts.backends[: i + 1])
    return [Pass("fuse", partial(parts.fuse, **how, alone=alone))]


def _has(parts: Parts, refused: Collection[Op], node: Node) -> bool:
    """Whether some backend, or the runtime itself, runs the node as it is."""
    if isinstance(node.op, OptimizationBarrier):
        return True
    if stays_whole(node, parts.backends, refused, regions=parts.fuse is not None):
        return True
    whole = type(node.op).decompose is Op.decompose or has_effect(node.op)
    return whole and runs_bodies(node)


def runs_bodies(node: Node) -> bool:
    """Whether the runtime runs the node, whatever the backends have."""
    if type(node.op).control is Op.control:
        return False
    return not is_sized(node) or node.op.control(*[v.type for v in node.inputs]) is not None


def _lacks(backends: Sequence[Backend], node: Node) -> bool:
    """Whether none of the backends has a kernel for the op."""
    return not any(b.supports(node.op) for b in backends)


def _named(graph: Graph) -> Graph:
    """The graph itself; refuses one with dimensions that are neither numbers nor of known names."""
    names = names_in(graph)
    for v in graph.values:
        shape = v.type.shape
        if (
            shape is None
            or None in shape
            or not names.issuperset(n for d in shape for n in names_of(d))
        ):
            maker = v.node.op.name if v.node else "input"
            raise ShapeError(f"{maker}: its result {v.type} is unknown though all inputs are named")
    return graph


def _static(graph: Graph) -> Graph:
    """The graph itself; refuses one with types that are not static."""
    for i, v in enumerate(graph.inputs):
        if not v.type.static:
            name = repr(getattr(v, "name", "") or i)
            raise ShapeError(
                f"input {name} is {v.type}, and memory needs numbers: name its dimensions, use "
                "Executor, which fits a program to each feed, or specialize(graph, types)"
            )
    for v in graph.values:
        if not v.type.static:
            maker = v.node.op.name if v.node else "input"
            raise ShapeError(
                f"{maker}: its result {v.type} is not static though all inputs are: its shape "
                "depends on data; use Executor, which runs such a graph in stages"
            )
    return graph
