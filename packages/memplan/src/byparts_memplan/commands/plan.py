"""`byparts plan MODEL.json`: the memory plan of a graph in a file, as words, pictures or JSON.

    byparts plan model.json --dim n=32 --external 'w*' --order --budget 200MiB --svg plan.svg
    byparts plan model.json --dim n=32 --external 'w*' --backend numpy

With `--backend` the workspaces of its kernels are counted, and they say what is in place.

The exit status is 0 where a plan was made, 1 where there is none within the budget, and 2 where the
question was wrong: a file that is no graph, a name that is not in it, a size without a number.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from errno import EISDIR, ENOENT
from pathlib import Path
from typing import Any

from byparts_graph_ir import FormatError, Graph, GraphError
from byparts_graph_ir.errors import add_note
from byparts_graph_ir.hub import PartError, parts
from byparts_memplan.amount import human
from byparts_memplan.buffer import PlanError
from byparts_memplan.commands.model_file import external_inputs, make_static, read_graph
from byparts_memplan.commands.plan_options import parser
from byparts_memplan.pictures.curve import curve_text, live_bytes, percent
from byparts_memplan.pictures.curve_svg import curve_svg, tradeoff_svg
from byparts_memplan.plan import Plan
from byparts_memplan.recomputed import BudgetError
from byparts_memplan.rematerialize import rematerialize, tradeoff
from byparts_memplan.steps import Steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.commands.backend_kernels import BackendKernels

TRIES = 4  # to bring an arena within the budget

Stages = dict[str, Graph]  # what was done -> the graph after it, in order


def command(arguments: Sequence[str]) -> int:
    """Runs it; returns the exit status."""
    options = parser().parse_args(arguments)
    try:
        return _run(options)
    except BudgetError as error:
        _complain(options.model, error)
        return 1
    except BrokenPipeError:
        raise  # whoever called knows how to end
    except (GraphError, PartError, OSError) as error:
        _complain(options.model, error)
        return 2


def _run(options: argparse.Namespace) -> int:
    _check_places([options.svg, options.curve, options.tradeoff])
    given = read_graph(options.model)
    graph = make_static(given, dict(options.dim), dict(options.shape))
    patterns = [p for text in options.external for p in text.split(",") if p]
    external = external_inputs(graph, patterns)
    kernels = _kernels(options)
    stages, made = _made(options, graph, external, kernels)
    graph = list(stages.values())[-1]
    if options.check:
        from byparts_memplan.check_plan import check_plan  # slow on purpose: only when asked for

        check_plan(graph, made, kernels)
    for line in _said(options, stages, external, kernels, made):
        print(line)
    if options.svg:
        _write(options.svg, made.svg())
    if options.curve:
        known: dict[str, Any] = {"external": external, "kernels": kernels}
        curves = {name: live_bytes(g, **known) for name, g in stages.items()}
        _write(options.curve, curve_svg(curves, budget_bytes=options.budget, title=options.model))
    if options.tradeoff:
        written, asked = stages["as written"], {"effort": options.effort, "progress": _progress()}
        points = tradeoff(written, external=external, kernels=kernels, **asked)
        _write(options.tradeoff, tradeoff_svg({"recomputed": points}, log=True))
    return _within(options, made)


def _check_places(paths: Sequence[str | None]) -> None:
    """That pictures can be written, before a search that takes minutes."""
    for path in filter(None, paths):
        if Path(path).is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR), path)
        if not Path(path).absolute().parent.is_dir():
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT), path)


def _kernels(options: argparse.Namespace) -> BackendKernels | None:
    names = [name for text in options.backend for name in text.split(",") if name]
    if not names:
        return None
    from byparts_memplan.commands.backend_kernels import BackendKernels  # backends are heavy

    return BackendKernels(names)


def _made(
    options: argparse.Namespace,
    graph: Graph,
    external: frozenset[int],
    kernels: BackendKernels | None,
) -> tuple[Stages, Plan]:
    """What was asked for, and the plan of it.

    A budget is for the arena, where buffers are aligned and may leave holes; what comes out over it
    is tried again with so much less.
    """
    stages = {"as written": graph}
    if options.order:
        from byparts_memplan.order import order  # only who asks for it waits for it

        graph = stages["in order"] = order(graph, external=external, kernels=kernels)
    budget = options.budget
    for _ in range(TRIES):
        limits = {"budget_bytes": budget, "max_extra_cost": options.max_extra_cost}
        if any(limit is not None for limit in limits.values()):
            stages["recomputed"] = _recomputed(options, graph, external, kernels, **limits)
        made = _planned(options, list(stages.values())[-1], external, kernels)
        if budget is None or made.arena_bytes <= options.budget:
            break
        budget = max(budget - (made.arena_bytes - options.budget), 0)
    return stages, made


def _recomputed(
    options: argparse.Namespace,
    graph: Graph,
    external: frozenset[int],
    kernels: BackendKernels | None,
    **limits: Any,
) -> Graph:
    """Where it cannot be, with the budget for an arena that can, which is more than a peak."""
    asked = {"effort": options.effort, "progress": _progress(), **limits}
    try:
        return rematerialize(graph, external=external, kernels=kernels, **asked)
    except BudgetError as error:
        arena = _planned(options, error.graph, external, kernels).arena_bytes
        add_note(error, f"the smallest arena found: --budget {arena}")
        raise


def _progress() -> Callable[[str], None] | None:
    """What goes on, for a person at a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    return lambda line: print(line, file=sys.stderr)


