"""Places buffers in one arena so that buffers alive together never overlap.

A portfolio of greedy orders first (`portfolio.py`); all ends at the lower bound, where real
networks nearly always arrive.  Where they do not, a search goes on (`placement/`): it finds
something smaller, or proves that there is nothing.

All is limited by counted work, so that the same problem always has the same answer, or by a clock
where one is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic

from byparts_memplan.buffer import (
    Buffer,
    DoesNotFit,
    PlanError,
    checked,
    checked_bytes,
    is_number,
)
from byparts_memplan.check import check
from byparts_memplan.effort import Effort
from byparts_memplan.placed import Placement
from byparts_memplan.portfolio import Portfolio
from byparts_memplan.spaces import place_each

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

_GREEDY, _SEARCH = 0.5, 1.0  # of the effort; of what is left then


def place(
    buffers: Sequence[Buffer],
    capacity: int | Mapping[str, int] | None = None,
    *,
    time_limit_s: float | None = None,
    effort: float = 20_000_000,
    seed: int = 0,
) -> Placement:
    """Offsets in the smallest arena that was found, or in any within `capacity`.

    `capacity` is what each space's arena may take, or by space; then the first placement within it
    is the answer.  `effort` bounds the work, counted in looks at buffers, some four million a
    second: half of it is for greedy orders, and what is left for the search.  With `time_limit_s`
    the search goes on until it is decided or that time is over, and the answer may differ from one
    call to the next; one greedy placement is made in any case.  `seed` is that of the search.

    >>> place([Buffer(4, born=0, dies=2), Buffer(2, born=1, dies=3), Buffer(4, born=2, dies=4)])
    ... # doctest: +ELLIPSIS
    Placement(buffers=..., offsets=(0, 4, 0), arena_bytes=6, lower_bound_bytes=6, how='...')

    Raises:
        DoesNotFit: there is no placement within the capacity, or none was found; it says which.
        PlanError: pinned buffers overlap each other; something is no buffer, no capacity, no limit;
            a capacity is of a space in which no buffer is.
    """
    buffers = checked(buffers)
    capacity, effort = _capacity(buffers, capacity), _limit("effort", effort)
    if not hasattr(seed, "__index__"):
        raise PlanError(f"seed is {seed!r:.60}; expected an integer")
    limit = None if time_limit_s is None else monotonic() + _limit("time_limit_s", time_limit_s)
    _check_pinned(buffers)

    def place_one(some: tuple[Buffer, ...], room: int | None) -> Placement:
        seconds = None if limit is None else max(0.0, limit - monotonic())
        return _place_one(some, room, effort, seconds, seed)

    return place_each(buffers, capacity, place_one)


def _place_one(
    buffers: tuple[Buffer, ...],
    capacity: int | None,
    effort: float,
    seconds: float | None,
    seed: int,
) -> Placement:
    """Place the buffers of one space."""
    best = Portfolio(buffers, capacity)
    whole = Effort(effort, seconds)
    best.run(whole.part(_GREEDY))
    bound = best.placement.lower_bound_bytes
    hopeless = capacity is not None and bound > capacity
    search = None if best.done or hopeless else _search()
    if search:
        search.improve(best, whole.part(_SEARCH) if seconds is None else whole, seed)
    if capacity is not None and best.placement.arena_bytes > capacity:
        raise _refusal(best.placement, capacity)
    return best.placement


def _search() -> ModuleType | None:
    """The module that searches where greedy orders end; wheels for small devices lack it."""
    try:
        import byparts_memplan.placement.improve as search  # most problems never come here
    except ModuleNotFoundError as error:
        if not str(error.name).startswith("byparts_memplan.placement"):
            raise
        return None
    return search


def _refusal(placement: Placement, capacity: int) -> DoesNotFit:
    from byparts_memplan.conflict import smallest_subset

    proved, search = placement.lower_bound_bytes > capacity, _search()
    decide = search.decide if search else None
    subset = smallest_subset(placement.buffers, capacity, decide=decide) if proved else ()
    why = "no placement exists" if proved else "no placement was found in time"
    named = f"; buffers {subset} alone do not fit" if 0 < len(subset) <= 10 else ""
    return DoesNotFit(
        f"{len(placement.buffers)} buffers do not fit in {capacity} bytes: {why}, the best found "
        f"takes {placement.arena_bytes}, lower bound {placement.lower_bound_bytes}{named}",
        placement,
        proved,
        subset,
    )


def _capacity(
    buffers: Sequence[Buffer], capacity: int | Mapping[str, int] | None
) -> int | Mapping[str, int] | None:
    """The capacity, checked, with NumPy's integers as Python's."""
    if not isinstance(capacity, Mapping):
        return None if capacity is None else checked_bytes("capacity", capacity)
    spaces = dict.fromkeys([b.space for b in buffers])
    unknown = [name for name in capacity if name not in spaces]
    if buffers and unknown:
        known = ", ".join(map(repr, spaces))
        raise PlanError(f"capacity: no buffer is in space {unknown[0]!r}; there are {known}")
    some = {name: room for name, room in capacity.items() if room is not None}
    return {name: checked_bytes(f"capacity of {name!r}", room) for name, room in some.items()}


def _limit(name: str, value: float) -> float:
    if not is_number(value) or value < 0:
        raise PlanError(f"{name} is {value!r:.60}; expected a number, 0 or more")
    return float(min(value, 1e18))


def _check_pinned(buffers: Sequence[Buffer]) -> None:
    pinned = [i for i, b in enumerate(buffers) if b.pinned is not None]
    offsets = [buffers[i].pinned or 0 for i in pinned]
    ours = [buffers[i] for i in pinned]
    try:
        check(ours, offsets, Placement(tuple(ours), tuple(offsets), 0, 0, "").arenas)
    except PlanError as error:
        raise PlanError(f"among the pinned buffers {pinned}: {error}") from None
