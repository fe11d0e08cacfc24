"""`PlannedGraph`: a graph with its plan and what the plan was made for; refuses a plan of no use.

Whoever wrote the planner, a program touches bytes that are its own: all that is known without a run
is checked here.  Whether values alive together overlap is found out by a run on symbolic memory
(`check_plan.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Optional

from byparts_graph_ir import Graph, GraphError, Node, Value
from byparts_graph_ir.model.frozen import Frozen
from byparts_runtime.building.kernels import Kernels
from byparts_runtime.memory.plan import Plan, arena_bytes, space_of_step, workspace_bytes

ADVICE = "the planner must take `kernels` into account"


class PlannedGraph(Frozen):
    """A graph, the places of its values and workspaces, and what says where they may be.

    Attributes:
        graph: in the order in which its nodes run.
        plan: the planner's answer for it.
        external: positions of the inputs that are not in the arena.
        kernels: node -> its kernel; without it nodes need no workspace and no alignment.
        space: value -> the memory space that it is in, where there are several.
    """

    graph: Graph
    plan: Plan
    external: frozenset[int]
    kernels: Optional[Kernels] = None
    space: Optional[Callable[[Value], str]] = None

    def check(self) -> None:
        """Refuse a plan with which a program would touch bytes that are not its own.

        Raises:
            GraphError: a location or a workspace is missing, leaves its memory, is in another
                space, writes what is external, or begins where a kernel takes no array.
        """
        graph, plan = self.graph, self.plan
        if not (hasattr(plan, "locations") and hasattr(plan, "arena_bytes")):
            hint = "; does the planner lack a `return`?" if plan is None else ""
            raise GraphError(f"plan: {plan!r:.60} has no `locations` and no `arena_bytes`{hint}")
        count = len(graph.values)
        if len(plan.locations) != count:
            raise GraphError(f"plan: {len(plan.locations)} locations for {count} values")
        for i in range(count):
            self._check_location(i)
        self._check_workspaces()
        if self.kernels is not None and any(n > 1 for n in self.kernels.alignments.values()):
            for node in graph.nodes:
                self._check_alignment(node, self.kernels(node).alignment)

    def workspace(self, step: int, size_bytes: int) -> tuple[str, int, int]:
        """Memory space ("" for the only one) and bytes, half-open, of the workspace of a node."""
        space = "" if self.space is None else space_of_step(self.graph.nodes[step], self.space)
        start = self.plan.workspaces[step]
        return space, start, start + size_bytes

    def _check_location(self, i: int) -> None:
        value, place = self.graph.values[i], self.plan.locations[i]
        if place.root is not None and place.root not in self.external:
            raise GraphError(f"plan: value {i} is in input {place.root}, which is not external")
        if i in self.external and (place.root, place.offset) != (i, 0):
            raise GraphError(f"plan: external input {i} is placed at {place.root}+{place.offset}")
        space = None if self.space is None else self.space(value)
        if space is not None and getattr(place, "space", None) != space:
            where = getattr(place, "space", "no space")
            raise GraphError(f"plan: value {i} is in {space}, and placed in {where}")
        room = arena_bytes(self.plan, space)
        if place.root is not None:
            room = self.graph.inputs[place.root].type.size_bytes
        end = place.offset + value.type.size_bytes
        if place.offset < 0 or end > room:
            raise GraphError(f"plan: value {i} has bytes [{place.offset}, {end}) of only {room}")

    def _check_workspaces(self) -> None:
        sizes = [workspace_bytes(self.kernels, node) for node in self.graph.nodes]
        starts = getattr(self.plan, "workspaces", ())
        if any(sizes) and len(starts) != len(sizes):
            raise GraphError(
                f"plan: {len(starts)} workspaces for {len(sizes)} nodes, of which "
                f"{sum(map(bool, sizes))} need one; {ADVICE}"
            )
        for step, size in enumerate(sizes):
            if not size:
                continue
            space, start, end = self.workspace(step, size)
            room = arena_bytes(self.plan, None if self.space is None else space)
            if start < 0 or end > room:
                raise GraphError(
                    f"plan: the workspace of node {step} ({self.graph.nodes[step].op.name}) has "
                    f"bytes [{start}, {end}) of an arena of {room}"
                )

    def _check_alignment(self, node: Node, alignment: int) -> None:
        if alignment == 1:
            return
        read = [v for i, v in enumerate(node.inputs) if i not in node.op.ignores]
        for v in (*read, *node.outputs):
            i = self.graph.ids[v]
            if self.plan.locations[i].offset % alignment and v.type.size_bytes:
                raise GraphError(
                    f"plan: value {i} begins at byte {self.plan.locations[i].offset}, and the "
                    f"kernel of {node.op.name} takes arrays at multiples of {alignment}; {ADVICE}"
                )
