"""Several memories at once: each space is a problem of its own, and the answers are put together.

Buffers of different spaces never meet, so nothing is lost by solving them one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from byparts_memplan.buffer import Buffer, DoesNotFit, by_space
from byparts_memplan.placed import Placement

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
        DoesNotFit: of the first space that does not, if possible one where that is proved, with the
            placement of all, and positions in `buffers`.
    """
    spaces = by_space(buffers)
    placements: dict[str, Placement] = {}
    failed: dict[str, DoesNotFit] = {}
    for space, inside in spaces.items() or [("", [])]:
        room = capacity.get(space) if isinstance(capacity, Mapping) else capacity
        try:
            placements[space] = place_one(tuple([buffers[i] for i in inside]), room)
        except DoesNotFit as error:
            if len(spaces) == 1:
                raise
            placements[space], failed[space] = error.placement, error
    if len(placements) == 1:
        return placements.popitem()[1]
    offsets = [0] * len(buffers)
    for space, inside in spaces.items():
        for i, offset in zip(inside, placements[space].offsets, strict=True):
            offsets[i] = offset
    whole = Placement(
        buffers=tuple(buffers),
        offsets=tuple(offsets),
        arena_bytes=sum([p.arena_bytes for p in placements.values()]),
        lower_bound_bytes=sum([p.lower_bound_bytes for p in placements.values()]),
        how="; ".join([f"{p.how} in {space!r}" for space, p in placements.items()]),
    )
    for space, reason in sorted(failed.items(), key=lambda item: not item[1].proved):  # stable
        subset = tuple([spaces[space][i] for i in reason.subset])
        raise DoesNotFit(f"space {space!r}: {reason}", whole, reason.proved, subset)
    return whole
