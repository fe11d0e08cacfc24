"""A program as a table: what runs where, on which bytes, how long, and what all of it takes.

The steps of a body stand below its node, indented; their bytes are counted from the beginning of
the body's own arena, which is a part of the workspace of the node, or from an input of the body.
No line is wider than the terminal, or than `width`: long lists are shortened (`columns.py`).
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from textwrap import wrap
from typing import Optional

from byparts_graph_ir import (
    Fused,
    Graph,
    GraphError,
    Kernel,
    Loop,
    Node,
    ReversedLoop,
    Stage,
    Value,
)
from byparts_runtime.inspect.columns import Cell, Column, Row, table
from byparts_runtime.inspect.profile import Profile
from byparts_runtime.inspect.rounds import BodyProfile
from byparts_runtime.memory.plan import separate
from byparts_runtime.run.loaded import Loaded
from byparts_runtime.run.machine import Machine
from byparts_runtime.run.step import aliased_nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_runtime.building.body import Body

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
    Column("workspace", right=True, optional=4),
    Column("where", least=9, tail=True),
    Column("time", right=True),
)


def explain(
    history: Sequence[Stage],
    machine: Machine,
    profile: Optional[Profile] = None,
    width: Optional[int] = None,
    change: str = "",
    *,
    source: bool = False,
    stages: bool = False,
) -> str:
    """The stages that made the graph, a row for each node, the totals, and on request more.

    Args:
        history: the stages that made the graph.
        machine: the program.
        profile: how long its steps took, if that is known.
        width: of a line, in letters.
        change: on which kernels it runs, if that changes.
        source: whether the code that was generated for the nodes follows.
        stages: whether it follows how that code came about.

    Raises:
        GraphError: `width` is no number of letters, or too few for a table.
    """
    most = _width(width)
    loaded = machine.loaded
    rows = list(_Rows(loaded, profile).rows())
    lines = [line for stage in history for line in _wrapped(str(stage), 2, most)]
    last = [f"kernels    {change}"] if change else []
    totals = [*_totals(machine, profile), *last]
    totals = [line for total in totals for line in _wrapped(total, 11, most)]
    body = [line for row in table(_COLUMNS, rows, most) for line in _wrapped(row, 6, most)]
    more = [_stages_of] * stages + [_source_of] * source
    texts = [text for text_of in more for text in _texts(loaded, text_of)]
    return "\n".join([*lines, "", *body, "", *totals, *texts])


def _source_of(kernel: Kernel) -> str:
    return kernel.source


def _stages_of(kernel: Kernel) -> str:
    return "" if kernel.stages is None else kernel.stages()


def _texts(loaded: Loaded, text_of: Callable[[Kernel], str]) -> Iterator[str]:
    """Texts about the kernels of a graph and of its bodies; equal texts once."""
    names: dict[str, list[str]] = {}
    for node in loaded.graph.nodes:
        chosen = loaded.kernels(node)
        if text := text_of(chosen.kernel):
            names.setdefault(text, []).append(_op(node))
        for body in chosen.bodies:
            yield from _texts(body.loaded, text_of)
    for text, ops in names.items():
        yield f"\n{', '.join(f'{n} of {op}' for op, n in Counter(ops).items())}:\n{text}"


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
    """The name of the op of a node; for a region, the ops that it is made of."""
    if not isinstance(node.op, Fused):
        return node.op.name
    names = Counter(n.op.name for n in node.op.graph.nodes)
    parts = [name if count == 1 else f"{count} {name}" for name, count in names.items()]
    return f"fused({', '.join(parts if len(parts) <= 5 else [*parts[:4], '...'])})"


class _Rows:
    """The rows of a graph that is placed: of a program, or of a body in one.

    Args:
        loaded: the graph, its plan and its kernels.
        profile: how long its steps took, if that is known.
        indent: how deep in bodies it is.
    """

    def __init__(
        self,
        loaded: Loaded,
        profile: Profile | BodyProfile | None,
        indent: int = 0,
    ) -> None:
        self.graph, self.locations = loaded.graph, loaded.plan.locations
        self.kernels, self.profile, self.indent = loaded.kernels, profile, indent
        self.names = _names(self.graph)
        self.aliased = aliased_nodes(self.graph, self.locations)

    def rows(self) -> Iterator[Row]:
        """Rows for the nodes; below a node with bodies a row for each, and the body's own rows."""
        i = -1
        for node in self.graph.nodes:
            runs = node not in self.aliased
            i += runs
            time = _time(self.profile.step_s[i]) if self.profile and runs else ""
            chosen = self.kernels(node)
            backend, number = (chosen.backend.name, str(i + 1)) if runs else ("", "")
            where = re.split(r"[/\\](?=[^/\\]+:\d)", node.where)[-1]  # the file without its folder
            yield (number, self._indented(_op(node)), backend, *self._columns(node), where, time)
            profiles = self.profile.bodies[i] if self.profile else [None] * len(chosen.bodies)
            for body, profile in zip(chosen.bodies, profiles, strict=True):
                yield self._body(node, body, profile)
                yield from _Rows(body.loaded, profile, self.indent + 2).rows()

    def _body(self, node: Node, body: Body, profile: Optional[BodyProfile]) -> Row:
        """The row that begins a body: which, how many rounds, its arena."""
        rounds = _rounds(node) if profile is None else _times(profile.rounds)
        name = body.name.partition(" of ")[0]  # the op stands above
        arena = body.arena_bytes
        spots = f"workspace [0, {arena})" if arena else ""
        time = _time(sum(profile.step_s)) if profile else ""
        return ("", self._indented(f" {name}"), "", "", rounds, spots, "", "", "", time)

    def _indented(self, text: str) -> str:
        return " " * self.indent + text

    def _columns(self, node: Node) -> tuple[Cell, ...]:
        inputs = tuple(self._name(v) for v in node.inputs)
        outputs = tuple(f"{self._name(v)}: {v.type}" for v in node.outputs)
        size = 0 if node in self.aliased else self.kernels(node).workspace_bytes
        spots = tuple(map(self._spot, node.outputs))
        return inputs, outputs, spots, self._note(node), f"{size:,}" if size else ""

    def _name(self, v: Value) -> str:
        return f"%{self.names[self.graph.ids[v]]}"

    def _spot(self, v: Value) -> str:
        at = self.locations[self.graph.ids[v]]
        base = "" if at.root is None else f"%{self.names[at.root]} "
        return f"{base}[{at.offset}, {at.offset + v.type.size_bytes})"

    def _note(self, node: Node) -> Cell:
        ids, locations = self.graph.ids, self.locations
        word = "is" if node in self.aliased else "over"  # "over": written in place of an input
        notes = []
        for o in node.outputs:
            there = locations[ids[o]]
            for i in dict.fromkeys(node.inputs):
                here = locations[ids[i]]
                if o.type.size_bytes and (here.root, here.offset) == (there.root, there.offset):
                    notes.append(f"{word} {self._name(i)}")
                    break
            else:
                notes += ["view"] if word == "is" else []
        return tuple(dict.fromkeys(notes))


