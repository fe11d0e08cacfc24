"""Step 4 of `build`: where every value, workspace and persistent block goes."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any, Optional

from byparts_graph_ir import Graph, Input
from byparts_graph_ir.model.frozen import Frozen, replace
from byparts_runtime.building.compile import Compiled
from byparts_runtime.building.discover import Parts
from byparts_runtime.building.kernels import Kernels
from byparts_runtime.building.options import BuildOptions
from byparts_runtime.building.planning import planned
from byparts_runtime.building.schedule import Schedule
from byparts_runtime.building.signature import Signature
from byparts_runtime.memory.plan import Plan, padded, separate

LARGE_BYTES = 1 << 20  # fetches of this size and more are computed where the caller gets them


class Placed(Frozen):
    """The result of step 4: all that is decided before there is memory.

    Attributes:
        schedule: what runs, in which order.
        plan: places in the arena, or in variables.
        persistent: for each node where its persistent block begins in the program's own memory;
            blocks of one kernel with the same constants are one.
        persistent_bytes: of all blocks.
        offered: positions of the inputs, behind the constants, that stand for memory of whoever
            runs the graph -> positions of the outputs that may be computed there.  No node reads
            these inputs.
        results: those of `offered` that the plan uses, and whose memory may be another one in each
            run.
    """

    schedule: Schedule
    plan: Plan
    persistent: tuple[int, ...]
    persistent_bytes: int
    offered: dict[int, int]
    results: dict[int, int]

    @property
    def graph(self) -> Graph:
        """The nodes in the order in which they run; `offered` are the last inputs."""
        return self.schedule.graph

    @property
    def signature(self) -> Signature:
        """The roles of the inputs and outputs of the graph, but for the inputs `offered`."""
        return self.schedule.compiled.signature

    @property
    def kernels(self) -> Kernels:
        """The kernel of each node."""
        return self.schedule.compiled.kernels

    @property
    def written(self) -> dict[int, int]:
        """Ids of the new values that the plan has put over variables -> id of the old value."""
        graph, at = self.graph, self.plan.locations
        inputs = self.signature.inputs  # those behind them are results
        donate = self.schedule.donate.items()
        offered = {graph.ids[graph.outputs[j]]: k for k, j in donate if k < inputs}
        return {v: k for v, k in offered.items() if at[v].root == k}

    def __str__(self) -> str:
        sizes = [self.kernels(n).workspace_bytes for n in self.graph.nodes]
        return (
            f"placed     arena of {self.plan.arena_bytes:,} bytes, {sum(map(bool, sizes))} "
            f"workspaces of at most {max(sizes, default=0):,}, persistent memory of "
            f"{self.persistent_bytes:,}; {len(self.written)} variables updated in place"
        )


def place(
    schedule: Schedule,
    parts: Parts,
    options: BuildOptions,
    *,
    feeds_outside: bool = False,
    results: Optional[Sequence[int]] = None,
) -> Placed:
    """Plan the memory of a schedule, of a program or of a body, and check the plan.

    Args:
        schedule: with its plan, where it had to meet a budget.
        parts: with the planner.
        options: with the alignment.
        feeds_outside: whether the feeds are arrays of the caller, which are written only where
            `schedule.donate` allows it.
        results: positions of outputs that are offered memory outside the arena, in this order; by
            default the large fetches.

    Raises:
        GraphError: the plan would make a program touch bytes that are not its own.
    """
    plan, offered = None if feeds_outside else schedule.plan, dict[int, int]()
    schedule = _without_memory(schedule)
    if plan is None:
        outputs = _large_fetches(schedule, parts) if results is None else results
        schedule, offered = _with_memory_for(outputs, schedule)
        signature = schedule.compiled.signature
        feeds = range(signature.feeds) if feeds_outside else ()
        external = signature.outside.union(offered, feeds)
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
        for k, j in offered.items()
        if at[ids[schedule.graph.outputs[j]]].root == k and k not in fixed
    }
    return Placed(schedule, plan, *_persistent_blocks(schedule), offered, taken)


def place_constants(compiled: Compiled, alignment: int) -> Placed:
    """Place the constants of a compiled graph: a graph without inputs, each value on its own."""
    nodes, kernels = compiled.constants, compiled.kernels
    graph = Graph((), nodes, tuple([v for n in nodes for v in n.outputs]))
    signature = Signature(0, (), len(graph.outputs), ())
    alone = replace(compiled, graph=graph, signature=signature, constants=())
    schedule = Schedule(alone, graph, 0, {}, ())
    space = {v: kernels.space(node) for node in nodes for v in node.outputs}
    plan = separate(graph, alignment=alignment, kernels=kernels, space=space.__getitem__)
    return Placed(schedule, plan, *_persistent_blocks(schedule), {}, {})


_MANY_NODES = 500  # to search a plan for so many takes tens of megabytes for a while


def _return_freed_memory() -> None:
    """Give the system what planning has freed: glibc keeps it, and the arena comes on top."""
    if sys.platform != "linux":
        return
    import ctypes  # not at the start of small programs

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, other libraries do not
    if trim is not None:
        trim(0)


def _large_fetches(schedule: Schedule, parts: Parts) -> list[int]:
    """Positions of the fetches that are computed where the caller gets them."""
    graph = schedule.graph
    if parts.space.name != "host" or parts.results is not None:
        return []
    count, fetches = Counter(graph.outputs), schedule.compiled.signature.fetches
    return [
        j
        for j, v in enumerate(graph.outputs[:fetches])
        if v.type.size_bytes >= LARGE_BYTES and count[v] == 1 and v.node is not None
    ]


def _with_memory_for(outputs: Sequence[int], schedule: Schedule) -> tuple[Schedule, dict[int, int]]:
    """Add an input to a schedule for the memory of each of these outputs, and offer it to them.

    An output that no node makes, or that is offered other bytes already, gets an input, too, and
    no offer.  Returns the schedule, and position of each input -> position of its output.
    """
    if not outputs:
        return schedule, {}
    graph = schedule.graph
    inputs = [Input(graph.outputs[j].type, None, f"result_{j}", "") for j in outputs]
    offered = {len(graph.inputs) + k: j for k, j in enumerate(outputs)}
    backwards = reversed(list(enumerate(graph.outputs)))
    first = {v: j for j, v in backwards if v.node is not None}
    able = set(first.values()).difference(schedule.donate.values())
    donate = {**schedule.donate, **{k: j for k, j in offered.items() if j in able}}
    graph = Graph((*graph.inputs, *inputs), graph.nodes, graph.outputs)
    return replace(schedule, graph=graph, donate=donate), offered


def _without_memory(schedule: Schedule) -> Schedule:
    """The schedule without the inputs that an earlier placing has added for its results."""
    graph, count = schedule.graph, schedule.compiled.signature.inputs
    if len(graph.inputs) == count:
        return schedule
    donate = {k: j for k, j in schedule.donate.items() if k < count}
    graph = Graph(graph.inputs[:count], graph.nodes, graph.outputs)
    return replace(schedule, graph=graph, donate=donate)


def _persistent_blocks(schedule: Schedule) -> tuple[tuple[int, ...], int]:
    """Offset of the persistent block of each node, and the size of all blocks, in bytes.

    Nodes of one kernel with the same constants share a block.
    """
    starts: dict[Any, int] = {}
    offsets, top = [], 0
    for node in schedule.graph.nodes:
        compiled = schedule.compiled.kernels(node)
        size = compiled.kernel.persistent_bytes
        key = (id(compiled.kernel), *[node.inputs[i] for i in compiled.constants])
        if size and key not in starts:
            starts[key] = top
            top += padded(size, 64)
        offsets.append(starts[key] if size else 0)
    return tuple(offsets), top
