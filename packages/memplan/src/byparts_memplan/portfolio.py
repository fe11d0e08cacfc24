"""Greedy orders, the best kept: enough for nearly all real networks.

Each order takes the buffers one after the other (largest first, as Pisarchyk and Lee 2020,
https://arxiv.org/abs/2001.03288; largest area first; those of the fullest steps first, as
MinimaLLoc 2023) and gives each the lowest or the tightest gap that is free during its life.  An
order is given up as soon as it is no better than the best so far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from byparts_memplan.buffer import Buffer, lower_bound
from byparts_memplan.members import Members
from byparts_memplan.placed import Placement
from byparts_memplan.sweep import sweep
from byparts_memplan.tuning import ORDER_EFFORT, SPENT_AT_ONCE, TAKE_EFFORT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.effort import Effort


class Portfolio:
    """The best placement of one space's buffers so far.

    Attributes:
        placement: of all buffers.
        problem: the buffers that must be placed.
        capacity: the bytes asked for, if any.
        enough: with so many bytes the placement is not improved further.
        fixed: offsets of the pinned members.
    """

    def __init__(self, buffers: tuple[Buffer, ...], capacity: int | None) -> None:
        offsets = tuple(sweep(buffers))
        top, bound = _top(buffers, offsets), lower_bound(buffers)
        self.placement = Placement(buffers, offsets, top, bound, "by sweep")
        self.problem = Members(buffers)
        self.capacity, self.enough = capacity, max(bound, capacity or 0)
        pins = [b.pinned for b in self.problem.members]
        self.fixed = {i: at for i, at in enumerate(pins) if at is not None}

    @property
    def done(self) -> bool:
        """Whether nothing smaller is asked for."""
        return self.placement.arena_bytes <= self.enough

    def run(self, effort: Effort, how: str = "by", fixed: Mapping[int, int] | None = None) -> None:
        """Try all orders, each with the lowest and with the tightest gaps.

        Members in `fixed` (default: pinned ones) are where that says.
        """
        fixed = self.fixed if fixed is None else fixed
        if self.done:
            return
        orders: dict[str, list[int]] = {}  # those made so far; mostly the first ones suffice
        for tight in (False, True):
            for name, order in orders.items() or self.problem.orders():
                orders[name] = order
                some = effort.part(1, most=ORDER_EFFORT * len(order))
                offsets = greedy(
                    self.problem, order, fixed, self.placement.arena_bytes, some, tight
                )
                if offsets is not None:
                    self.keep(offsets, f"{how} {name}, {'tightest' if tight else 'lowest'} gap")
                if self.done or effort.over:
                    return

    def keep(self, member_offsets: Sequence[int], how: str) -> None:
        """Keep these offsets of the members if their arena is smaller than the best so far."""
        best, offsets = self.placement, self.problem.offsets(member_offsets)
        if (top := _top(best.buffers, offsets)) < best.arena_bytes:
            self.placement = Placement(best.buffers, offsets, top, best.lower_bound_bytes, how)


def greedy(
    problem: Members,
    order: Sequence[int],
    fixed: Mapping[int, int],
    arena_bytes: int,
    effort: Effort,
    tight: bool = False,
) -> list[int] | None:
    """Offsets of the members: the `fixed` ones as given, the others in this order.

    Each lies in the lowest gap that is free during its life, or in the tightest.  `None` once they
    take `arena_bytes`, or when the effort is spent.
    """
    occupancy, work = problem.occupancy, 0.0
    occupancy.clear()
    offsets = [0] * len(problem.members)
    for i in [*fixed, *[i for i in order if i not in fixed]]:
        offsets[i] = occupancy.take(i, tight, fixed.get(i))
        work += TAKE_EFFORT + occupancy.looked
        fits = offsets[i] + problem.members[i].size_bytes < arena_bytes
        if not fits or work > SPENT_AT_ONCE:
            if not effort.spend(work) or not fits:
                return None
            work = 0
    return offsets if effort.spend(work) else None


def _top(buffers: Sequence[Buffer], offsets: Sequence[int]) -> int:
    return max([at + b.size_bytes for at, b in zip(offsets, buffers, strict=True)], default=0)