def _rounds(node: Node) -> str:
    """The number of rounds of a body of a loop, as far as that is known before it runs."""
    control = node.op.control(*[v.type for v in node.inputs])
    loop = control.loop if isinstance(control, ReversedLoop) else control
    if not isinstance(loop, Loop) or loop.rounds is None:
        return ""
    return _times(loop.rounds) if loop.cond is None else f"at most {_times(loop.rounds)}"


def _times(rounds: int) -> str:
    return f"{rounds:,} round{'s' * (rounds != 1)}"


def _time(s: float) -> str:
    return f"{s * 1e6:.1f} us"


def _totals(machine: Machine, profile: Optional[Profile]) -> list[str]:
    loaded = machine.loaded
    graph, signature, plan = loaded.graph, loaded.signature, loaded.plan
    naive = separate(
        graph, external=signature.outside, alignment=loaded.options.alignment
    ).arena_bytes
    bound = getattr(plan, "lower_bound_bytes", None)
    constants = sum(v.type.size_bytes for v in signature.constant_values(graph))
    workspace = max((loaded.kernels(n).workspace_bytes for n in graph.nodes), default=0)
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
        *[f"without    {why}" for why in loaded.parts.skipped],
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
    names = [getattr(v, "name", "") for v in graph.values]
    count = Counter(names)
    return [name if name and count[name] == 1 else str(i) for i, name in enumerate(names)]
