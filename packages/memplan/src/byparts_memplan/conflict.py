"""Why buffers do not fit: few of them that already do not, so that a person can see the reason.

Mostly they are the largest that live at one step; the step where fewest are too much is found in
one walk through time, and of that kind there is no smaller set.  Where no step alone is too much,
the reason lies in how lives interlock: then buffers are left out as long as the rest is proved not
to fit, in large pieces first, neighbours in time first (the deletion filter, Chinneck and Dravnieks
1991, in chunks as QuickXplain, Junker 2004).  What remains cannot be made smaller by leaving one
out.  That no other set is smaller is only known of a few buffers, where all smaller sets are tried.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import combinations
from math import comb

from byparts_memplan.buffer import Buffer, by_space, checked, checked_bytes, lower_bound
from byparts_memplan.tuning import ASKED_SETS, QUESTION_EFFORT

Decide = Callable[[tuple[Buffer, ...], int], "bool | None"]
"""Do these buffers fit in the capacity?  `None` where that was not found out."""


def smallest_subset(
    buffers: Sequence[Buffer],
    capacity: int,
    effort: int = 1_000_000,
    decide: Decide | None = None,
) -> tuple[int, ...]:
    """Positions of buffers that do not fit in `capacity`; without any one of them the rest do.

    Empty if not even all of them are known not to fit.  `decide` is asked what the lower bound does
    not say.  Where it does not know, or is not given, or `effort` (buffers looked at, some million
    a second) is spent, a buffer stays that could perhaps be left out.  Of several spaces, each has
    `capacity`, and the answer is the smallest set of one of them.

    Raises:
        PlanError: something is no buffer, or no capacity.
    """
    buffers, capacity = checked(buffers), checked_bytes("capacity", capacity)
    judge = _Judge(buffers, capacity, decide, effort)
    subsets = [judge.subset(inside) for inside in by_space(buffers).values()]
    return min([tuple(sorted(subset)) for subset in subsets if subset], key=len, default=())


class _Judge:
    """Answers whether some of the buffers are too much, as cheaply as it can."""

    def __init__(
        self, buffers: Sequence[Buffer], capacity: int, decide: Decide | None, effort: int
    ) -> None:
        self.buffers, self.capacity = buffers, capacity
        self.decide, self.effort = decide, effort

    def subset(self, inside: list[int]) -> list[int]:
        """Few of the buffers of one space that do not fit; empty if all may."""
        kept = self._of_one_step(inside)
        if not kept and not self.too_much(inside):
            return []
        if not kept or not self._stacks(kept):
            kept = sorted(kept or inside, key=lambda i: (self.buffers[i].born, i))
            kept = self._without(kept, max(len(kept) // 16, 1))
            kept.sort(key=lambda i: (self.buffers[i].size_bytes, i))
            kept = self._without(kept, 1)
        return self._fewer(inside, len(kept)) or kept

    def _fewer(self, inside: Sequence[int], size: int) -> list[int]:
        """Fewer than `size` buffers that are too much, if there are, and few sets to try."""
        for few in range(1, size):
            if few > 1 and comb(len(inside), few) > ASKED_SETS:
                return []
            for some in combinations(inside, few):
                if self.too_much(some):
                    return list(some)
        return []

    def too_much(self, some: Sequence[int]) -> bool:
        """Whether the buffers `some` are proved not to fit."""
        self.effort -= len(some)
        asked = tuple([self.buffers[i] for i in some])
        if len(some) < 2 or self.effort < 0:
            return len(some) == 1 and lower_bound(asked) > self.capacity
        surely = lower_bound(asked) > self.capacity
        if surely or self.decide is None:
            return surely
        self.effort -= QUESTION_EFFORT
        return self.decide(asked, self.capacity) is False

    def _stacks(self, some: Sequence[int]) -> bool:
        """Whether all but one of those that are just too much surely fit on top of each other."""
        buffers = [self.buffers[i] for i in some]
        alignment = buffers[0].alignment
        return all(
            b.pinned is None and not b.size_bytes % b.alignment and b.alignment == alignment
            for b in buffers
        )

    def _without(self, kept: list[int], smallest: int) -> list[int]:
        """Leave out pieces, of ever fewer buffers, as long as the rest is too much."""
        piece = max(len(kept) // 2, smallest)
        while piece >= smallest:
            start = 0
            while start < len(kept):
                rest = kept[:start] + kept[start + piece :]
                if self.too_much(rest):
                    kept = rest
                else:
                    start += piece
            piece //= 2
        return kept

    def _of_one_step(self, inside: Sequence[int]) -> list[int]:
        """The fewest of one step that are too much, counted with the padding between them."""
        subsets = []
        for grain in sorted({1, *[self.buffers[i].alignment for i in inside]})[:8]:
            some = [i for i in inside if self.buffers[i].alignment % grain == 0]
            padding = max([-self.buffers[i].size_bytes % grain for i in some], default=0)
            sizes = {i: -(-self.buffers[i].size_bytes // grain) * grain for i in some}
            subsets.append(_fewest(self.buffers, sizes, self.capacity + padding))
        return min([few for few in subsets if few], key=len, default=[])


def _fewest(buffers: Sequence[Buffer], sizes: dict[int, int], limit: int) -> list[int]:
    """The fewest alive at one step whose sizes are over the limit.  O(n x their number)."""
    leaving: list[tuple[int, int]] = []  # heap of (dies, buffer)
    alive: list[tuple[int, int]] = []  # (-size, buffer), sorted
    best: list[int] = []
    lives = sorted([(*life, k) for k in sizes for life in buffers[k].lives])
    for born, dies, i in lives:
        while leaving and leaving[0][0] <= born:
            gone = heappop(leaving)[1]
            del alive[bisect_left(alive, (-sizes[gone], gone))]
        insort(alive, (-sizes[i], i))
        heappush(leaving, (dies, i))
        total = 0
        for count, (negative, _) in enumerate(alive[: len(best) - 1 if best else None], start=1):
            total -= negative
            if total > limit:
                best = [j for _, j in alive[:count]]
                break
    return best
