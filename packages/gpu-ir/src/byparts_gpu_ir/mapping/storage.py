"""Places the local buffers of a row while a team works on it.

    in a thread     each member has a copy, which all write alike, or memory for one round
    by elements     a member has the elements of the rounds that it takes, in registers
    in the team     shared memory
    in the row      global memory, a part of it for each row

The nearest that will do: copies need no meeting, nor do elements that only their owner touches.
Shared memory comes last to who asks last, and what does not fit is global.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from byparts_gpu_ir.launches import is_static, size_bytes
from byparts_gpu_ir.mapping.independence import used, written
from byparts_gpu_ir.mapping.machine import Machine
from byparts_gpu_ir.mapping.phases import (
    Alone,
    Phase,
    Shared,
    all_phases,
    statements_of,
)
from byparts_gpu_ir.mapping.rows import Rows, indices_of
from byparts_gpu_ir.mapping.shares import Share
from byparts_gpu_ir.mapping.team import Team
from byparts_tensor_ir.expression import Expr, const
from byparts_tensor_ir.statement import Buffer
from byparts_tensor_ir.substitute import variables

_COPIED = 16  # elements that every member holds a copy of
_OWNED = 32  # elements of a row that a member holds
_SCRATCH_BYTES = 512  # of a thread


@dataclass(frozen=True)
class Place:
    """The place of a buffer in memory.

    Attributes:
        buffer: its memory.
        before: indices in front of its own.
        owned: whether a member has the elements of its own rounds, by the number of the round.
        lanes: rounds that are done at once and have an element each, by the last index.
        met: whether members see what others write, so that they may have to meet.
    """

    buffer: Buffer
    before: tuple[Expr, ...] = ()
    owned: bool = False
    lanes: int = 1
    met: bool = False


class Storage:
    """The places of the own buffers of rows.

    Args:
        rows: whose buffers they are.
        phases: what is done for a row.
        shares: how the shared loops are divided.
        team: who does it.
        number: which team of its block a thread is of.
        machine: how much shared memory there is.

    Attributes:
        places: of each own buffer of the rows.
    """

    def __init__(
        self,
        rows: Rows,
        phases: Sequence[Phase],
        shares: dict[Shared, Share],
        team: Team,
        number: Expr,
        machine: Machine,
    ) -> None:
        self.rows, self.team, self.shares, self.number = rows, team, shares, number
        self.all = list(all_phases(phases))
        self.left_bytes = machine.shared_bytes
        touched = dict.fromkeys(b for p in self.all for b in used(statements_of(p)))
        mine = [b for b in touched if b in rows.around.locals - rows.around.live]
        copied = self._copied(mine)
        self.places = {b: self._place(b, copied) for b in mine}

    def _place(self, b: Buffer, copied: set[Buffer]) -> Place:
        if not is_static(b):
            return self._in_row(b)
        if self.team.size == 1:
            return Place(b) if size_bytes(b) <= _SCRATCH_BYTES else self._in_row(b)
        if b in copied:
            return Place(b)
        if (lanes := self._scratch(b)) and lanes * size_bytes(b) <= _SCRATCH_BYTES:
            shape = (*b.shape, const(lanes)) if lanes > 1 else b.shape
            return Place(replace(b, shape=shape), lanes=lanes)
        share = self._owner(b)
        if share is not None and share.elements <= _OWNED:
            shape = tuple([const(n) for n in (share.rounds, share.lanes) if n > 1])
            return Place(replace(b, shape=shape), owned=True)
        size = size_bytes(b) * self.team.teams
        if size > self.left_bytes:
            return self._in_row(b)
        self.left_bytes -= -(-size // 16) * 16
        many = self.team.teams > 1
        shape = (*((const(self.team.teams),) if many else ()), *b.shape)
        before = (self.number,) if many else ()
        return Place(replace(b, shape=shape, scope="shared"), before, met=True)

    def _in_row(self, b: Buffer) -> Place:
        shape = (*[v.attr.extent for v in self.rows.loops], *b.shape)
        before = tuple([v - v.attr.low for v in self.rows.loops])
        return Place(replace(b, shape=shape, scope="global"), before, met=True)

    def _copied(self, mine: Iterable[Buffer]) -> set[Buffer]:
        """The buffers of which each member holds a copy: small, and written by all alike."""
        static = filter(is_static, mine)
        small = {b for b in static if prod(int(n.attr) for n in b.shape) <= _COPIED}
        small -= {b for p in self._shared() for b in _stored_by_rounds(p)}
        while True:
            before = len(small)
            for p in self.all:
                if isinstance(p, Alone):
                    targets = set(written([p.statement]))
                    small -= set() if targets <= small else targets
            if len(small) == before:
                return small

    def _shared(self) -> list[Shared]:
        return [p for p in self.all if isinstance(p, Shared)]

    def _users(self, b: Buffer) -> list[Phase]:
        return [p for p in self.all if b in used(statements_of(p))]

    def _scratch(self, b: Buffer) -> int:
        """Rounds that run at once in the one shared loop that begins the buffer anew; else 0."""
        (user, *others) = self._users(b)
        if others or not isinstance(user, Shared) or any(b in s.targets for s in user.sums):
            return 0
        mine = {x.var for x in user.loops}
        if any(variables(i) & mine for at in indices_of(b, user.body) for i in at):
            return 0
        return self.shares[user].lanes

    def _owner(self, b: Buffer) -> Share | None:
        """The share of rounds by whose index the buffer is always accessed; else `None`."""
        shares = []
        for p in self._users(b):
            if not isinstance(p, Shared) or any(b in s.targets for s in p.sums):
                return None
            if any(at != tuple([x.var for x in p.loops]) for at in indices_of(b, p.body)):
                return None
            shares.append(self.shares[p])
        return shares[0] if len(set(shares)) == 1 else None


def _stored_by_rounds(p: Shared) -> Iterator[Buffer]:
    """Buffers that rounds of a shared loop store to, without the sums."""
    sums = {t for s in p.sums for t in s.targets}
    yield from (b for b in written(p.body) if b not in sums)
