"""Places buffers in one arena so that buffers alive together never overlap.

A portfolio of greedy orders, the best kept: each takes the buffers in some order (largest first, as
Pisarchyk and Lee 2020, https://arxiv.org/abs/2001.03288; largest area first; those of the most
crowded steps first, as MinimaLLoc 2023) and gives each the lowest or the tightest gap that is free
during its life.  An order is given up as soon as it is no better than the best so far, and all ends
at the lower bound, where real networks nearly always arrive.  Where they do not, an exact search
goes on (`search.py`): it finds something smaller, or proves that there is nothing.

An order costs O(pairs of buffers that are alive together), the search is exponential; both are
limited by counted work, so that the same problem always has the same answer, or by a clock where
one is asked for.  What is too large even for one order gets the sweep (`sweep.py`): O(n log n).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic

from byparts_memplan.buffer import Buffer, DoesNotFit, Placement, PlanError, lower_bound
from byparts_memplan.check import check
from byparts_memplan.crowd import Crowd
from byparts_memplan.effort import Effort
from byparts_memplan.spaces import place_each
from byparts_memplan.sweep import sweep

Span = tuple[int, int]  # [offset, end) of a placed buffer
_SEARCHABLE = 1_000_000  # pairs of buffers alive together; beyond it greedy orders are at the bound
_EACH = 20_000  # work of the search for each buffer: small problems are not worth a second
_QUESTION = 200_000  # work for each question that looks for the reason why some do not fit


def place(
    buffers: Sequence[Buffer],
    capacity: int | Mapping[str, int] | None = None,
    *,
    time_limit_s: float | None = None,
    effort: int = 20_000_000,
    seed: int = 0,
) -> Placement:
    """Offsets in the smallest arena that was found, or in any within `capacity`.

    `capacity` is what each space's arena may take, or by space; then the first placement within it
    is the answer.  `effort` bounds the work: pairs of buffers looked at by greedy orders, three
    million a second, and at most a quarter of it for the search, some five million a second.  With
    `time_limit_s` the search goes on until it is decided or that time is over, and the answer may
    differ from one call to the next.  `seed` is that of the search.

    >>> place([Buffer(4, born=0, dies=2), Buffer(2, born=1, dies=3), Buffer(4, born=2, dies=4)])
    ... # doctest: +ELLIPSIS
    Placement(buffers=..., offsets=(0, 4, 0), arena_bytes=6, lower_bound_bytes=6, how='...')

    Raises:
        DoesNotFit: there is no placement within the capacity, or none was found; it says which.
        PlanError: pinned buffers overlap each other.
    """
    buffers = tuple(buffers)
    _check_pinned(buffers)
    limit = None if time_limit_s is None else monotonic() + time_limit_s

    def place_one(some: tuple[Buffer, ...], room: int | None) -> Placement:
        seconds = None if limit is None else max(0.0, limit - monotonic())
        return _place_one(some, room, effort, seconds, seed)

    return place_each(buffers, capacity, place_one)


def _place_one(
    buffers: tuple[Buffer, ...], capacity: int | None, effort: int, seconds: float | None, seed: int
) -> Placement:
    """Of one space."""
    started = monotonic()
    made, searchable = _portfolio(buffers, effort, capacity)
    if made.optimal if capacity is None else made.arena_bytes <= capacity:
        return made
    left = None if seconds is None else max(0.0, seconds - (monotonic() - started))
    rest = Effort(min(effort / 4, _EACH * len(buffers)), left)
    if capacity is not None:
        return _within(made, capacity, rest, seed)
    if not searchable and seconds is None:
        return made
    from byparts_memplan.smallest import smaller  # most problems never come here

    return smaller(made, rest, seed)


def _within(made: Placement, capacity: int, effort: Effort, seed: int) -> Placement:
    """Some placement within the capacity, of buffers for which `made` takes more."""
    from byparts_memplan.fit import Fit  # as above
    from byparts_memplan.smallest import beyond, placed

    fits: bool | None = False
    bound = made.lower_bound_bytes
    if bound <= capacity:
        fit = Fit(made.buffers, seed)
        fits = fit.decide(capacity, effort)
        if fits:
            return placed(fit, made, bound)
        if fits is False:
            bound = beyond(fit, capacity)
    made = Placement(made.buffers, made.offsets, made.arena_bytes, bound, made.how)
    raise _refusal(made, capacity, fits is False, seed)


def _refusal(made: Placement, capacity: int, proved: bool, seed: int) -> DoesNotFit:
    from byparts_memplan.conflict import smallest_subset
    from byparts_memplan.fit import Fit

    def decide(some: tuple[Buffer, ...], room: int) -> bool | None:
        return Fit(some, seed).decide(room, Effort(_QUESTION))

    count = len(made.buffers)
    subset = smallest_subset(made.buffers, capacity, decide=decide) if proved else ()
    why = "no placement exists" if proved else "no placement was found in time"
    named = f"; buffers {subset} alone do not fit" if 0 < len(subset) <= 10 else ""
    return DoesNotFit(
        f"{count} buffers do not fit in {capacity} bytes: {why}, the best found takes "
        f"{made.arena_bytes}, lower bound {made.lower_bound_bytes}{named}",
        made,
        proved,
        subset,
    )


def _portfolio(
    buffers: tuple[Buffer, ...], effort: int, capacity: int | None
) -> tuple[Placement, bool]:
    """The best of all orders, and whether the problem is small enough to search by default."""
    bound, best, how = lower_bound(buffers), sweep(buffers), "by sweep"
    arena = _top(buffers, best)
    crowd = Crowd(buffers)
    searchable = crowd.pairs <= _SEARCHABLE
    enough = bound if capacity is None else max(bound, capacity)
    for name, order in crowd.orders():
        for tight in (False, True):
            effort -= crowd.pairs
            if arena <= enough or effort < 0:
                return Placement(buffers, tuple(best), arena, bound, how), searchable
            found = _greedy(crowd, order, tight, arena)
            if found is not None:
                best, how = found, f"by {name}, {'tightest' if tight else 'lowest'} gap"
                arena = _top(buffers, best)
    return Placement(buffers, tuple(best), arena, bound, how), searchable


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
