"""A plan in words: what it costs, how near the bound, when most is alive, and what keeps it alive.

A plan is plain numbers and the labels of its buffers.  With the graph at hand the report also says
what NNVM's blocks would have cost, which node runs at the worst step and around it, and for each
value alive there who made it, where, and who needs it last.  Nothing is wider than the terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from shutil import get_terminal_size

from byparts_graph_ir import Graph
from byparts_memplan.amount import human
from byparts_memplan.buffer import PlanError, check_kind, is_integer
from byparts_memplan.kernel_facts import Facts
from byparts_memplan.lifetimes import Decision
from byparts_memplan.pictures.alive import spaces_of, workspaces_in_words
from byparts_memplan.plan import Plan
from byparts_memplan.recompute.peak import Peak, cut

WIDTH = 100  # at most, and where there is no terminal
LEAST = 40
ROWS = 10  # of each list


def report(
    plan: Plan, graph: Graph | None = None, *, rows: int = ROWS, width: int | None = None
) -> str:
    """Some fifty lines; everything in full is in the plan's fields.

    `rows` limits each list, `width` each line.  The graph must be the one that was planned.

    Raises:
        PlanError: it is another one; or what is given is no plan, `rows` no count, or `width`
            too small.
    """
    if not isinstance(plan, Plan):
        raise PlanError(f"expected a Plan; got {plan!r:.60}")
    if graph is not None:
        check_kind(graph, Graph)
    if not is_integer(rows) or rows < 0:
        raise PlanError(f"rows is {rows!r:.60}; expected an integer, 0 or more")
    blocks: list[list[str]] = [_summary(plan, graph)]
    for space, members in spaces_of(plan.placement.buffers).items():
        peak = Peak(plan, graph, members)
        if peak.alive_bytes:
            several = f" of {space or 'the default space'}" if len(plan.arenas) > 1 else ""
            blocks += peak.sections(rows, several)
    blocks += [_taken(plan, graph, rows), _refused(plan, graph, rows)]
    lines = [line for block in blocks if block for line in (*block, "")]
    if width is None:
        width = min(WIDTH, max(LEAST, get_terminal_size((WIDTH, 24)).columns))
    if not is_integer(width) or width < LEAST:
        raise PlanError(f"width is {width!r:.60}; expected a number of letters, {LEAST} or more")
    return "\n".join(cut(line, width) for line in lines[:-1])


def _summary(plan: Plan, graph: Graph | None) -> list[str]:
    arena, bound, naive = plan.arena_bytes, plan.lower_bound_bytes, plan.naive_bytes
    costs = [("each on its own", naive, "")]
    if graph is not None:
        costs.append(_nnvm(plan, graph))
    costs.append(("planned", arena, plan.placement.how))
    over = f"planned is {100 * (arena / bound - 1):.2f} % over" if bound else "nothing to place"
    costs.append(("lower bound", bound, "reached: planned is optimal" if arena == bound else over))
    spaces = [f"{name or 'default space'} {human(size)}" for name, size in plan.arenas.items()]
    kinds = ("in place", "view", "donation")
    scratch = workspaces_in_words(plan.labels, plan.placement.buffers)
    if scratch:
        scratch += f", the largest {human(max(plan.workspace_bytes.values()))}"
    return [
        f"{len(plan.locations)} values, {len(plan.residents)} buffers, alignment {plan.alignment}",
        *[_cost(name, size, naive, words) for name, size, words in costs],
        *([f"  arenas: {', '.join(spaces)}"] if len(spaces) > 1 else []),
        f"  shared: {', '.join(f'{_count(plan, kind)} {kind}' for kind in kinds)}",
        f"  outside the arena: {len(plan.external)} inputs",
        *([f"  kernels: {scratch}"] if scratch else []),
    ]


def _nnvm(plan: Plan, graph: Graph) -> tuple[str, int, str]:
    """With the same workspaces; in place what the ops allow."""
    from byparts_memplan.blocks import blocks  # only who has the graph pays for it

    scratch = plan.workspace_bytes
    said = {n: Facts(scratch.get(s, 0), n.op.inplace) for s, n in enumerate(graph.nodes)}
    made = blocks(graph, external=plan.external, alignment=plan.alignment, kernels=said.__getitem__)
    return "NNVM's blocks", made.total_bytes, f"in {len(made.sizes)} blocks"


def _cost(name: str, size: int, naive: int, words: str) -> str:
    share = f"{100 * size / naive:.1f} %" if naive else ""
    return f"  {name:<16} {human(size):>10} {share:>8}  {words}".rstrip()


def _count(plan: Plan, kind: str) -> str:
    """Values that share so, of those that had a chance to."""
    found = [d for d in plan.decisions if d.kind == kind]
    return f"{len({d.target for d in found if d.taken})} of {len({d.target for d in found})}"


def _taken(plan: Plan, graph: Graph | None, rows: int) -> list[str]:
    """Who shares bytes with whom, the largest first."""
    name = _names(graph)
    found = _largest_first(plan, graph, [d for d in plan.decisions if d.taken])
    lines = [
        f"{size:>12}  {name(d.target)} {_kind(d)} {name(d.source)} at step {d.step}"
        for size, d in found[:rows]
    ]
    return _listed("shared, the largest first", lines, len(found))


def _kind(d: Decision) -> str:
    words = {"in place": "written over", "view": "is a view of", "donation": "replaces input"}
    return words.get(d.kind, f"{d.kind} with")


def _wish(d: Decision) -> str:
    words = {"in place": "over", "view": "as a view of", "donation": "in place of input"}
    return words.get(d.kind, f"{d.kind} with")


def _refused(plan: Plan, graph: Graph | None, rows: int) -> list[str]:
    """Values that could have shared bytes and share none, the largest first."""
    name, shared = _names(graph), {d.target for d in plan.decisions if d.taken}
    found = _largest_first(plan, graph, [d for d in plan.decisions if d.target not in shared])
    lines = [
        f"{size:>12}  {name(d.target)} {_wish(d)} %{d.source}: {d.reason}"
        for size, d in found[:rows]
    ]
    return _listed("refused, the largest first", lines, len(found))


def _names(graph: Graph | None) -> Callable[[int], str]:
    """What to call a value."""

    def name(v: int) -> str:
        if graph is None:
            return f"%{v}"
        value = graph.values[v]
        made = value.node.op.name if value.node is not None else getattr(value, "name", "")
        return f"%{v} {made}".rstrip()

    return name


def _largest_first(
    plan: Plan, graph: Graph | None, found: Iterable[Decision]
) -> list[tuple[str, Decision]]:
    """With the bytes of the target; "" where the plan alone does not know: outside the arena."""
    if graph is not None:
        size = {v: value.type.size_bytes for v, value in enumerate(graph.values)}
    else:
        homes = zip(plan.placement.buffers, plan.residents, strict=True)
        size = {v: b.size_bytes for b, ids in homes for v in ids}
    ranked = sorted(found, key=lambda d: -size.get(d.target, 0))
    return [(human(size[d.target]) if d.target in size else "", d) for d in ranked]


def _listed(title: str, lines: Sequence[str], count: int) -> list[str]:
    more = [f"{'and':>12} {count - len(lines)} more"] if count > len(lines) else []
    return [title, *lines, *more] if lines else []
