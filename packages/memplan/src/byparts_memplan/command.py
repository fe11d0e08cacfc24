"""`byparts plan MODEL.json`: the memory plan of a graph in a file, as words, pictures or JSON.

    byparts plan model.json --dim n=32 --external 'w*' --order --budget 200MiB --svg plan.svg

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
from byparts_memplan.amount import human, size_bytes
from byparts_memplan.buffer import PlanError
from byparts_memplan.model_file import external_inputs, make_static, read_graph
from byparts_memplan.pictures.curve import curve_text, live_bytes, percent
from byparts_memplan.pictures.curve_svg import curve_svg, tradeoff_svg
from byparts_memplan.plan import Plan
from byparts_memplan.recomputed import BudgetError
from byparts_memplan.rematerialize import rematerialize, tradeoff
from byparts_memplan.steps import Steps

TRIES = 4  # to bring an arena within the budget

Stages = dict[str, Graph]  # what was done -> the graph after it, in order


def command(arguments: Sequence[str]) -> int:
    """Runs it; returns the exit status."""
    options = _parser().parse_args(arguments)
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


def place_command(arguments: Sequence[str]) -> int:
    """`byparts place FILE.csv`, which is `python -m byparts_memplan place FILE.csv`."""
    from byparts_memplan.__main__ import main

    return main(["place", *arguments], "byparts")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "byparts plan",
        description="The memory plan of a graph: where every value lies in one arena.",
        allow_abbrev=False,
    )
    parser.add_argument("model", help="a graph as JSON or as text; - for what comes in")
    graph = parser.add_argument_group("the graph")
    graph.add_argument(
        "--dim", action="append", default=[], type=_dim, metavar="n=32", help="a named dimension"
    )
    graph.add_argument(
        "--shape", action="append", default=[], type=_shape, metavar="x=32,784", help="of an input"
    )
    graph.add_argument(
        "--external",
        action="append",
        default=[],
        metavar="w1,b*",
        help="inputs that live outside the arena, by name or pattern, '!x' takes one back; "
        "default: none",
    )
    _add_work(parser.add_argument_group("what is done"))
    _add_output(parser.add_argument_group("what is printed and written; default: the report"))
    return parser


def _add_work(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--order", action="store_true", help="first look for a better order")
    limit = group.add_mutually_exclusive_group()
    limit.add_argument(
        "--budget", type=_bytes, metavar="200MiB", help="recompute as little as fits into it"
    )
    limit.add_argument(
        "--max-extra-cost", type=_fraction, metavar="0.01", help="recompute at most so much work"
    )
    group.add_argument(
        "--effort", type=_fraction, default=1.0, metavar="1", help="how long to search for that"
    )
    group.add_argument("--alignment", type=_alignment, default=64, metavar="N", help="default: 64")
    group.add_argument("--planner", metavar="NAME", help="another installed planner, e.g. blocks")
    group.add_argument("--check", action="store_true", help="run the plan on symbolic memory")


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--report", action="store_true", help="costs, the worst step, what shares")
    group.add_argument("--rows", type=int, default=10, metavar="N", help="of each list: 10")
    group.add_argument("--draw", action="store_true", help="the arena as text")
    group.add_argument("--json", action="store_true", help="the plan as JSON, and nothing else")
    group.add_argument("--svg", metavar="OUT.svg", help="the arena as a picture")
    group.add_argument("--curve", metavar="OUT.svg", help="bytes alive at each step as a picture")
    group.add_argument("--tradeoff", metavar="OUT.svg", help="bytes against extra work, searched")


def _run(options: argparse.Namespace) -> int:
    _check_places([options.svg, options.curve, options.tradeoff])
    given = read_graph(options.model)
    graph = make_static(given, dict(options.dim), dict(options.shape))
    patterns = [p for text in options.external for p in text.split(",") if p]
    external = external_inputs(graph, patterns)
    stages, made = _made(options, graph, external)
    graph = list(stages.values())[-1]
    if options.check:
        from byparts_memplan.check_plan import check_plan  # slow on purpose: only when asked for

        check_plan(graph, made)
    for line in _said(options, stages, external, made):
        print(line)
    if options.svg:
        _write(options.svg, made.svg())
    if options.curve:
        curves = {name: live_bytes(g, external=external) for name, g in stages.items()}
        _write(options.curve, curve_svg(curves, budget_bytes=options.budget, title=options.model))
    if options.tradeoff:
        written, asked = stages["as written"], {"effort": options.effort, "progress": _progress()}
        points = tradeoff(written, external=external, **asked)
        _write(options.tradeoff, tradeoff_svg({"recomputed": points}, log=True))
    return _within(options, made)


def _check_places(paths: Sequence[str | None]) -> None:
    """That pictures can be written, before a search that takes minutes."""
    for path in filter(None, paths):
        if Path(path).is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR), path)
        if not Path(path).absolute().parent.is_dir():
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT), path)


def _made(
    options: argparse.Namespace, graph: Graph, external: frozenset[int]
) -> tuple[Stages, Plan]:
    """What was asked for, and the plan of it.

    A budget is for the arena, where buffers are aligned and may leave holes; what comes out over it
    is tried again with so much less.
    """
    stages = {"as written": graph}
    if options.order:
        from byparts_memplan.order import order  # only who asks for it waits for it

        graph = stages["in order"] = order(graph, external=external)
    budget = options.budget
    for _ in range(TRIES):
        limits = {"budget_bytes": budget, "max_extra_cost": options.max_extra_cost}
        if any(limit is not None for limit in limits.values()):
            stages["recomputed"] = _recomputed(options, graph, external, **limits)
        made = _planned(options, list(stages.values())[-1], external)
        if budget is None or made.arena_bytes <= options.budget:
            break
        budget = max(budget - (made.arena_bytes - options.budget), 0)
    return stages, made


def _recomputed(
    options: argparse.Namespace, graph: Graph, external: frozenset[int], **limits: Any
) -> Graph:
    """Where it cannot be, with the budget for an arena that can, which is more than a peak."""
    asked = {"effort": options.effort, "progress": _progress(), **limits}
    try:
        return rematerialize(graph, external=external, **asked)
    except BudgetError as error:
        arena = _planned(options, error.graph, external).arena_bytes
        add_note(error, f"the smallest arena found: --budget {arena}")
        raise


def _progress() -> Callable[[str], None] | None:
    """What goes on, for a person at a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    return lambda line: print(line, file=sys.stderr)


