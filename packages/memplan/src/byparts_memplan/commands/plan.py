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
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from byparts_graph_ir import Graph, GraphError
from byparts_graph_ir.errors import add_note
from byparts_graph_ir.parts.hub import PartError, parts
from byparts_memplan.amount import human
from byparts_memplan.buffer import OverBudget, PlanError
from byparts_memplan.commands.backend_kernels import BackendKernels, kernels_of
from byparts_memplan.commands.console import check_places, complain, print_progress, write
from byparts_memplan.commands.model_file import static_graph
from byparts_memplan.commands.plan_options import parser
from byparts_memplan.pictures.curve import curve_text, live_bytes, percent
from byparts_memplan.pictures.curve_svg import curve_svg
from byparts_memplan.plan import Plan
from byparts_memplan.steps import Steps

TRIES = 4  # to bring an arena within the budget

Stages = dict[str, Graph]  # what was done -> the graph after it, in order


def command(arguments: Sequence[str]) -> int:
    """Run `byparts plan`.  Returns the exit status."""
    options = parser().parse_args(arguments)
    try:
        return _run(options)
    except OverBudget as error:
        complain("plan", options.model, error)
        return 1
    except BrokenPipeError:
        raise  # whoever called knows how to end
    except (GraphError, PartError, OSError) as error:
        complain("plan", options.model, error)
        return 2


def _run(options: argparse.Namespace) -> int:
    check_places([options.svg, options.curve])
    graph, external = static_graph(options)
    kernels = kernels_of(options)
    stages, plan = _stages_and_plan(options, graph, external, kernels)
    graph = list(stages.values())[-1]
    if options.check:
        from byparts_memplan.check_plan import check_plan  # slow on purpose: only when asked for

        check_plan(graph, plan, kernels)
    for line in _said(options, stages, external, kernels, plan):
        print(line)
    if options.svg:
        write(options.svg, plan.svg())
    if options.curve:
        known: dict[str, Any] = {"external": external, "kernels": kernels}
        curves = {name: live_bytes(g, **known) for name, g in stages.items()}
        write(options.curve, curve_svg(curves, budget_bytes=options.budget, title=options.model))
    return _within(options, plan)


def _stages_and_plan(
    options: argparse.Namespace,
    graph: Graph,
    external: frozenset[int],
    kernels: BackendKernels | None,
) -> tuple[Stages, Plan]:
    """The graph after each stage that was asked for, and the plan of the last.

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
        plan = _planned(options, list(stages.values())[-1], external, kernels)
        if budget is None or plan.arena_bytes <= options.budget:
            break
        budget = max(budget - (plan.arena_bytes - options.budget), 0)
    return stages, plan


def _recomputed(
    options: argparse.Namespace,
    graph: Graph,
    external: frozenset[int],
    kernels: BackendKernels | None,
    **limits: Any,
) -> Graph:
    """Rematerialize; the error of an impossible budget names one that an arena can meet."""
    asked = {"effort": options.effort, "progress": print_progress(), **limits}
    try:
        rematerialize = parts.get("passes", "rematerialize")
        recomputed: Graph = rematerialize(graph, external=external, kernels=kernels, **asked)
        return recomputed
    except OverBudget as error:
        arena = _planned(options, error.graph, external, kernels).arena_bytes
        add_note(error, f"the smallest arena found: --budget {arena}")
        raise


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
    answer = planner(graph, **asked)
    if not isinstance(answer, Plan):
        what = type(answer).__name__
        raise PlanError(f"planner {options.planner!r} gives a {what}; only a Plan has a report")
    return answer


def _said(
    options: argparse.Namespace,
    stages: Stages,
    external: frozenset[int],
    kernels: BackendKernels | None,
    plan: Plan,
) -> list[str]:
    from byparts_memplan.json_format import plan_to_json
    from byparts_memplan.report import report

    if options.json:
        return [plan_to_json(plan)]
    lines: list[str] = []
    if options.report or not options.draw:
        lines += [*_summary(stages, external, kernels, options.budget), ""]
        lines += [report(plan, list(stages.values())[-1], rows=max(options.rows, 0))]
    if options.draw:
        colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        lines += [*([""] if lines else []), plan.draw(colour=colour)]
    return [*lines, *(["", "checked: every read finds its own bytes"] if options.check else [])]


def _summary(
    stages: Stages, external: frozenset[int], kernels: BackendKernels | None, budget: int | None
) -> list[str]:
    """Bytes alive at the worst step after each stage, and the cost of the stage."""
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


def _within(options: argparse.Namespace, plan: Plan) -> int:
    if options.budget is None or plan.arena_bytes <= options.budget:
        return 0
    arena, budget = human(plan.arena_bytes), human(options.budget)
    print(f"byparts plan: the arena takes {arena}, over the budget of {budget}", file=sys.stderr)
    return 1
