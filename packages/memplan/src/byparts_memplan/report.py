"""A plan in words: what it costs, how near the bound it is, what was shared and what refused."""

from __future__ import annotations

from byparts_memplan.amount import human
from byparts_memplan.plan import Plan

LARGEST, REFUSED = 10, 10  # lines of each list


def report(plan: Plan) -> str:
    """Some thirty lines; everything in full is in the plan's fields."""
    return "\n".join([*_summary(plan), "", *_largest(plan), *_refused(plan)])


def _summary(plan: Plan) -> list[str]:
    arena, bound, naive = plan.arena_bytes, plan.lower_bound_bytes, plan.naive_bytes
    share = f"{100 * arena / naive:.1f} % of that" if naive else "nothing to place"
    over = f"planned is {100 * (arena / bound - 1):.2f} % over" if bound else "reached"
    shared = [f"{_count(plan, kind)} {kind}" for kind in ("in place", "view", "donation")]
    return [
        f"{len(plan.locations)} values, {len(plan.residents)} buffers, alignment {plan.alignment}",
        f"  each on its own  {human(naive):>10}",
        f"  planned          {human(arena):>10}  {share}; {plan.placement.how}",
        f"  lower bound      {human(bound):>10}  {over}",
        f"  shared: {', '.join(shared)}",
        f"  outside the arena: {len(plan.external)} inputs",
    ]


def _count(plan: Plan, kind: str) -> str:
    """Values that share so, of those that had a chance to."""
    found = [d for d in plan.decisions if d.kind == kind]
    return f"{len({d.target for d in found if d.taken})} of {len({d.target for d in found})}"


def _largest(plan: Plan) -> list[str]:
    buffers, offsets = plan.placement.buffers, plan.placement.offsets
    order = sorted(range(len(buffers)), key=lambda i: -buffers[i].size_bytes)[:LARGEST]
    lines = ["largest buffers", f"  {'bytes':>10} {'offset':>12}  {'steps':<16} values"]
    for i in order:
        b, more = buffers[i], len(plan.residents[i]) - 1
        steps = f"[{b.born}, {b.dies})"
        also = f" and {more} more" if more else ""
        lines.append(
            f"  {human(b.size_bytes):>10} {offsets[i]:>12}  {steps:<16} {plan.labels[i]}{also}"
        )
    return lines


def _refused(plan: Plan) -> list[str]:
    """Values that could have shared bytes and share none, the largest first."""
    shared = {d.target for d in plan.decisions if d.taken}
    refused = [d for d in plan.decisions if d.target not in shared]
    homes = zip(plan.placement.buffers, plan.residents, strict=True)
    size = {v: b.size_bytes for b, ids in homes for v in ids}
    refused.sort(key=lambda d: -size.get(d.target, 0))
    lines = [
        f"  %{d.target} {d.kind} with %{d.source} at step {d.step}: {d.reason}"
        for d in refused[:REFUSED]
    ]
    more = [f"  and {len(refused) - REFUSED} more"] if len(refused) > REFUSED else []
    return ["", "refused, the largest first", *lines, *more] if lines else []
