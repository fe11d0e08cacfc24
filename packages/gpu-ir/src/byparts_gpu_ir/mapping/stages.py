"""Chooses the statements of a function that become one piece of a launch.

Statements that have rows in common are one piece where that costs less than a launch for each: what
a row reads twice is near the second time, but few rows keep only a part of the GPU busy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from byparts_gpu_ir.mapping.choice import resized, team_for
from byparts_gpu_ir.mapping.cost import seconds_of
from byparts_gpu_ir.mapping.independence import Surroundings, used
from byparts_gpu_ir.mapping.machine import Machine
from byparts_gpu_ir.mapping.parts import in_parts
from byparts_gpu_ir.mapping.phases import Phase, phases_of
from byparts_gpu_ir.mapping.rows import Rows, rows_of
from byparts_gpu_ir.mapping.team import Team
from byparts_gpu_ir.mapping.traffic import bytes_of
from byparts_tensor_ir.expression import Expr
from byparts_tensor_ir.statement import Buffer, For, Func, If, Statement
from byparts_tensor_ir.substitute import buffers_replaced, loads_replaced

_SLOW = 1.5  # times as long as the bytes take


@dataclass(frozen=True)
class Stage:
    """Statements that are one piece.

    Attributes:
        conditions: around all of them.
        rows: the statements.
        machine: that runs them.
        fixed_team: that takes a row, if it is chosen already; else the best one does.
    """

    conditions: tuple[Expr, ...]
    rows: Rows
    machine: Machine
    fixed_team: Team | None = None

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """The phases of a team's work for a row."""
        return phases_of(self.rows.body, self.rows.around)

    @property
    def team(self) -> Team:
        """The team that takes a row: the fixed one, else the best one."""
        return self.fixed_team or self.best_team

    @cached_property
    def best_team(self) -> Team:
        """The team that suits the rows best, if no other stage matters."""
        return team_for(self.rows, self.phases, self.machine)

    def in_blocks_of(self, threads: int) -> Stage:
        """The stage in blocks of so many threads, where that takes hardly longer; else itself."""
        team = resized(self.team, threads, self.phases)
        if team is None:
            return self
        other = replace(self, fixed_team=team)
        return other if other.seconds < self.seconds + self.machine.launch_s else self

    @cached_property
    def nest(self) -> tuple[Statement, ...]:
        """The statements inside of the loops over rows."""
        body = self.rows.body
        for v in reversed(self.rows.loops):
            body = (For(v, body),)
        return body

    @cached_property
    def seconds(self) -> float:
        """About how long it takes, as a launch of its own."""
        return self.machine.launch_s + seconds_of(
            self.phases, self.team, self.rows.count, bytes_of(self.nest), self.machine
        )

    @property
    def least_s(self) -> float:
        """The least time in seconds: if the stage keeps the whole GPU busy."""
        return self.machine.launch_s + bytes_of(self.nest) / self.machine.bytes_a_second


Item = tuple[tuple[Expr, ...], Statement]  # conditions around it, and a statement
Spans = list[tuple[int, int, Stage]]  # first item, one past the last, and their stage


