"""Several memories at once: each space is a problem of its own, and the answers are put together.

Buffers of different spaces never meet, so nothing is lost by solving them one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from byparts_memplan.buffer import Buffer, DoesNotFit, Placement, by_space

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    PlaceOne = Callable[[tuple[Buffer, ...], int | None], Placement]


def place_each(
    buffers: Sequence[Buffer], capacity: int | Mapping[str, int] | None, place_one: PlaceOne
) -> Placement:
    """Place the buffers of each space with `place_one(buffers, capacity)`; offsets in their order.

    `capacity` is of each space's arena, or by space; a space that it does not name has no limit.
    Bytes and bounds are sums over the spaces.

    Raises:
        DoesNotFit: of the first space that does not, with the placement of all, and positions in
            `buffers`.
    """
    spaces = by_space(buffers)
    if len(spaces) <= 1:
        only = next(iter(spaces), "")
        return place_one(tuple(buffers), capacity_of(only, capacity))
    found: dict[str, Placement] = {}
    failed: dict[str, DoesNotFit] = {}
    for space, inside in spaces.items():
        try:
            found[space] = place_one(
                tuple([buffers[i] for i in inside]), capacity_of(space, capacity)
            )
        except DoesNotFit as error:
            found[space], failed[space] = error.placement, error
    whole = _merged(buffers, spaces, found)
    if failed:
        raise _named(whole, spaces, failed)
    return whole


def capacity_of(space: str, capacity: int | Mapping[str, int] | None) -> int | None:
    """What the arena of this space may take; `None` is no limit."""
    return capacity.get(space) if isinstance(capacity, Mapping) else capacity


def _merged(
    buffers: Sequence[Buffer], spaces: Mapping[str, list[int]], found: Mapping[str, Placement]
) -> Placement:
    offsets = [0] * len(buffers)
    for space, inside in spaces.items():
        for i, offset in zip(inside, found[space].offsets, strict=True):
            offsets[i] = offset
    return Placement(
        buffers=tuple(buffers),
        offsets=tuple(offsets),
        arena_bytes=sum([p.arena_bytes for p in found.values()]),
        lower_bound_bytes=sum([p.lower_bound_bytes for p in found.values()]),
        how="; ".join([f"{p.how} in {space!r}" for space, p in found.items()]),
    )


def _named(
    whole: Placement, spaces: Mapping[str, list[int]], failed: Mapping[str, DoesNotFit]
) -> DoesNotFit:
    """Where it is proved is the better reason."""
    space, error = next(((s, e) for s, e in failed.items() if e.proved), next(iter(failed.items())))
    subset = tuple([spaces[space][i] for i in error.subset])
    return DoesNotFit(f"space {space!r}: {error}", whole, error.proved, subset)
