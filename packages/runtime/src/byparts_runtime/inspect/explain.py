"""A program as a table: what runs where, on which bytes, how long, and what all of it takes.

No line is wider than the terminal, or than `width`: long lists are shortened (`columns.py`).
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Sequence
from textwrap import wrap
from typing import Optional

from byparts_graph_ir import Fused, Graph, GraphError, Node, Stage, Value
from byparts_runtime.inspect.columns import Cell, Column, table
from byparts_runtime.inspect.profile import Profile
from byparts_runtime.memory.plan import separate
from byparts_runtime.run.machine import Machine

WIDTH = 100  # where there is no terminal
_LEAST = 40
_COLUMNS = (
    Column("step", right=True),
    Column("op", least=14),
    Column("backend", optional=3),
    Column("inputs", least=10),
    Column("outputs", least=22),
    Column("bytes", least=20, optional=2),
    Column("note", least=8, optional=1),
    Column("where", least=9, tail=True),
    Column("time", right=True),
)


def explain(
    stages: Sequence[Stage],
    machine: Machine,
    profile: Optional[Profile] = None,
    width: Optional[int] = None,
) -> str:
    """The stages that made the graph, a row for each node, and the totals.

    Raises:
        GraphError: `width` is no number of letters, or too few for a table.
    """
    most = _width(width)
    graph = machine.loaded.graph
    steps = machine.cycle().all_steps
    numbers = {step.node: i for i, step in enumerate(steps)}
    rows = []
    for node in graph.nodes:
        i = numbers.get(node)
        time = f"{profile.step_s[i] * 1e6:.1f} us" if profile and i is not None else ""
        backend = "" if i is None else steps[i].backend
        number = "" if i is None else str(i + 1)
        where = re.split(r"[/\\](?=[^/\\]+:\d)", node.where)[-1]  # the file without its folder
        rows.append((number, _op(node), backend, *_columns(node, machine), where, time))
    made = [line for stage in stages for line in _wrapped(str(stage), 2, most)]
    totals = [line for total in _totals(machine, profile) for line in _wrapped(total, 11, most)]
    body = [line for row in table(_COLUMNS, rows, most) for line in _wrapped(row, 6, most)]
    return "\n".join([*made, "", *body, "", *totals])


def _width(width: Optional[int]) -> int:
    if width is None:
        return max(shutil.get_terminal_size((WIDTH, 24)).columns, _LEAST)
    if not hasattr(width, "__index__") or width < _LEAST:
        raise GraphError(
            f"explain: width is {width!r:.40}; give a number of letters, from {_LEAST}"
        )
    return width


def _wrapped(line: str, indent: int, width: int) -> list[str]:
    """The line in lines; those after the first are indented."""
    if len(line) <= width:
        return [line]
    return wrap(line, width, subsequent_indent=" " * indent, break_on_hyphens=False)


def _op(node: Node) -> str:
    """Its name; of a region, what it is made of."""
    if not isinstance(node.op, Fused):
        return node.op.name
    names = Counter(n.op.name for n in node.op.graph.nodes)
    parts = [name if count == 1 else f"{count} {name}" for name, count in names.items()]
    return f"fused({', '.join(parts if len(parts) <= 5 else [*parts[:4], '...'])})"


def _columns(node: Node, machine: Machine) -> tuple[Cell, Cell, Cell, Cell]:
    graph = machine.loaded.graph
    names = _names(graph)
    inputs = tuple(f"%{names[graph.ids[v]]}" for v in node.inputs)
    outputs = tuple(f"%{names[graph.ids[v]]}: {v.type}" for v in node.outputs)
    spots = tuple(_spot(v, machine, names) for v in node.outputs)
    return inputs, outputs, spots, _note(node, machine, names)


def _spot(v: Value, machine: Machine, names: Sequence[str]) -> str:
    at = machine.loaded.plan.locations[machine.loaded.graph.ids[v]]
    base = "" if at.root is None else f"%{names[at.root]} "
    return f"{base}[{at.offset}, {at.offset + v.type.size_bytes})"


def _note(node: Node, machine: Machine, names: Sequence[str]) -> Cell:
    ids, locations = machine.loaded.graph.ids, machine.loaded.plan.locations
    word = "is" if node in machine.aliased else "over"  # "over": written in place of an input
    notes = []
    for o in node.outputs:
        there = locations[ids[o]]
        for i in dict.fromkeys(node.inputs):
            here = locations[ids[i]]
            if o.type.size_bytes and (here.root, here.offset) == (there.root, there.offset):
                notes.append(f"{word} %{names[ids[i]]}")
                break
        else:
            notes += ["view"] if word == "is" else []
    return tuple(dict.fromkeys(notes))


def _totals(machine: Machine, profile: Optional[Profile]) -> list[str]:
    loaded = machine.loaded
    graph, signature, plan = loaded.graph, loaded.signature, loaded.plan
    naive = separate(
        graph, external=signature.outside, alignment=loaded.options.alignment
    ).arena_bytes
    bound = getattr(plan, "lower_bound_bytes", None)
    constants = sum(v.type.size_bytes for v in signature.constant_values(graph))
    kernels = loaded.placed.schedule.compiled.kernels
    workspace = max((kernels(n).workspace_bytes for n in graph.nodes), default=0)
    persistent = loaded.placed.persistent_bytes
    lines = [
        f"arena      {plan.arena_bytes:,} bytes{_shared(machine)}",
        f"naive      {naive:,} bytes, each value on its own",
        *([] if bound is None else [f"bound      {bound:,} bytes, alive at one time"]),
        *([f"workspace  {workspace:,} bytes of the arena at most, for one step"] * bool(workspace)),
        *([f"persistent {persistent:,} bytes that kernels keep"] * bool(persistent)),
        f"variables  {sum(v.size_bytes for v in machine.variables):,} bytes",
        f"commit     {_commit(machine)}",
        *([f"capture    {note}"] if (note := machine.cycle().note) else []),
        f"constants  {constants:,} bytes",
    ]
    return [*lines, f"time       {profile.total_s * 1e6:.1f} us a run"] if profile else lines


def _shared(machine: Machine) -> str:
    if not machine.shares:
        return ""
    arena = machine.arena
    return f" of {arena.size_bytes:,}, an arena shared by {arena.programs} programs"


def _commit(machine: Machine) -> str:
    copied = machine.copied()
    there = len(machine.loaded.signature.updates) - len(copied)
    copies = f"{sum(v.type.size_bytes for v in copied):,} bytes copied a run"
    return copies + f", {there} variables updated in place" * (there > 0)


def _names(graph: Graph) -> list[str]:
    """The name of a value if no other has it, as for constants; else its number."""
    given = [getattr(v, "name", "") for v in graph.values]
    count = Counter(given)
    return [name if name and count[name] == 1 else str(i) for i, name in enumerate(given)]
