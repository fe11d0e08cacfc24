"""A plan in words: what it costs, how near the bound, when most is alive, and what keeps it alive.

A plan is plain numbers and the labels of its buffers.  With the graph at hand the report also says
which node runs at the worst step and around it, and for each
value alive there who made it, where, and who needs it last.  Nothing is wider than the terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from shutil import get_terminal_size

from byparts_graph_ir import Graph
from byparts_memplan.amount import human
from byparts_memplan.buffer import PlanError, by_space, check_kind, is_integer
from byparts_memplan.lifetimes import Decision
from byparts_memplan.pictures.alive import workspaces_in_words
from byparts_memplan.pictures.peak import Peak, cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.plan import Plan

WIDTH = 100  # at most, and where there is no terminal
LEAST = 40
ROWS = 10  # of each list


def report(
    plan: Plan, graph: Graph | None = None, *, rows: int = ROWS, width: int | None = None
) -> str:
    """A plan in words, some fifty lines; everything in full is in the plan's fields.

    `rows` limits each list, `width` each line.  The graph must be the one that was planned.

    Raises:
        PlanError: it is another one; or what is given is no plan, `rows` no count, or `width`
            too small.
    """
    if not hasattr(plan, "decisions"):
        raise PlanError(f"expected a Plan; got {plan!r:.60}")
    if graph is not None:
        check_kind(graph, Graph)
    if not is_integer(rows) or rows < 0:
        raise PlanError(f"rows is {rows!r:.60}; expected an integer, 0 or more")
    blocks: list[list[str]] = [_summary(plan)]
    for space, members in by_space(plan.placement.buffers).items():
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


def _summary(plan: Plan) -> list[str]:
    arena, bound, naive = plan.arena_bytes, plan.lower_bound_bytes, plan.naive_bytes
    costs = [("each on its own", naive, ""), ("planned", arena, plan.placement.how)]
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


def _cost(name: str, size: int, naive: int, words: str) -> str:
    share = f"{100 * size / naive:.1f} %" if naive else ""
    return f"  {name:<16} {human(size):>10} {share:>8}  {words}".rstrip()


def _count(plan: Plan, kind: str) -> str:
    """The number of values that share bytes in this way, of those that could perhaps."""
    able = {d.target for d in plan.decisions if d.kind == kind}
    taken = {d.target for d in plan.decisions if d.kind == kind and d.taken}
    return f"{len(taken)} of {len(able)}"


def _taken(plan: Plan, graph: Graph | None, rows: int) -> list[str]:
    """Lines for the values that share bytes, the largest first."""
    name = _names(graph)
    taken = _largest_first(plan, graph, [d for d in plan.decisions if d.taken])
    lines = [
        f"{size:>12}  {name(d.target)} {_taken_words(d)} {name(d.source)} at step {d.step}"
        for size, d in taken[:rows]
    ]
    return _listed("shared, the largest first", lines, len(taken))


def _taken_words(d: Decision) -> str:
    words = {"in place": "written over", "view": "is a view of", "donation": "replaces input"}
    return words.get(d.kind, f"{d.kind} with")


def _refused_words(d: Decision) -> str:
    words = {"in place": "over", "view": "as a view of", "donation": "in place of input"}
    return words.get(d.kind, f"{d.kind} with")


def _refused(plan: Plan, graph: Graph | None, rows: int) -> list[str]:
    """Values that could have shared bytes and share none, the largest first."""
    name, shared = _names(graph), {d.target for d in plan.decisions if d.taken}
    refused = _largest_first(plan, graph, [d for d in plan.decisions if d.target not in shared])
    lines = [
        f"{size:>12}  {name(d.target)} {_refused_words(d)} %{d.source}: {d.reason}"
        for size, d in refused[:rows]
    ]
    return _listed("refused, the largest first", lines, len(refused))


def _names(graph: Graph | None) -> Callable[[int], str]:
    """A function that names values."""

    def name(v: int) -> str:
        if graph is None:
            return f"%{v}"
        value = graph.values[v]
        maker = value.node.op.name if value.node is not None else getattr(value, "name", "")
        return f"%{v} {maker}".rstrip()

    return name


def _largest_first(
    plan: Plan, graph: Graph | None, decisions: Iterable[Decision]
) -> list[tuple[str, Decision]]:
    """Decisions, largest first, with the bytes of their targets; "" outside the arena."""
    if graph is not None:
        size = {v: value.type.size_bytes for v, value in enumerate(graph.values)}
    else:
        homes = zip(plan.placement.buffers, plan.residents, strict=True)
        size = {v: b.size_bytes for b, ids in homes for v in ids}
    ranked = sorted(decisions, key=lambda d: -size.get(d.target, 0))
    return [(human(size[d.target]) if d.target in size else "", d) for d in ranked]


def _listed(title: str, lines: Sequence[str], count: int) -> list[str]:
    more = [f"{'and':>12} {count - len(lines)} more"] if count > len(lines) else []
    return [title, *lines, *more] if lines else []
