"""Is what a plan says of its workspaces so?  Each step has the one that its kernel asks for.

Where a run of the plan writes them is checked by `check_plan.py`; here are their buffers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from byparts_graph_ir import Graph
from byparts_memplan.buffer import PlanError
from byparts_memplan.plan import Plan


def workspace_buffers(graph: Graph, plan: Plan, sizes: Sequence[int]) -> dict[int, int]:
    """The buffer of each step that needs a workspace; `sizes` are by step.

    Raises:
        PlanError: a step has none or two, or one that it does not need.
    """
    homes: dict[int, int] = {}  # step -> buffer
    for i, residents in enumerate(plan.residents):
        if residents:
            continue
        step = plan.placement.buffers[i].born
        if step not in range(len(sizes)) or not sizes[step]:
            raise PlanError(
                f"buffer {i} holds no value, and step {step} needs no workspace; are the kernels "
                "those that the plan was made with?"
            )
        if step in homes:
            raise PlanError(f"buffers {homes[step]} and {i} are both the workspace of step {step}")
        homes[step] = i
    for step, size in enumerate(sizes):
        who = _name(graph, step)
        if size and step not in homes:
            raise PlanError(f"{who} needs a workspace of {size} bytes, and no buffer is for it")
        if not size and (at := plan.workspaces[step]):
            raise PlanError(f"{who} needs no workspace, and is given one at {at}")
    return homes


def check_workspaces(
    graph: Graph, plan: Plan, sizes: Sequence[int], homes: Mapping[int, int]
) -> None:
    """Raise PlanError unless each buffer of a workspace is what its step needs, where it has it.

    `homes` are the `workspace_buffers`.  O(workspaces).
    """
    for step, home in homes.items():
        _check_workspace(graph, plan, step, sizes[step], home)


def _check_workspace(graph: Graph, plan: Plan, step: int, size: int, home: int) -> None:
    who = _name(graph, step)
    b, offset = plan.placement.buffers[home], plan.placement.offsets[home]
    if b.lives != ((step, step + 1),):
        raise PlanError(f"buffer {home}, the workspace of {who}, lives from {b.born} to {b.dies}")
    if b.size_bytes != size + -size % plan.alignment:
        raise PlanError(f"{who} needs a workspace of {size} bytes; buffer {home}: {b.size_bytes}")
    if offset != plan.workspaces[step]:
        at = plan.workspaces[step]
        raise PlanError(f"the workspace of {who} is at {at}, and its buffer {home} at {offset}")
    if b.alignment != plan.alignment:
        raise PlanError(
            f"buffer {home} is aligned to {b.alignment}, and the plan to {plan.alignment}"
        )
    if b.space != (space := space_of(graph, plan, step)):
        raise PlanError(
            f"{who} is in space {space!r}, and its workspace, buffer {home}, in {b.space!r}"
        )
    node = graph.nodes[step]
    called = f"%{graph.ids[node.outputs[0]]}" if node.outputs else f"step {step}"
    if not f"{plan.labels[home]} ".startswith(f"workspace of {called} {node.op.name} "):
        what = f"the workspace of {called} {node.op.name}"
        raise PlanError(f"buffer {home} is called {plan.labels[home]!r}, and is {what}")


def space_of(graph: Graph, plan: Plan, step: int) -> str:
    """The space of a step: that of its first output, or else of its first input."""
    node = graph.nodes[step]
    for v in (*node.outputs, *node.inputs):
        return plan.locations[graph.ids[v]].space
    return ""


def _name(graph: Graph, step: int) -> str:
    return f"step {step} ({graph.nodes[step].op.name})"
