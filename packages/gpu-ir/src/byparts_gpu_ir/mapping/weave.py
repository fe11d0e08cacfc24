"""From the phases of a row to what one thread does.

A shared loop becomes a loop over the member's own rounds.  What all rounds add to becomes a number
in a register of each member, which the team puts together after the loop.  Between phases stands a
barrier where `meetings` says so.  A block may have more teams than there are rows left: its last
teams then skip all they would do, but arrive at each barrier and exchange, as all threads must.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from byparts_gpu_ir.mapping.independence import used, written
from byparts_gpu_ir.mapping.machine import Machine
from byparts_gpu_ir.mapping.meetings import ALL, LEADERS, ONE, Meetings, Touch
from byparts_gpu_ir.mapping.phases import (
    Alone,
    Chosen,
    Phase,
    Repeated,
    Shared,
    all_phases,
)
from byparts_gpu_ir.mapping.rows import Rows
from byparts_gpu_ir.mapping.shares import shares_of
from byparts_gpu_ir.mapping.storage import Storage
from byparts_gpu_ir.mapping.sums import (
    Partial,
    collected,
    partial_of,
    posted,
    within_warps,
)
from byparts_gpu_ir.mapping.team import Team
from byparts_tensor_ir.expression import Expr, const, variable
from byparts_tensor_ir.nest import has_meeting
from byparts_tensor_ir.statement import Buffer, For, If, Statement, Store, rebuilt
from byparts_tensor_ir.substitute import buffers_replaced, in_statements

Coordinates = tuple[Expr, ...]


@dataclass(frozen=True)
class Woven:
    """The code of one thread.

    Attributes:
        body: its statements.
        locals: shared memory, and memory of the thread.
        workspace: global memory.
    """

    body: tuple[Statement, ...]
    locals: tuple[Buffer, ...]
    workspace: tuple[Buffer, ...]


class Weaver:
    """Weaves the phases of one row into the statements of a thread.

    Args:
        rows: what is done for a row.
        phases: the same as phases of a team.
        team: who does it.
        thread: the number of the thread in its block.
        machine: what a block may use.
    """

    def __init__(
        self, rows: Rows, phases: Sequence[Phase], team: Team, thread: Expr, machine: Machine
    ) -> None:
        self.team, self.phases, self.rows = team, phases, rows
        self.member, self.number = team.member(thread), team.number(thread)
        shared = [p for p in all_phases(phases) if isinstance(p, Shared)]
        self.shares = shares_of(shared, team.size)
        storage = Storage(rows, phases, self.shares, team, self.number, machine)
        self.places = storage.places
        self.meetings = Meetings(self._seen)
        self.partials: dict[Store, Partial] = {}

    def woven(self) -> Woven:
        """The code of one thread for its row."""
        body = tuple(self.statements(self.phases))
        memory = [p.buffer for p in self.places.values()]
        memory += [b for p in self.partials.values() for b in p.buffers]
        inside = [b for b in memory if b.scope != "global"]
        outside = [b for b in memory if b.scope == "global"]
        return Woven(body, tuple(inside), tuple(outside))

    def statements(self, phases: Sequence[Phase]) -> list[Statement]:
        """Statements of some phases, with the barriers that they need."""
        out: list[Statement] = []
        for p in phases:
            if isinstance(p, Alone):
                out += self._alone(p.statement)
            elif isinstance(p, Shared):
                out += self._shared(p)
            elif isinstance(p, Repeated):
                out += self._repeated(p)
            else:
                out += self._chosen(p)
        return out

    def _alone(self, s: Statement) -> list[Statement]:
        """Every member does what only changes its own memory; else the first does it."""
        own = all(self._copied(b) for b in written([s]))
        meet = self.meetings.before(self.meetings.of([s], ALL if own else ONE))
        placed = self._placed([s])
        if own or self.team.size == 1:
            return [*meet, *placed]
        return [*meet, If(self.member.equal(0), placed)]

    def _repeated(self, p: Repeated) -> list[Statement]:
        """The second round tells what the first leaves behind."""
        before = self.meetings.before(self.meetings.of([replace(p.loop, body=())], ALL))
        outside = list(self.meetings.touches)
        self.statements(p.phases)
        self.meetings.again(p.loop.var, outside)
        body = self.statements(p.phases)
        return [*before, For(p.loop.var, tuple(body))]

    def _chosen(self, p: Chosen) -> list[Statement]:
        condition = If(p.condition, ())
        before = self.meetings.before(self.meetings.of([condition], ALL))
        skipped = list(self.meetings.touches)
        body = self.statements(p.phases)
        self.meetings.touches += [t for t in skipped if t not in self.meetings.touches]
        (placed,) = self._placed([condition])
        assert isinstance(placed, If), "a condition of the function's own"
        return [*before, If(placed.condition, tuple(body))]

    # -- shared loops --------------------------------------------------------------------------

    def _shared(self, p: Shared) -> list[Statement]:
        partials = [self._partial(s) for s in p.sums]
        by = {x.store: x for x in partials}

        def added(s: Statement) -> Sequence[Statement] | None:
            if isinstance(s, Store) and s in by:
                return [by[s].add(s.values)]
            return None

        body = rebuilt(p.body, added)
        share = self.shares[p]
        before = self.meetings.before(self.meetings.of_round(body, p.loops, share))
        begin = [x.begin() for x in partials]
        loop = self._own_rounds(p, body)
        return [*before, *begin, *loop, *self._summed(partials)]

    def _own_rounds(self, p: Shared, body: Sequence[Statement]) -> list[Statement]:
        """A loop over the rounds of this member."""
        share, name = self.shares[p], p.loops[-1].name
        k = variable(f"{name}_o", share.rounds) if share.rounds > 1 else const(0)
        lane = variable(f"{name}_v", share.lanes) if share.lanes > 1 else const(0)
        vector = k * self.team.size + self.member
        values = share.indices(vector, lane)
        by = {x.var: v + x.var.attr.low for x, v in zip(p.loops, values, strict=True)}
        held = tuple([i for i in (k, lane) if i.op == "var"])
        inner = in_statements(self._placed(body, held), by)
        if share.lanes > 1:
            inner = (For(lane, inner, "vectorize"),)
        if not share.even:
            inner = (If(vector < share.vectors, inner),)
        return list(inner) if k.op == "const" else [For(k, inner, share.kind)]

    def _partial(self, s: Store) -> Partial:
        if s not in self.partials:
            self.partials[s] = partial_of(s, len(self.partials), self.team)
        return self.partials[s]

    def _summed(self, partials: Sequence[Partial]) -> list[Statement]:
        """The team puts together what its members have, and stores it."""
        out = within_warps(partials, self.team)
        posts = [b for x in partials for b in x.posts]
        if posts:
            out += self.meetings.before([Touch(b, True, (), LEADERS) for b in posts])
            out += posted(partials, self.team, self.member, self.number)
            out += self.meetings.before([Touch(b, False, (), ALL) for b in posts])
            out += collected(partials, self.team, self.number)
        for x in partials:
            whole = tuple([a[()] for a in x.parts])
            s = replace(x.store, values=whole, over=(), begins=False)
            out += self._alone(replace(s, reducer=None) if x.store.begins else s)
        return out

    # -- memory --------------------------------------------------------------------------------

    def _copied(self, b: Buffer) -> bool:
        """Whether a member's writes are to memory of its own."""
        return b in self.places and not self.places[b].met

    def _seen(self, b: Buffer) -> Buffer | None:
        """The buffer that represents b's memory, if other members see it; else `None`."""
        if b in self.places:
            return b if self.places[b].met else None
        return None if b.scope in ("local", "register") else self.rows.around.memory(b)

    def _placed(
        self, statements: Sequence[Statement], round: Coordinates = ()
    ) -> tuple[Statement, ...]:
        """Statements on the memory that buffers have.

        Args:
            statements: of a row.
            round: which of its rounds the member is at, in a shared loop.
        """

        def at(b: Buffer, index: tuple[Expr, ...]) -> tuple[Expr, ...]:
            place = self.places[b]
            if place.owned:
                return round
            return (*place.before, *index, *(round[-1:] if place.lanes > 1 else ()))

        return buffers_replaced(statements, {b: p.buffer for b, p in self.places.items()}, at)


def guarded(statements: Sequence[Statement], alive: Expr) -> tuple[Statement, ...]:
    """Statements of which a thread that has no row does the meetings and what is its own."""
    out: list[Statement] = []
    for s in statements:
        if has_meeting([s]):
            inner = guarded(s.body, alive) if isinstance(s, (For, If)) else ()
            out.append(replace(s, body=inner) if isinstance(s, (For, If)) else s)
        elif all(b.scope in ("local", "register") for b in used([s])):
            out.append(s)
        elif out and isinstance(last := out[-1], If) and last.condition is alive:
            out[-1] = If(alive, (*last.body, s))
        else:
            out.append(If(alive, (s,)))
    return tuple(out)
