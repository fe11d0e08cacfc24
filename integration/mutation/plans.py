"""Wrong plans: a value or a workspace lies over a value that is read later."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from byparts_graph_ir import Graph
from byparts_graph_ir.model.frozen import replace
from mutation.place import Change, Rule, Stage, change_parts


class Planned:
    """A plan with what it was made for.

    Attributes:
        graph: whose values it places.
        plan: the answer of the planner.
        kernels: node -> its kernel, or `None`.
    """

    def __init__(self, graph: Graph, plan: Any, kernels: Any) -> None:
        self.graph, self.plan, self.kernels = graph, plan, kernels
        ids = graph.ids
        self.size = [v.type.size_bytes for v in graph.values]
        self.born = [-1] * len(graph.inputs)
        self.last = [-1] * len(graph.values)
        for step, node in enumerate(graph.nodes):
            self.born += [step] * len(node.outputs)
            for v in node.inputs:
                self.last[ids[v]] = step
        for v in graph.outputs:
            self.last[ids[v]] = len(graph.nodes)

    def alive(self, step: int) -> list[int]:
        """Values in the arena that are made before a step and read after it."""
        at = self.plan.locations
        return [
            v
            for v, size in enumerate(self.size)
            if size and at[v].root is None and self.born[v] < step < self.last[v]
        ]

    def fits(self, offset: int, size: int) -> bool:
        """Whether so many bytes from there on are in the arena."""
        return offset + size <= int(self.plan.arena_bytes)


def _moved(over: bool) -> Rule:
    """Moves a value to the first bytes of one that lives, or so that it overlaps its last."""

    def places(p: Planned) -> Iterator[tuple[str, Change]]:
        at = p.plan.locations
        for v in range(len(p.graph.inputs), len(p.size)):
            if not p.size[v] or at[v].root is not None or p.last[v] < 0:
                continue
            for u in p.alive(p.born[v])[-2:]:
                offset = at[u].offset if over else at[u].offset + (p.size[u] - 1) // 64 * 64
                if (offset, offset) != (at[v].offset, at[u].offset + 1) and p.fits(
                    offset, p.size[v]
                ):
                    words = f"%{v} of step {p.born[v]} over %{u}, read at {p.last[u]}"
                    yield words, partial(_with, p, v, offset)

    return places


def _with(p: Planned, v: int, offset: int) -> Any:
    locations = list(p.plan.locations)
    locations[v] = replace(locations[v], offset=offset)
    return replace(p.plan, locations=tuple(locations))


def _workspaces(p: Planned) -> Iterator[tuple[str, Change]]:
    starts = getattr(p.plan, "workspaces", ())
    if p.kernels is None or len(starts) != len(p.graph.nodes):
        return
    at, ids = p.plan.locations, p.graph.ids
    for step, node in enumerate(p.graph.nodes):
        size = p.kernels(node).workspace_bytes
        made = [ids[v] for v in node.outputs if p.size[ids[v]] and at[ids[v]].root is None]
        for v in (*p.alive(step)[-2:], *made[:1]) if size else ():
            if p.fits(at[v].offset, size):
                starts = list(p.plan.workspaces)
                starts[step] = at[v].offset
                changed = {"workspaces": tuple(starts)}
                words = f"workspace of {node.op.name} over %{v}"
                yield words, partial(_replaced, p.plan, changed)


def _replaced(plan: Any, changed: dict[str, Any]) -> Any:
    return replace(plan, **changed)


RULES: dict[str, Rule] = {
    "a value over another": _moved(True),
    "a value over the end of another": _moved(False),
    "a workspace over a value": _workspaces,
}


def hook(change: Callable[[Any], Any]) -> None:
    """Have the plan of each build, bodies too, go through the change."""
    change_parts(lambda p: replace(p, planner=partial(_planned, p.planner, change)))


def _planned(planner: Any, change: Callable[[Any], Any], graph: Graph, **facts: Any) -> Any:
    plan = planner(graph, **facts)
    made = change(Planned(graph, plan, facts.get("kernels")))
    return plan if isinstance(made, Planned) else made


STAGE = Stage("planner", RULES, hook)
