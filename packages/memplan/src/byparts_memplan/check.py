"""Says whether a placement is valid, and if not who is to blame.  Obvious: the oracle.

It shares no code with the planners: time is walked through once, and whoever comes to life must lie
between its two neighbours in the arena.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from operator import index

from byparts_memplan.buffer import Buffer, PlanError, checked, checked_bytes

Span = tuple[int, int, int, int]  # (offset, end, buffer, dies)


def check(
    buffers: Sequence[Buffer],
    offsets: Sequence[int],
    arena_bytes: int | Mapping[str, int],
    names: Sequence[object] = (),
) -> None:
    """Raise PlanError unless the placement is valid; the first conflict in time is named.

    `arena_bytes` is of one arena, or of all the spaces' together (as `Placement.arena_bytes`), or
    by space (as `Placement.arenas`); `names` are of the buffers, in errors, else they are counted
    from 0.  O(n log n) comparisons.

    >>> check([Buffer(4, born=0, dies=2), Buffer(2, born=1, dies=3)], [0, 2], arena_bytes=4)
    Traceback (most recent call last):
    byparts_memplan.buffer.PlanError: buffers 0 and 1 share bytes [2, 4) during steps [1, 2)
    """
    buffers, offsets = checked(buffers), _integers(offsets)
    if len(buffers) != len(offsets):
        raise PlanError(f"{len(buffers)} buffers but {len(offsets)} offsets")
    names = names or range(len(buffers))
    if len(names) != len(buffers):
        raise PlanError(f"{len(buffers)} buffers but {len(names)} names")
    if not isinstance(arena_bytes, Mapping):
        arena_bytes = checked_bytes("arena_bytes", arena_bytes)
    for name, b, offset in zip(names, buffers, offsets, strict=True):
        _check_alone(name, b, offset, arena_bytes)
    if not isinstance(arena_bytes, Mapping):
        _check_together(buffers, offsets, arena_bytes)
    _check_apart(buffers, offsets, names)


def _integers(offsets: Iterable[int]) -> list[int]:
    """The offsets as Python's integers, which do not overflow."""
    try:
        return [index(offset) for offset in offsets]
    except TypeError:
        raise PlanError(f"offsets are {offsets!r:.60}; expected an integer for each") from None


def _check_alone(
    name: object, b: Buffer, offset: int, arena_bytes: int | Mapping[str, int]
) -> None:
    where = f"buffer {name} at [{offset}, {offset + b.size_bytes})"
    if not isinstance(arena_bytes, Mapping):
        room, arena = arena_bytes, f"the arena of {arena_bytes} bytes"
    elif b.space in arena_bytes:
        room = arena_bytes[b.space]
        arena = f"the arena of {room} bytes{_of(b)}"
    else:
        raise PlanError(f"{where} is in space {b.space!r}; arenas are of {list(arena_bytes)}")
    if offset < 0 or offset + b.size_bytes > room:
        raise PlanError(f"{where} leaves {arena}")
    if offset % b.alignment:
        raise PlanError(f"{where} is not aligned to {b.alignment} bytes")
    if b.pinned is not None and b.pinned != offset:
        raise PlanError(f"{where} is pinned to {b.pinned}")


def _check_together(buffers: Sequence[Buffer], offsets: Sequence[int], arena_bytes: int) -> None:
    ends: dict[str, int] = {}
    for b, offset in zip(buffers, offsets, strict=True):
        ends[b.space] = max(ends.get(b.space, 0), offset + b.size_bytes)
    if sum(ends.values()) > arena_bytes:
        raise PlanError(f"the spaces end at {ends}, together over {arena_bytes} bytes")


def _check_apart(
    buffers: Sequence[Buffer], offsets: Sequence[int], names: Sequence[object]
) -> None:
    """Check that no two buffers of a space use the same bytes at the same step."""
    lives = [(*life, i) for i, b in enumerate(buffers) if b.size_bytes for life in b.lives]
    leaving: list[tuple[int, Span]] = []  # heap of (dies, span)
    alive: dict[str, list[Span]] = {b.space: [] for b in buffers}  # sorted, and apart
    for born, dies, i in sorted(lives):
        while leaving and leaving[0][0] <= born:
            gone = heappop(leaving)[1]
            others = alive[buffers[gone[2]].space]
            del others[bisect_left(others, gone)]
        span = (offsets[i], offsets[i] + buffers[i].size_bytes, i, dies)
        others = alive[buffers[i].space]
        k = bisect_left(others, span)
        for other in others[max(k - 1, 0) : k + 1]:
            if max(span[0], other[0]) < min(span[1], other[1]):
                raise PlanError(_conflict(span, other, born, buffers[i], names))
        others.insert(k, span)
        heappush(leaving, (dies, span))


def _conflict(span: Span, other: Span, born: int, b: Buffer, names: Sequence[object]) -> str:
    i, j = sorted((span[2], other[2]))
    lower, upper = max(span[0], other[0]), min(span[1], other[1])
    dies = min(span[3], other[3])
    return (
        f"buffers {names[i]} and {names[j]} share bytes [{lower}, {upper}){_of(b)} "
        f"during steps [{born}, {dies})"
    )


def _of(b: Buffer) -> str:
    return f" of space {b.space!r}" if b.space else ""
