"""Places barriers: points where the members of a team have to wait for each other.

Two touches of an element are in order if one thread makes both, or if all threads meet in between.
So what the team touched since it met last is kept in a list, and a touch that clashes with one of
them asks for a barrier first: one of the two is a write, both are perhaps of one element, and
perhaps of different threads.

Shared loops that are divided alike give equal rounds to one thread, so that a row that one loop
writes and the next reads, element by element, asks for no barrier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Union

from byparts_gpu_ir.mapping.shares import Share
from byparts_tensor_ir.expression import Expr, variable
from byparts_tensor_ir.schedule.legal import apart, same_round
from byparts_tensor_ir.statement import Barrier, Buffer, For, Statement, Store, walk
from byparts_tensor_ir.substitute import (
    expressions,
    in_statements,
    loads,
    substituted,
)

ALL, ONE, LEADERS = "all", "one", "leaders"  # every member; the first; the first of each warp
Who = Union[str, Share]


@dataclass(frozen=True)
class Touch:
    """A read or write of elements of a buffer.

    Attributes:
        buffer: what stands for its memory.
        writes: whether it is a write.
        at: the index, in the variables of `who`'s loops.
        who: which members do it.
        body: the statements around it in a round of a shared loop.
    """

    buffer: Buffer
    writes: bool
    at: tuple[Expr, ...]
    who: Who
    body: tuple[Statement, ...] = ()

    def clashes(self, other: Touch, loops: Sequence[Expr]) -> bool:
        """Whether there has to be a barrier between the two."""
        if self.buffer is not other.buffer or not (self.writes or other.writes):
            return False
        if apart(self.at, other.at):
            return False
        if self.who == ONE and other.who == ONE:
            return False
        if not isinstance(self.who, Share) or self.who != other.who:
            return True
        both = (*self.body, *other.body)
        return not all(same_round(self.at, other.at, For(v, both)) for v in loops)


@dataclass
class Meetings:
    """Records the touches of memory since the last barrier, and asks for the next one.

    Attributes:
        memory: stands for all buffers that may be the same bytes; `None` for a buffer of which
            others see nothing.
        touches: accesses since the last barrier.
    """

    memory: Callable[[Buffer], Buffer | None]
    touches: list[Touch] = field(default_factory=list)
    variables: dict[Share, tuple[Expr, ...]] = field(default_factory=dict)

    def before(self, new: Sequence[Touch]) -> list[Statement]:
        """A barrier if these touches need one before them; remember them."""
        loops = self.variables
        clash = any(
            a.clashes(b, loops.get(a.who, ()) if isinstance(a.who, Share) else ())
            for a in self.touches
            for b in new
        )
        if clash:
            self.touches = []
        self.touches += [t for t in new if t not in self.touches]
        return [Barrier()] if clash else []

    def of(self, statements: Iterable[Statement], who: Who) -> list[Touch]:
        """The touches of memory by the members `who` that execute these statements."""
        return list(self._touches(list(statements), who, ()))

    def of_round(
        self, body: Sequence[Statement], loops: Sequence[For], share: Share
    ) -> list[Touch]:
        """The touches of memory by members that share the loops around these statements.

        Equal shares have the same variables here, so that equal rounds are seen to be equal.
        """
        own = self.variables.setdefault(
            share, tuple([variable(f"s{k}", n) for k, n in enumerate(share.extents)])
        )
        by = {x.var: v + x.var.attr.low for x, v in zip(loops, own, strict=True)}
        inside = in_statements(body, by)
        return list(self._touches(inside, share, inside))

    def again(self, loop: Expr, outside: Sequence[Touch]) -> None:
        """Any round of a repeated loop: after an earlier one, or after what is before the loop."""
        earlier = {loop: variable(f"{loop}_before", loop.attr.extent, loop.attr.low)}
        rounds = [
            replace(t, at=tuple([substituted(i, earlier) for i in t.at])) for t in self.touches
        ]
        self.touches = [*outside, *[t for t in rounds if t not in outside]]

    def _touches(
        self, statements: Sequence[Statement], who: Who, body: tuple[Statement, ...]
    ) -> Iterator[Touch]:
        for s in walk(statements):
            for load in [x for e in expressions(s) for x in loads(e)]:
                if (seen := self.memory(load.attr)) is not None:
                    yield Touch(seen, False, load.args, who, body)
            if isinstance(s, Store):
                for target in s.targets:
                    if (seen := self.memory(target)) is not None:
                        yield Touch(seen, True, s.index, who, body)
