"""Joins nodes, places and kernels: each node becomes one step, a callable of no arguments.

For each node the first backend of the list whose rule takes it; backends of one space look at the
same bytes, each through its own view.  Values of one type on the same bytes share a view: NumPy
sees that `out is x` and skips its search for overlap, 0.28 us a tiny op instead of 0.46.  A node
whose outputs already *are* bytes of its inputs (the op says so, the plan placed them so) needs no
step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from byparts_graph_ir import (
    Backend,
    Fused,
    Graph,
    GraphError,
    MissingRule,
    Node,
    Op,
    TensorType,
    Value,
    add_note,
)
from byparts_graph_ir.backend import Run
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_runtime.plan import Location


@dataclass(frozen=True)
class Bytes:
    """Where a value stands: `offset` into `memory`."""

    memory: Any
    offset: int


@dataclass(frozen=True)
class Step:
    """One node, bound."""

    node: Node
    backend: str
    run: Run


class RefusedRegions(MissingRule):
    """Regions that no backend takes after all; their nodes may be bound one by one."""

    def __init__(self, ops: Sequence[Op], why: MissingRule) -> None:
        super().__init__(*why.args)
        self.ops = tuple(ops)


def bind(
    graph: Graph, places: Sequence[Bytes], aliased: frozenset[Node], backends: Sequence[Backend]
) -> tuple[Step, ...]:
    """The steps of a program, in order; `aliased` nodes need none.  O(nodes).

    Raises:
        MissingRule: no backend takes a node; says what each answered and what to install.
        RefusedRegions: no backend takes some regions, and all else is bound.
    """
    views: dict[tuple[int, int, int, TensorType], Any] = {}

    def look(b: int, values: Sequence[Value]) -> list[Any]:
        found = []
        for v in values:
            place = places[graph.ids[v]]
            key = (b, id(place.memory), place.offset, v.type)
            if key not in views:
                views[key] = backends[b].view(place.memory, place.offset, v.type)
            found.append(views[key])
        return found

    def step(node: Node) -> Step:
        refusals = []
        for b, backend in enumerate(backends):
            if not backend.supports(node.op):
                refusals.append(f"{backend.name}: has no kernel for it")
                continue
            try:
                run = backend.bind(node, look(b, node.inputs), look(b, node.outputs))
            except MissingRule as error:
                refusals.append(f"{backend.name}: {error}")
                continue
            except Exception as error:
                add_note(error, f"while binding {describe(node)} on {backend.name!r}")
                raise
            return Step(node, backend.name, _checked(run, node, backend))
        raise _missing(node, refusals)

    return _each(step, [node for node in graph.nodes if node not in aliased])


def _each(step: Callable[[Node], Step], nodes: Sequence[Node]) -> tuple[Step, ...]:
    """The steps; regions that are refused are told all at once."""
    steps: list[Step] = []
    refused: dict[Op, MissingRule] = {}
    for node in nodes:
        try:
            steps.append(step(node))
        except MissingRule as error:
            if not isinstance(node.op, Fused):
                raise
            refused[node.op] = error
    if refused:
        raise RefusedRegions(tuple(refused), next(iter(refused.values())))
    return tuple(steps)


def aliased_nodes(graph: Graph, locations: Sequence[Location]) -> frozenset[Node]:
    """Nodes all of whose outputs the plan placed on the input bytes they equal."""
    return frozenset(n for n in graph.nodes if n.outputs and _is_alias(n, graph, locations))


def describe(node: Node) -> str:
    """Op, types and line of a node, for errors."""
    inputs = ", ".join(str(v.type) for v in node.inputs)
    outputs = ", ".join(str(v.type) for v in node.outputs)
    made = f", created at {node.where}" if node.where else ""
    return f"{node.op.name}: ({inputs}) -> ({outputs}){made}"


def _is_alias(node: Node, graph: Graph, locations: Sequence[Location]) -> bool:
    if node.op.effect:
        return False
    same = set()
    for i, o, shift in node.op.views(*[v.type for v in node.inputs]):
        source = locations[graph.ids[node.inputs[i]]]
        target = locations[graph.ids[node.outputs[o]]]
        if source.root == target.root and source.offset + shift == target.offset:
            same.add(o)
    return len(same) == len(node.outputs)


def _checked(run: Any, node: Node, backend: Backend) -> Run:
    if not callable(run):
        raise GraphError(
            f"{node.op.name}: the kernel rule of backend {backend.name!r} gave {run!r:.60}; it "
            "must return a callable of no arguments, e.g. partial(np.tanh, x, y)"
        )
    step: Run = run
    return step


def _missing(node: Node, refusals: Sequence[str]) -> MissingRule:
    from byparts_graph_ir.install import install_command  # only for a message

    types = ", ".join(str(v.type) for v in node.inputs)
    name = type(node.op).__name__
    error = MissingRule(f"no kernel for {name} on ({types}); tried {'; '.join(refusals)}")
    if node.where:
        add_note(error, f"created at {node.where}")
    if type(node.op).decompose is not Op.decompose:
        how = install_command("byparts-optimize")
        return add_note(error, f"byparts-optimize decomposes it: {how}")
    how = install_command("byparts-kernels-numpy")
    add = f'add a backend that has it: {how}, backends=(..., "numpy")'
    return add_note(error, f"{add}; or write it with @kernels.on({name})")
