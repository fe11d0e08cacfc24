"""Greedy orders, the best kept: enough for nearly all real networks.

Each order takes the buffers one after the other (largest first, as Pisarchyk and Lee 2020,
https://arxiv.org/abs/2001.03288; largest area first; those of the most crowded steps first, as
MinimaLLoc 2023) and gives each the lowest or the tightest gap that is free during its life.  An
order is given up as soon as it is no better than the best so far.  An order costs O(pairs of
buffers that are alive together); what has too many of them keeps what the sweep gave
(`sweep.py`: O(n log n)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from byparts_memplan.buffer import Buffer, Placement, lower_bound
from byparts_memplan.crowd import Crowd
from byparts_memplan.sweep import sweep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from byparts_memplan.effort import Effort

    Spans = list["Span | None"]
    Fitter = Callable[[Crowd, Sequence[int], Mapping[int, int], int, Effort], "Spans | None"]

Span = tuple[int, int]  # [offset, end) of a placed member
_LISTED = 5_000_000  # pairs for whose neighbours there is memory and time


class Portfolio:
    """The best placement of one space's buffers so far.

    Attributes:
        made: the placement.
        crowd: who is alive together.
        capacity, enough: bytes that are asked for; those with which all are content.
        fixed: offsets of the pinned members.
    """

    def __init__(self, buffers: tuple[Buffer, ...], capacity: int | None) -> None:
        found = tuple(sweep(buffers))
        top, bound = _top(buffers, found), lower_bound(buffers)
        self.made = Placement(buffers, found, top, bound, "by sweep")
        self.crowd = Crowd(buffers)
        self.capacity, self.enough = capacity, max(bound, capacity or 0)
        pins = [b.pinned for b in self.crowd.members]
        self.fixed = {i: at for i, at in enumerate(pins) if at is not None}

    @property
    def done(self) -> bool:
        """Whether nothing smaller is asked for."""
        return self.made.arena_bytes <= self.enough

    @property
    def listed(self) -> bool:
        """Whether the neighbours of all are few enough to look at one by one."""
        return self.crowd.pairs <= _LISTED

    def run(self, effort: Effort) -> None:
        """All orders, each with the lowest and with the tightest gaps."""
        if self.done or not self.listed:
            return
        for name, order in self.crowd.orders():
            for gap, fit in (("lowest", lowest_gaps), ("tightest", tightest_gaps)):
                self.attempt(order, fit, f"by {name}, {gap} gap", effort)
                if self.done or effort.over:
                    return

    def attempt(
        self,
        order: Sequence[int],
        fit: Fitter,
        how: str,
        effort: Effort,
        fixed: Mapping[int, int] | None = None,
    ) -> None:
        """Place the members in this order, all but those `fixed`, and keep that if it is better."""
        made = self.made
        fixed = self.fixed if fixed is None else fixed
        spans = fit(self.crowd, order, fixed, made.arena_bytes, effort)
        if spans is not None:
            offsets = tuple(self.crowd.offsets(spans))
            top = _top(made.buffers, offsets)
            if top < made.arena_bytes:
                self.made = Placement(made.buffers, offsets, top, made.lower_bound_bytes, how)


def lowest_gaps(
    crowd: Crowd, order: Sequence[int], fixed: Mapping[int, int], arena: int, effort: Effort
) -> Spans | None:
    """Each member in the lowest gap; `None` once they take `arena` bytes."""
    return _greedy(crowd, order, fixed, arena, effort, tight=False)


def tightest_gaps(
    crowd: Crowd, order: Sequence[int], fixed: Mapping[int, int], arena: int, effort: Effort
) -> Spans | None:
    """Each member in the tightest gap; `None` once they take `arena` bytes."""
    return _greedy(crowd, order, fixed, arena, effort, tight=True)


def _greedy(
    crowd: Crowd,
    order: Sequence[int],
    fixed: Mapping[int, int],
    arena: int,
    effort: Effort,
    tight: bool,
) -> Spans | None:
    spans: Spans = [None] * len(crowd.members)
    for i, offset in fixed.items():
        spans[i] = (offset, offset + crowd.members[i].size_bytes)
    for i in order:
        if i in fixed:
            continue
        size, before, until = crowd.members[i].size_bytes, crowd.before[i], crowd.until[i]
        near = list(filter(None, spans[i + 1 : until]))
        near += filter(None, [spans[j] for j in before])
        near.sort()
        offset = _gap(near, size, crowd.members[i].alignment, tight)
        if offset + size >= arena or not effort.spend((until - i + len(before)) / 2):
            return None
        spans[i] = (offset, offset + size)
    return spans


def _gap(near: Sequence[Span], size: int, alignment: int, tight: bool) -> int:
    """The lowest offset free between the neighbours, or the one in the tightest gap."""
    end, best, best_gap = 0, -1, 0
    for lower, upper in near:
        if lower - end >= size:
            offset = end + -end % alignment
            gap = lower - offset
            if gap >= size and (best < 0 or gap < best_gap):
                if not tight:
                    return offset
                best, best_gap = offset, gap
        if upper > end:
            end = upper
    return best if best >= 0 else end + -end % alignment


def _top(buffers: Sequence[Buffer], offsets: Sequence[int]) -> int:
    return max([at + b.size_bytes for at, b in zip(offsets, buffers, strict=True)], default=0)
