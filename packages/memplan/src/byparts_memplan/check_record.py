"""Do the fields of a plan agree with each other, and with what a run of it does?

`check_plan` finds out whether a run would work; this, whether what the plan says of itself is so:
who lives in which buffer and when, what was shared, how many bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from byparts_graph_ir import Graph
from byparts_memplan.buffer import PlanError, lower_bound
from byparts_memplan.check_decisions import check_decisions
from byparts_memplan.kernel_facts import Facts
from byparts_memplan.plan import Plan

Used = Mapping[int, tuple[int, int]]
"""Value id -> the first and the last step in which a run touches its bytes."""


def check_positions(graph: Graph, plan: Plan) -> None:
    """Raise PlanError where a field names something that is not there."""
    if len(plan.locations) != len(graph.values):
        raise PlanError(f"{len(plan.locations)} locations for {len(graph.values)} values")
    if len(plan.workspaces) != len(graph.nodes):
        raise PlanError(f"{len(plan.workspaces)} workspaces for {len(graph.nodes)} nodes")
    counts = len(plan.placement.buffers), len(plan.residents), len(plan.labels)
    if len(set(counts)) > 1:
        raise PlanError("{} buffers, residents of {}, labels of {}".format(*counts))
    if plan.alignment < 1:
        raise PlanError(f"the alignment is {plan.alignment}, and must be at least 1")
    inputs, outputs = range(len(graph.inputs)), range(len(graph.outputs))
    for name, positions in (("external", plan.external), ("donated", [k for k, _ in plan.donated])):
        if list(positions) != sorted(set(positions)):
            raise PlanError(f"{name}: inputs {positions} are not in order, each once")
    for k in plan.external:
        if k not in inputs:
            raise PlanError(f"external: there is no input {k}; the graph has {len(inputs)}")
    for k, j in plan.donated:
        if k not in plan.external:
            raise PlanError(f"donated: input {k} is not among the external inputs")
        if j not in outputs:
            raise PlanError(f"donated: there is no output {j}; the graph has {len(outputs)}")
    for v, at in enumerate(plan.locations):
        if at.root is not None and at.root not in plan.external:
            raise PlanError(f"%{v} is in input {at.root}, which is not among the external inputs")


def check_record(graph: Graph, plan: Plan, used: Used, facts: Sequence[Facts]) -> None:
    """Raise PlanError unless buffers hold their residents, and all numbers are what they should be.

    `facts` of the kernels are by step.  O(values + buffers log buffers).
    """
    homes = _homes(graph, plan)
    for v, at in enumerate(plan.locations):
        if at.root is None:
            _check_home(graph, plan, v, homes.get(v, -1), used)
    for i, residents in enumerate(plan.residents):
        if residents:
            _check_buffer(graph, plan, i, used)
    check_decisions(graph, plan, homes, [f.inplace for f in facts])
    _check_bytes(graph, plan, [f.workspace_bytes for f in facts])


def _homes(graph: Graph, plan: Plan) -> dict[int, int]:
    """The buffer of each value, by id."""
    homes: dict[int, int] = {}
    for i, residents in enumerate(plan.residents):
        for v in residents:
            if v not in range(len(graph.values)):
                raise PlanError(f"buffer {i}: there is no %{v}")
            if plan.locations[v].root is not None:
                raise PlanError(f"buffer {i}: %{v} is in input {plan.locations[v].root}")
            if v in homes:
                raise PlanError(f"%{v} is said to be in buffers {homes[v]} and {i}")
            homes[v] = i
    return homes


def _check_home(graph: Graph, plan: Plan, v: int, home: int, used: Used) -> None:
    if home < 0:
        raise PlanError(f"%{v} is in the arena, and in no buffer")
    b, at = plan.placement.buffers[home], plan.locations[v]
    lower = plan.placement.offsets[home]
    end = at.offset + graph.values[v].type.size_bytes
    if at.space != b.space or at.offset < lower or end > lower + b.size_bytes:
        where = f"at [{at.offset}, {end}) of space {at.space!r}"
        room = f"at [{lower}, {lower + b.size_bytes}) of space {b.space!r}"
        raise PlanError(f"%{v} lies {where}, and its buffer {home} {room}")
    first, last = used.get(v, (b.born, b.born))  # a view that nobody reads is not touched
    if not any(born <= first and last < dies for born, dies in b.lives):
        raise PlanError(
            f"%{v} is used during steps [{first}, {last + 1}), and its buffer {home} lives "
            f"during {' and '.join([f'[{born}, {dies})' for born, dies in b.lives])}"
        )


def _check_buffer(graph: Graph, plan: Plan, i: int, used: Used) -> None:
    """Check that size, life and label of a buffer are those of its residents."""
    b, residents = plan.placement.buffers[i], plan.residents[i]
    steps = [step for v in residents for step in used.get(v, ())]
    if not steps or list(residents) != sorted(residents):
        raise PlanError(f"buffer {i} holds {residents}; expected values in order, and used")
    if (b.born, b.dies) != (min(steps), max(steps) + 1):
        life, use = f"[{b.born}, {b.dies})", f"[{min(steps)}, {max(steps) + 1})"
        raise PlanError(f"buffer {i} lives during steps {life}, and is used during {use}")
    if b.alignment != plan.alignment:
        raise PlanError(f"buffer {i} is aligned to {b.alignment}, and the plan to {plan.alignment}")
    ends = [plan.locations[v].offset + graph.values[v].type.size_bytes for v in residents]
    needed = max(ends) - plan.placement.offsets[i]
    if b.size_bytes != needed + -needed % plan.alignment:
        raise PlanError(f"buffer {i} has {b.size_bytes} bytes, and {needed} are used")
    if not plan.labels[i].startswith(f"%{residents[0]} "):
        raise PlanError(f"buffer {i} is called {plan.labels[i]!r}, and begins with %{residents[0]}")


def _check_bytes(graph: Graph, plan: Plan, workspaces: Sequence[int]) -> None:
    placement = plan.placement
    end, alive = sum(plan.arenas.values()), lower_bound(placement.buffers)
    sizes = [v.type.size_bytes for k, v in enumerate(graph.values) if k not in plan.external]
    sizes += workspaces
    naive = sum([-(-size // plan.alignment) * plan.alignment for size in sizes])
    if placement.arena_bytes != end:
        raise PlanError(f"the arena is {placement.arena_bytes} bytes, and its buffers end at {end}")
    if not alive <= placement.lower_bound_bytes <= end:
        bound = f"the lower bound is {placement.lower_bound_bytes} bytes"
        raise PlanError(f"{bound}; {alive} are alive together, and the arena has {end}")
    if plan.naive_bytes != naive:
        raise PlanError(f"naive is {plan.naive_bytes} bytes; each on its own, they take {naive}")
