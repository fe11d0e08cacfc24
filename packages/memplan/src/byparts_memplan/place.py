"""Places buffers in one arena so that buffers alive together never overlap.

A portfolio of greedy orders, the best kept: each takes the buffers in some order (largest first, as
Pisarchyk and Lee 2020, https://arxiv.org/abs/2001.03288; largest area first; those of the most
crowded steps first, as MinimaLLoc 2023) and gives each the lowest or the tightest gap that is free
during its life.  An order is given up as soon as it is no better than the best so far, and the
search ends at the lower bound, where real networks nearly always arrive.

An order costs O(pairs of buffers that are alive together); work is limited by a count of them, not
by a clock, so that the same problem always has the same answer.  What is too large even for one
order gets the sweep (`sweep.py`): O(n log n).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from byparts_memplan.buffer import Buffer, DoesNotFit, Placement, PlanError, lower_bound
from byparts_memplan.check import check
from byparts_memplan.crowd import Crowd
from byparts_memplan.spaces import place_each
from byparts_memplan.sweep import sweep

Span = tuple[int, int]  # [offset, end) of a placed buffer


def place(
    buffers: Sequence[Buffer],
    capacity: int | Mapping[str, int] | None = None,
    *,
    time_limit_s: float | None = None,
    effort: int = 20_000_000,
    seed: int = 0,
) -> Placement:
    """The best of the portfolio.  The same buffers give the same placement, in any process.

    `capacity` is what each space's arena may take, or by space.  `effort` bounds how many pairs of
    buffers are looked at: some three million a second.

    >>> place([Buffer(4, born=0, dies=2), Buffer(2, born=1, dies=3), Buffer(4, born=2, dies=4)])
    ... # doctest: +ELLIPSIS
    Placement(buffers=..., offsets=(0, 4, 0), arena_bytes=6, lower_bound_bytes=6, how='...')

    Raises:
        DoesNotFit: what was found takes more than the capacity.
        PlanError: pinned buffers overlap each other.
    """
    buffers = tuple(buffers)
    _check_pinned(buffers)
    return place_each(buffers, capacity, lambda some, room: _place_one(some, room, effort))


def _place_one(buffers: tuple[Buffer, ...], capacity: int | None, effort: int) -> Placement:
    """Of one space."""
    made = _portfolio(buffers, effort)
    if capacity is None or made.arena_bytes <= capacity:
        return made
    from byparts_memplan.conflict import smallest_subset  # only a refusal needs it

    subset = smallest_subset(buffers, capacity)
    raise DoesNotFit(
        f"{len(buffers)} buffers do not fit in {capacity} bytes: the best found takes "
        f"{made.arena_bytes}, lower bound {made.lower_bound_bytes}",
        made,
        made.lower_bound_bytes > capacity,
        subset,
    )


def _portfolio(buffers: tuple[Buffer, ...], effort: int) -> Placement:
    bound, best, how = lower_bound(buffers), sweep(buffers), "by sweep"
    arena = _top(buffers, best)
    crowd = Crowd(buffers)
    for name, order in crowd.orders():
        for tight in (False, True):
            effort -= crowd.pairs
            if arena == bound or effort < 0:
                return Placement(buffers, tuple(best), arena, bound, how)
            found = _greedy(crowd, order, tight, arena)
            if found is not None:
                best, how = found, f"by {name}, {'tightest' if tight else 'lowest'} gap"
                arena = _top(buffers, best)
    return Placement(buffers, tuple(best), arena, bound, how)


def _greedy(crowd: Crowd, order: Sequence[int], tight: bool, arena: int) -> list[int] | None:
    """An offset for each buffer, placed in this order; `None` once it takes `arena` bytes."""
    spans: list[Span | None] = [None] * len(crowd.members)
    for i in order:
        b = crowd.members[i]
        near = list(filter(None, spans[i + 1 : crowd.until[i]]))
        near += filter(None, [spans[j] for j in crowd.before[i]])
        near.sort()
        offset = b.pinned if b.pinned is not None else _gap(near, b.size_bytes, b.alignment, tight)
        if offset + b.size_bytes >= arena:
            return None
        spans[i] = (offset, offset + b.size_bytes)
    return crowd.offsets(spans)


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
    return max(
        [offset + b.size_bytes for offset, b in zip(offsets, buffers, strict=True)], default=0
    )


def _check_pinned(buffers: Sequence[Buffer]) -> None:
    pinned = [i for i, b in enumerate(buffers) if b.pinned is not None]
    offsets = [buffers[i].pinned or 0 for i in pinned]
    ours = [buffers[i] for i in pinned]
    try:
        check(ours, offsets, Placement(tuple(ours), tuple(offsets), 0, 0, "").arenas)
    except PlanError as error:
        raise PlanError(f"among the pinned buffers {pinned}: {error}") from None
