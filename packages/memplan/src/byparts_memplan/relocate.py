"""A plan with offsets of your own, so that a placement that you wrote can be run.

def mine(graph, **more):
    made = plan(graph, **more)
    return relocate(made, my_offsets(made.placement.buffers), "by my rule")

program = build(graph, planner=mine)
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from operator import index

from byparts_graph_ir.contract import checked
from byparts_graph_ir.model.frozen import replace
from byparts_memplan.check import check
from byparts_memplan.placed import Placement
from byparts_memplan.plan import Plan


@checked
def relocate(plan: Plan, offsets: Iterable[int], how: str = "by hand") -> Plan:
    """The same plan with its buffers at other offsets; values that share a buffer still do.

    `offsets` has one for each of `plan.placement.buffers`, in bytes from the start of the arena of
    its space.  O(n log n).

    Raises:
        PlanError: there are not as many, or two buffers that are alive together overlap, or one is
            not aligned or not where it is pinned.
    """
    old, new = plan.placement, tuple(offsets)
    check(old.buffers, new, inf, plan.labels)  # type: ignore[arg-type]  # an arena without end
    new = tuple(map(index, new))
    ends = Placement(old.buffers, new, 0, 0, "").arenas
    shift = {
        v: new[home] - old.offsets[home] for home, ids in enumerate(plan.residents) for v in ids
    }
    locations = [
        replace(at, offset=at.offset + shift[v]) if v in shift else at
        for v, at in enumerate(plan.locations)
    ]
    workspaces = list(plan.workspaces)
    for b, ids, offset in zip(old.buffers, plan.residents, new, strict=True):
        if not ids:
            workspaces[b.born] = offset
    placement = replace(old, offsets=new, arena_bytes=sum(ends.values()), how=how)
    return replace(
        plan, locations=tuple(locations), placement=placement, workspaces=tuple(workspaces)
    )
