"""Asks the planner where the values and workspaces of a graph go, and checks the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

from byparts_graph_ir import Graph, GraphError, Node, Value
from byparts_graph_ir.errors import LeftOut
from byparts_runtime.building.compile import Compiled
from byparts_runtime.building.discover import Parts
from byparts_runtime.building.lower import OURS, root_of
from byparts_runtime.building.options import BuildOptions
from byparts_runtime.building.spaces import space_of_values
from byparts_runtime.building.updates import Donations
from byparts_runtime.memory.plan import (
    Plan,
    arena_bytes,
    padded,
    space_of_step,
    workspace_bytes,
)


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
    kernels = compiled.kernels
    facts: dict[str, Any] = {"donate": donate, "kernels": kernels}
    if parts.several:
        facts["space"] = space_of_values(
            graph, compiled.constants, compiled.signature, kernels, parts.space
        )
    alignment = kernels.aligned(options.alignment)
    try:
        plan = parts.planner(graph, external=external, alignment=alignment, **facts)
    except TypeError as error:
        if error.__traceback__ is None or error.__traceback__.tb_next is not None:
            raise  # from inside the planner
        keywords = ", ".join(f"{name}=..." for name in ("external", "alignment", *facts))
        raise GraphError(f"the planner is called as plan(graph, {keywords}): {error}") from error
    sizes = [kernels(node).workspace_bytes for node in graph.nodes]
    if any(sizes) and hasattr(plan, "arena_bytes") and not getattr(plan, "workspaces", ()):
        plan = _WithWorkspace(plan, sizes, alignment)
    check_plan(graph, plan, external, kernels, facts.get("space"))
    if any(n > 1 for n in kernels.alignments.values()):
        _check_alignment(graph, plan, kernels)
    try:
        from byparts_runtime.building.check_plan import check_run
    except LeftOut:  # of a wheel for devices, which plan with ours
        if root_of(parts.planner) not in OURS:
            raise
    else:
        counts = compiled.signature.fetches, updates
        check_run(graph, plan, external, kernels, facts.get("space"), donate, *counts)
    return plan


class _WithWorkspace:
    """A plan by a planner that knows no workspaces, and one workspace behind it for all nodes."""

    def __init__(self, plan: Plan, sizes: Sequence[int], alignment: int) -> None:
        top = padded(plan.arena_bytes, alignment)
        self.plan, self.locations = plan, plan.locations
        self.workspaces = tuple([top if size else 0 for size in sizes])
        self.arena_bytes = top + padded(max(sizes), alignment)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plan, name)


def check_plan(
    graph: Graph,
    plan: Plan,
    external: frozenset[int],
    kernels: Optional[Callable[[Node], Any]] = None,
    space: Optional[Callable[[Value], str]] = None,
) -> None:
    """Refuse a plan with which a program would touch bytes that are not its own.

    Whether values alive together overlap is found out by a run on symbolic memory (`check_run`).

    Raises:
        GraphError: a location or a workspace is missing, leaves its memory, or writes what is
            external.
    """
    if not (hasattr(plan, "locations") and hasattr(plan, "arena_bytes")):
        hint = "; does the planner lack a `return`?" if plan is None else ""
        raise GraphError(f"plan: {plan!r:.60} has no `locations` and no `arena_bytes`{hint}")
    if len(plan.locations) != len(graph.values):
        raise GraphError(f"plan: {len(plan.locations)} locations for {len(graph.values)} values")
    for i, (value, place) in enumerate(zip(graph.values, plan.locations, strict=True)):
        if place.root is not None and place.root not in external:
            raise GraphError(f"plan: value {i} is in input {place.root}, which is not external")
        if i in external and (place.root, place.offset) != (i, 0):
            raise GraphError(f"plan: external input {i} is placed at {place.root}+{place.offset}")
        if space is not None and getattr(place, "space", None) != space(value):
            where = getattr(place, "space", "no space")
            raise GraphError(f"plan: value {i} is in {space(value)}, and placed in {where}")
        room = arena_bytes(plan, None if space is None else space(value))
        room = room if place.root is None else graph.inputs[place.root].type.size_bytes
        if place.offset < 0 or place.offset + value.type.size_bytes > room:
            end = place.offset + value.type.size_bytes
            raise GraphError(f"plan: value {i} has bytes [{place.offset}, {end}) of only {room}")
    _check_workspaces(graph, plan, kernels, space)


def _check_workspaces(
    graph: Graph,
    plan: Plan,
    kernels: Optional[Callable[[Node], Any]],
    space: Optional[Callable[[Value], str]],
) -> None:
    needed = [workspace_bytes(kernels, node) for node in graph.nodes]
    if not any(needed):
        return
    starts = getattr(plan, "workspaces", ())
    if len(starts) != len(needed):
        raise GraphError(
            f"plan: {len(starts)} workspaces for {len(needed)} nodes, of which "
            f"{sum(map(bool, needed))} need one; the planner must take `kernels` into account"
        )
    for i, (size, start) in enumerate(zip(needed, starts, strict=True)):
        name = None if space is None else space_of_step(graph.nodes[i], space)
        room = arena_bytes(plan, name)
        if size and not 0 <= start <= room - size:
            raise GraphError(
                f"plan: the workspace of node {i} ({graph.nodes[i].op.name}) has bytes "
                f"[{start}, {start + size}) of an arena of {room}"
            )


def _check_alignment(graph: Graph, plan: Plan, kernels: Callable[[Node], Any]) -> None:
    for node in graph.nodes:
        alignment = kernels(node).alignment
        read = [v for i, v in enumerate(node.inputs) if i not in node.op.ignores]
        for v in (*read, *node.outputs) if alignment > 1 else ():
            offset = plan.locations[graph.ids[v]].offset
            if offset % alignment and v.type.size_bytes:
                raise GraphError(
                    f"plan: value {graph.ids[v]} begins at byte {offset}, and the kernel of "
                    f"{node.op.name} takes arrays at multiples of {alignment}; the planner must "
                    "take `kernels` into account"
                )
