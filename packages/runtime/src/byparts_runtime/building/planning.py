"""Asks the planner where the values and workspaces of a graph go, and checks the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from byparts_graph_ir import Graph, GraphError
from byparts_graph_ir.errors import LeftOut
from byparts_runtime.building.compile import Compiled
from byparts_runtime.building.discover import Parts
from byparts_runtime.building.lower import OURS, root_of
from byparts_runtime.building.options import BuildOptions
from byparts_runtime.building.planned_graph import PlannedGraph
from byparts_runtime.building.spaces import space_of_values
from byparts_runtime.building.updates import Donations
from byparts_runtime.memory.plan import Plan, Planner, padded


def planned(
    graph: Graph,
    donate: Donations,
    compiled: Compiled,
    parts: Parts,
    options: BuildOptions,
    external: frozenset[int],
    updates: int = 0,
) -> Plan:
    """The planner's answer for a graph, checked.

    Args:
        graph: the nodes of `compiled`, in the order in which they run.
        donate: inputs whose bytes outputs may be written to; positions.
        compiled: has the kernels, whose facts the planner needs.
        parts: with the planner.
        options: with the alignment, which is raised to what the memory spaces need.
        external: positions of the inputs that are not in the arena.
        updates: how many nodes at the end run when all fetches are read.

    Raises:
        GraphError: the plan would make a program touch bytes that are not its own.
    """
    kernels, signature, space = compiled.kernels, compiled.signature, None
    if parts.several:
        space = space_of_values(graph, compiled.constants, signature, kernels, parts.space)
    facts: dict[str, Any] = {"external": external, "alignment": kernels.aligned(options.alignment)}
    facts |= {"donate": donate, "kernels": kernels}
    answer = _asked(parts.planner, graph, facts if space is None else {**facts, "space": space})
    sizes = [kernels(node).workspace_bytes for node in graph.nodes]
    if any(sizes) and hasattr(answer, "arena_bytes") and not getattr(answer, "workspaces", ()):
        answer = _WithWorkspace(answer, sizes, facts["alignment"])
    answered = PlannedGraph(graph, answer, external, kernels, space)
    answered.check()
    _check_run(parts.planner, answered, donate, signature.fetches, updates)
    return answer


def _asked(planner: Planner, graph: Graph, facts: dict[str, Any]) -> Plan:
    try:
        return planner(graph, **facts)
    except TypeError as error:
        if error.__traceback__ is None or error.__traceback__.tb_next is not None:
            raise  # from inside the planner
        keywords = ", ".join(f"{name}=..." for name in facts)
        raise GraphError(f"the planner is called as plan(graph, {keywords}): {error}") from error


def _check_run(
    planner: Planner, answered: PlannedGraph, donate: Donations, fetches: int, updates: int
) -> None:
    """Run the plan on symbolic memory; wheels for devices cannot, and plan with our planner."""
    try:
        from byparts_runtime.building.check_plan import check_run
    except LeftOut:
        if root_of(planner) not in OURS:
            raise
    else:
        check_run(answered, donate, fetches, updates)


class _WithWorkspace:
    """A plan by a planner that knows no workspaces, and one workspace behind it for all nodes."""

    def __init__(self, plan: Plan, sizes: Sequence[int], alignment: int) -> None:
        top = padded(plan.arena_bytes, alignment)
        self.plan, self.locations = plan, plan.locations
        self.workspaces = tuple([top if size else 0 for size in sizes])
        self.arena_bytes = top + padded(max(sizes), alignment)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plan, name)