def _planned(options: argparse.Namespace, graph: Graph, external: frozenset[int]) -> Plan:
    if options.planner is None:
        from byparts_memplan.plan import plan

        return plan(graph, external=external, alignment=options.alignment)
    planner = parts.get("planners", options.planner)
    made = planner(graph, external=external, alignment=options.alignment)
    if not isinstance(made, Plan):
        what = type(made).__name__
        raise PlanError(f"planner {options.planner!r} gives a {what}; only a Plan has a report")
    return made


def _said(
    options: argparse.Namespace, stages: Stages, external: frozenset[int], made: Plan
) -> list[str]:
    from byparts_memplan.json_format import plan_to_json
    from byparts_memplan.report import report

    if options.json:
        return [plan_to_json(made)]
    lines: list[str] = []
    if options.report or not options.draw:
        lines += [*_summary(stages, external, options.budget), ""]
        lines += [report(made, list(stages.values())[-1], rows=max(options.rows, 0))]
    if options.draw:
        colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        lines += [*([""] if lines else []), made.draw(colour=colour)]
    return [*lines, *(["", "checked: every read finds its own bytes"] if options.check else [])]


def _summary(stages: Stages, external: frozenset[int], budget: int | None) -> list[str]:
    """What each stage did to the bytes that are alive at the worst step, and what it cost."""
    graph = stages["as written"]
    lines = [
        f"{len(graph.nodes)} nodes, {len(graph.inputs)} inputs, {len(external)} of them outside "
        f"the arena, {len(graph.outputs)} outputs"
    ]
    if len(stages) == 1:
        return lines
    steps = {name: Steps(g, external=external) for name, g in stages.items()}
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


def _dim(text: str) -> tuple[str, int]:
    found = re.fullmatch(r"([^=]+)=(\d+)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not like n=32")
    return found[1], int(found[2])


def _shape(text: str) -> tuple[str, tuple[int, ...]]:
    found = re.fullmatch(r"([^=]+)=((\d+(,\d+)*)?)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not like x=32,784")
    return found[1], tuple([int(d) for d in found[2].split(",") if d])


def _bytes(text: str) -> int:
    try:
        return size_bytes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _fraction(text: str) -> float:
    try:
        number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not like 0.01, or 1%")
    return number


def _alignment(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes, such as 64")
    return int(text)