def _planned(
    options: argparse.Namespace,
    graph: Graph,
    external: frozenset[int],
    kernels: BackendKernels | None,
) -> Plan:
    asked: dict[str, Any] = {"external": external, "alignment": options.alignment}
    if kernels is not None:
        asked["kernels"] = kernels
    if options.planner is None:
        from byparts_memplan.plan import plan

        return plan(graph, **asked)
    planner = parts.get("planners", options.planner)
    made = planner(graph, **asked)
    if not isinstance(made, Plan):
        what = type(made).__name__
        raise PlanError(f"planner {options.planner!r} gives a {what}; only a Plan has a report")
    return made


def _said(
    options: argparse.Namespace,
    stages: Stages,
    external: frozenset[int],
    kernels: BackendKernels | None,
    made: Plan,
) -> list[str]:
    from byparts_memplan.json_format import plan_to_json
    from byparts_memplan.report import report

    if options.json:
        return [plan_to_json(made)]
    lines: list[str] = []
    if options.report or not options.draw:
        lines += [*_summary(stages, external, kernels, options.budget), ""]
        lines += [report(made, list(stages.values())[-1], rows=max(options.rows, 0))]
    if options.draw:
        colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        lines += [*([""] if lines else []), made.draw(colour=colour)]
    return [*lines, *(["", "checked: every read finds its own bytes"] if options.check else [])]


def _summary(
    stages: Stages, external: frozenset[int], kernels: BackendKernels | None, budget: int | None
) -> list[str]:
    """What each stage did to the bytes that are alive at the worst step, and what it cost."""
    graph = stages["as written"]
    lines = [
        f"{len(graph.nodes)} nodes, {len(graph.inputs)} inputs, {len(external)} of them outside "
        f"the arena, {len(graph.outputs)} outputs",
        *([] if kernels is None else [str(kernels)]),
    ]
    if len(stages) == 1:
        return lines
    steps = {name: Steps(g, external=external, kernels=kernels) for name, g in stages.items()}
    cost = steps["as written"].total_cost()
    for name, table in steps.items():
        line = f"  {name:<11} {human(table.peak_bytes()):>10} alive at the worst step"
        if name == "recomputed":
            extra = table.total_cost() / cost - 1 if cost else 0.0
            more = len(table.nodes) - len(steps["as written"].nodes)
            line += f", {percent(extra)} more work: {more} nodes run again"
        lines.append(line)
    curves: Mapping[str, list[int]] = {name: table.live_bytes() for name, table in steps.items()}
    return [*lines, "", curve_text(curves, budget_bytes=budget)]


def _within(options: argparse.Namespace, made: Plan) -> int:
    if options.budget is None or made.arena_bytes <= options.budget:
        return 0
    arena, budget = human(made.arena_bytes), human(options.budget)
    print(f"byparts plan: the arena takes {arena}, over the budget of {budget}", file=sys.stderr)
    return 1


def _write(path: str, text: str) -> None:
    Path(path).write_text(text, encoding="utf-8")
    print(f"wrote {path}, {human(len(text.encode()))}", file=sys.stderr)


def _complain(model: str, error: Exception) -> None:
    words = re.sub(r"try budget_bytes=\d+, ", "try ", f"{model}: {error}")  # a note says which
    if isinstance(error, OSError):
        words = f"{error.filename or '<stdout>'}: {error.strerror or error}"
    print(f"byparts plan: {words}", file=sys.stderr)
    for note in getattr(error, "__notes__", ()):
        print(f"  {note}", file=sys.stderr)
    if isinstance(error, FormatError) and "unknown op" in str(error):
        having = ", ".join(part.distribution for part, _ in parts.records("ops")) or "none"
        print(f"  parts with ops: {having}; the one that has it must be installed", file=sys.stderr)
