"""Which statements of a function are one piece of a launch.

Statements that have rows in common are one piece where that costs less than a launch for each: what
a row reads twice is near the second time, but few rows keep only a part of the GPU busy.  Time is
reckoned as a launch, and the bytes that pass at the speed that so many threads reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from byparts_kernels_cuda.mapping.choice import team_for
from byparts_kernels_cuda.mapping.independence import Surroundings, rounds, used
from byparts_kernels_cuda.mapping.machine import Machine
from byparts_kernels_cuda.mapping.phases import Phase, phases_of
from byparts_kernels_cuda.mapping.rows import Rows, rows_of
from byparts_kernels_cuda.mapping.team import Team
from byparts_kernels_cuda.mapping.traffic import bytes_of
from byparts_tensor_ir.expression import Expr
from byparts_tensor_ir.statement import For, Func, If, Statement
from byparts_tensor_ir.substitute import buffers_replaced

_ROUND_S = 5e-9  # of a loop of one thread, at least


@dataclass(frozen=True)
class Stage:
    """Statements that are one piece.

    Attributes:
        conditions: around all of them.
        rows: the statements.
        machine: that runs them.
    """

    conditions: tuple[Expr, ...]
    rows: Rows
    machine: Machine

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """What a team does for a row."""
        return phases_of(self.rows.body, self.rows.around)

    @cached_property
    def team(self) -> Team:
        """Who does a row."""
        return team_for(self.rows, self.phases, self.machine)

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
        threads = self.rows.count * self.team.size
        speed = self.machine.bytes_a_second * min(1.0, threads / self.machine.threads)
        alone = longest(self.rows.body) / self.team.size * _ROUND_S
        return self.machine.launch_s + max(bytes_of(self.nest) / speed, alone)

    @property
    def least_s(self) -> float:
        """How long it would take if it kept the GPU busy."""
        return self.machine.launch_s + bytes_of(self.nest) / self.machine.bytes_a_second


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
        self.items = list(_flat(func.body, ()))

    def found(self) -> list[Stage]:
        """The stages, in order."""
        stages: list[Stage] = []
        first = 0  # of the items of the last stage
        for k, (conditions, _) in enumerate(self.items):
            new = self._stage(k, k + 1)
            if stages and stages[-1].conditions == conditions:
                both = self._stage(first, k + 1)
                if both.seconds < stages[-1].seconds + new.seconds:
                    stages[-1] = both
                    continue
            stages.append(new)
            first = k
        return stages

    def _stage(self, first: int, end: int) -> Stage:
        """Some items as one stage."""
        statements = tuple([s for _, s in self.items[first:end]])
        conditions = self.items[first][0]
        others = [s for _, s in (*self.items[:first], *self.items[end:])]
        others += [If(c, ()) for c in conditions]
        away = {b for b in used(others) if b in self.twins}
        while True:
            by = {b: self.twins[b] for b in away}
            here = replace(self.around, locals=frozenset(self.twins) - away)
            rows = rows_of(buffers_replaced(statements, by), here)
            if not rows.scattered():
                return Stage(conditions, rows.without_dimensions(), self.machine)
            away |= set(rows.scattered())


def _flat(
    body: Sequence[Statement], conditions: tuple[Expr, ...]
) -> Iterator[tuple[tuple[Expr, ...], Statement]]:
    """The statements inside of conditions that hold for the whole function."""
    for s in body:
        if isinstance(s, If):
            yield from _flat(s.body, (*conditions, s.condition))
        else:
            yield conditions, s


def longest(body: Sequence[Statement]) -> int:
    """Rounds of the innermost loops, one after the other."""
    total = 0
    for s in body:
        if isinstance(s, For):
            total += rounds([s]) * max(1, longest(s.body))
        elif isinstance(s, If):
            total += longest(s.body)
    return total