class Stages:
    """The stages of a function.

    Args:
        func: with serial loops only.
        around: what there is before a part of it is looked at: all its local buffers.
        machine: that runs it.

    Attributes:
        twins: local buffer -> what it is in global memory, where several stages use it.
    """

    def __init__(self, func: Func, around: Surroundings, machine: Machine) -> None:
        self.around, self.machine = around, machine
        self.twins = {b: replace(b, scope="global") for b in func.locals}
        self.items: list[Item] = list(_flat(func.body, ()))
        self.known: dict[tuple[tuple[Statement, ...], frozenset[Buffer]], Stage] = {}
        self.uses: dict[Statement, list[Buffer]] = {}

    def found(self) -> list[Stage]:
        """The stages, in order: of the statements, or of their sums in two steps."""
        known = self._joined(self.items)
        for first, end, stage in reversed(known):
            if stage.seconds > _SLOW * stage.least_s:
                items = [*self.items[:first], *self._in_parts(first, end), *self.items[end:]]
                changed = self._joined(items)
                if _seconds(changed) < _seconds(known):
                    self.items, known = items, changed
        return [stage for _, _, stage in known]

    def _in_parts(self, first: int, end: int) -> list[Item]:
        """Some items, their sums in two steps where they may be."""
        out: list[Item] = []
        for k in range(first, end):
            conditions, s = self.items[k]
            steps = in_parts(s, self._stage(self.items, k, k + 1).rows, self.machine)
            if steps is None:
                out.append(self.items[k])
                continue
            self.twins |= {b: replace(b, scope="global") for b in steps.buffers}
            out += [(conditions, x) for x in (*steps.first, *steps.second)]
        return out

    def _joined(self, items: Sequence[Item]) -> Spans:
        """Items as stages: each joins the one before where that is faster."""
        stages: Spans = []
        for k in range(len(items)):
            stages.append((k, k + 1, self._stage(items, k, k + 1)))
            while (both := self._last_two(items, stages)) is not None:
                stages[-2:] = [both]
        return stages

    def _last_two(self, items: Sequence[Item], stages: Spans) -> tuple[int, int, Stage] | None:
        """The last two stages as one, where they have memory in common and that is faster."""
        if len(stages) < 2 or stages[-2][2].conditions != stages[-1][2].conditions:
            return None
        (first, middle, a), (_, end, b) = stages[-2:]
        if not _share(items[first:middle], items[middle:end]):
            return None
        both = self._stage(items, first, end)
        return (first, end, both) if both.seconds < a.seconds + b.seconds else None

    def _stage(self, items: Sequence[Item], first: int, end: int) -> Stage:
        """Some items as one stage."""
        statements = tuple([s for _, s in items[first:end]])
        conditions = items[first][0]
        elsewhere = [b for item in (*items[:first], *items[end:]) for b in self._locals(item[1])]
        asked = used([If(c, ()) for all_of_one, _ in items for c in all_of_one])
        away = frozenset([*elsewhere, *[b for b in asked if b in self.twins]])
        key = statements, away
        if key not in self.known:
            self.known[key] = self._made(statements, conditions, away)
        return self.known[key]

    def _locals(self, s: Statement) -> Sequence[Buffer]:
        """The local buffers that a statement uses."""
        if s not in self.uses:
            self.uses[s] = [b for b in used([s]) if b in self.twins]
        return self.uses[s]

    def _made(
        self,
        statements: tuple[Statement, ...],
        conditions: tuple[Expr, ...],
        away: frozenset[Buffer],
    ) -> Stage:
        """The stage, where these local buffers are global: others use them."""
        by = {b: self.twins[b] for b in away}
        here = replace(self.around, locals=frozenset(self.twins) - away)
        rows = rows_of(buffers_replaced(statements, by), here)
        if more := rows.scattered():
            return self._made(statements, conditions, away | {*more})
        known = tuple([loads_replaced(c, by, lambda _, index: index) for c in conditions])
        return Stage(known, rows.without_dimensions(), self.machine)


def _seconds(stages: Spans) -> float:
    return sum(stage.seconds for _, _, stage in stages)


def _share(some: Sequence[Item], others: Sequence[Item]) -> bool:
    """Whether two lists of items use some memory of more than one element."""
    mine, theirs = (used([s for _, s in items]) for items in (some, others))
    return any(b in theirs and (b.shape or b.scope != "global") for b in mine)


def _flat(body: Sequence[Statement], conditions: tuple[Expr, ...]) -> Iterator[Item]:
    """The statements inside of conditions that hold for the whole function."""
    for s in body:
        if isinstance(s, If):
            yield from _flat(s.body, (*conditions, s.condition))
        else:
            yield conditions, s
