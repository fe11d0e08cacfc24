"""Step 4 of `build`: where every value, workspace and persistent block goes."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

from byparts_graph_ir import Graph, Input
from byparts_graph_ir.model.frozen import Frozen, replace
from byparts_runtime.building.discover import Parts
from byparts_runtime.building.options import BuildOptions
from byparts_runtime.building.planning import planned
from byparts_runtime.building.schedule import Schedule
from byparts_runtime.memory.plan import Plan, padded

LARGE_BYTES = 1 << 20  # fetches of this size and more are computed where the caller gets them


class Placed(Frozen):
    """What step 4 gives: all that is decided before there is memory.

    Attributes:
        schedule: what runs, in which order.
        plan: places in the arena, or in variables.
        persistent: for each node where its persistent block begins in the program's own memory;
            blocks of one kernel with the same constants are one.
        persistent_bytes: of all blocks.
        results: positions of the inputs, behind the constants, that stand for memory of the caller
            -> positions of the outputs that are computed there.  No node reads these inputs.
    """

    schedule: Schedule
    plan: Plan
    persistent: tuple[int, ...]
    persistent_bytes: int
    results: dict[int, int]

    @property
    def written(self) -> dict[int, int]:
        """Ids of the new values that the plan has put over variables -> id of the old value."""
        graph, at = self.schedule.graph, self.plan.locations
        inputs = self.schedule.compiled.signature.inputs  # those behind them are results
        donate = self.schedule.donate.items()
        offered = {graph.ids[graph.outputs[j]]: k for k, j in donate if k < inputs}
        return {v: k for v, k in offered.items() if at[v].root == k}

    def __str__(self) -> str:
        kernels, nodes = self.schedule.compiled.kernels, self.schedule.graph.nodes
        sizes = [kernels(n).workspace_bytes for n in nodes]
        return (
            f"placed     arena of {self.plan.arena_bytes:,} bytes, {sum(map(bool, sizes))} "
            f"workspaces of at most {max(sizes, default=0):,}, persistent memory of "
            f"{self.persistent_bytes:,}; {len(self.written)} variables updated in place"
        )


def place(
    schedule: Schedule, parts: Parts, options: BuildOptions, *, feeds_outside: bool = False
) -> Placed:
    """Plan the memory of a schedule, and check the plan.

    Args:
        schedule: with its plan, where it had to meet a budget.
        parts: with the planner.
        options: with the alignment.
        feeds_outside: whether the feeds are arrays of the caller, which are never written.

    Raises:
        GraphError: the plan would make a program touch bytes that are not its own.
    """
    plan, results = None if feeds_outside else schedule.plan, dict[int, int]()
    if plan is None:
        schedule, results = _with_results(schedule, parts)
        signature = schedule.compiled.signature
        feeds = range(signature.feeds) if feeds_outside else ()
        external = signature.outside.union(results, feeds)
        known = schedule.graph, schedule.donate, schedule.compiled
        plan = planned(*known, parts, options, external, schedule.updates)
        if len(schedule.graph.nodes) >= _MANY_NODES:
            _return_freed_memory()
    at, ids = plan.locations, schedule.graph.ids
    # What the commit reads stays in one place, since nothing of the commit may be Python code.
    commit = schedule.graph.nodes[len(schedule.graph.nodes) - schedule.updates :]
    fixed = {at[ids[v]].root for node in commit for v in (*node.inputs, *node.outputs)}
    taken = {
        k: j
        for k, j in results.items()
        if at[ids[schedule.graph.outputs[j]]].root == k and k not in fixed
    }
    return Placed(schedule, plan, *persistent_blocks(schedule), taken)


_MANY_NODES = 500  # to search a plan for so many takes tens of megabytes for a while


def _return_freed_memory() -> None:
    """Give the system what planning has freed: glibc keeps it, and the arena comes on top."""
    if sys.platform != "linux":
        return
    import ctypes  # not at the start of small programs

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, other libraries do not
    if trim is not None:
        trim(0)


def _with_results(schedule: Schedule, parts: Parts) -> tuple[Schedule, dict[int, int]]:
    """The schedule with an input for the memory of each large fetch; and these, see `Placed`."""
    graph, signature = schedule.graph, schedule.compiled.signature
    if parts.space.name != "host" or parts.results is not None:
        return schedule, {}
    count, made = Counter(graph.outputs), {v for n in graph.nodes for v in n.outputs}
    large = [
        j
        for j, v in enumerate(graph.outputs[: signature.fetches])
        if v.type.size_bytes >= LARGE_BYTES and count[v] == 1 and v in made
    ]
    inputs = [Input(graph.outputs[j].type, None, f"result_{j}", "") for j in large]
    results = {signature.inputs + k: j for k, j in enumerate(large)}
    graph = Graph((*graph.inputs, *inputs), graph.nodes, graph.outputs) if large else graph
    return replace(schedule, graph=graph, donate={**schedule.donate, **results}), results


def persistent_blocks(schedule: Schedule) -> tuple[tuple[int, ...], int]:
    """Where the persistent block of each node begins, and the size of all, in bytes.

    Nodes of one kernel with the same constants share a block.
    """
    starts: dict[Any, int] = {}
    offsets, top = [], 0
    kernels = schedule.compiled.kernels
    for node in schedule.graph.nodes:
        compiled = kernels(node)
        size = compiled.kernel.persistent_bytes
        key = (id(compiled.kernel), *[node.inputs[i] for i in compiled.constants])
        if size and key not in starts:
            starts[key] = top
            top += padded(size, 64)
        offsets.append(starts[key] if size else 0)
    return tuple(offsets), top
