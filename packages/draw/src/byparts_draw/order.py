"""The second step of a layered drawing: the order within each row, so that few wires cross.

Sweeps down and up put each vertex at the mean place of its neighbours in the row before (the
barycentre heuristic); the order with the fewest crossings wins.  Where a wire enters a vertex is
chosen then, from left to right as the wires come.  O(sweeps * links log links).
"""

from __future__ import annotations

from bisect import bisect_right, insort

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from byparts_draw.rows import Link, Rows

    Neighbours = Mapping[int, Sequence[tuple[int, float]]]

GAP = 26.0  # between boxes of a row
WIRE_GAP = 14.0  # between a waypoint and what stands beside it
EDGE = 10.0  # from a corner of a box to a wire that enters it, at least
PORT_GAP = 22.0  # between wires that enter one box, where it is wide enough
_MANY = 4000  # links; beyond these there are few sweeps


def put_in_order(made: Rows, leftmost: Collection[int]) -> None:
    """Reorder `made.rows` in place; those of `leftmost` stand first in their rows."""
    count = sum(map(len, made.links))
    best = [list(row) for row in made.rows]
    fewest = crossings(made)
    stale = 0
    for sweep in range(4 if count > _MANY else 24):
        if fewest == 0 or stale == 6:
            break
        _sweep(made, leftmost, down=sweep % 2 == 0)
        now = crossings(made)
        stale += 1
        if now < fewest:
            best, fewest, stale = [list(row) for row in made.rows], now, 0
    made.rows = best
    _choose_ports(made)


def separation(made: Rows, left: int, right: int) -> float:
    """The least distance of the middles of two neighbours."""
    waypoints = (left >= made.count) + (right >= made.count)
    gap = (GAP, WIRE_GAP, WIRE_GAP)[waypoints]
    return (made.widths[left] + made.widths[right]) / 2 + gap


def packed(made: Rows, row: Sequence[int]) -> dict[int, float]:
    """Middles in a row as narrow as it can be, around 0."""
    places: dict[int, float] = {}
    x = 0.0
    for i, v in enumerate(row):
        x += separation(made, row[i - 1], v) if i else 0.0
        places[v] = x
    return {v: at - x / 2 for v, at in places.items()}


def neighbours(links: Sequence[Sequence[Link]]) -> tuple[Neighbours, Neighbours]:
    """For each vertex those above and those below, with the shift at which a link is vertical."""
    above: dict[int, list[tuple[int, float]]] = {}
    below: dict[int, list[tuple[int, float]]] = {}
    for gap in links:
        for k in gap:
            above.setdefault(k.lower, []).append((k.upper, k.upper_at - k.lower_at))
            below.setdefault(k.upper, []).append((k.lower, k.lower_at - k.upper_at))
    return above, below


def crossings(made: Rows) -> int:
    """The number of pairs of links that cross, from the packed rows."""
    places: dict[int, float] = {}
    for row in made.rows:
        places.update(packed(made, row))
    total = 0
    for gap in made.links:
        ends = sorted((places[k.upper] + k.upper_at, places[k.lower] + k.lower_at) for k in gap)
        seen: list[float] = []
        for _, lower in ends:
            total += len(seen) - bisect_right(seen, lower)
            insort(seen, lower)
    return total


def _sweep(made: Rows, leftmost: Collection[int], *, down: bool) -> None:
    above, below = neighbours(made.links)
    others = above if down else below
    rows = range(len(made.rows)) if down else reversed(range(len(made.rows)))
    places: dict[int, float] = {}
    for i in rows:
        row = made.rows[i]
        here = packed(made, row)

        def wish(v: int, here: Mapping[int, float] = here) -> float:
            if v in leftmost:
                return float("-inf")
            near = others.get(v, ())
            return sum(places[u] + shift for u, shift in near) / len(near) if near else here[v]

        row.sort(key=wish)
        places.update(packed(made, row))


def _choose_ports(made: Rows) -> None:
    """Wires enter a box from left to right, in the order in which they come.

    The one that comes from another node enters in the middle, so a chain of nodes is straight.
    """
    places: dict[int, float] = {}
    for row in made.rows:
        places.update(packed(made, row))
    entering: dict[int, list[Link]] = {}
    for gap in made.links:
        for k in gap:
            if k.free:
                entering.setdefault(k.lower, []).append(k)
    for v, links in entering.items():
        links.sort(key=lambda k: places[k.upper] + k.upper_at)
        main = [i for i, k in enumerate(links) if k.upper not in made.light]
        middle = main[len(main) // 2] if len(main) % 2 else (len(links) - 1) / 2
        furthest = max(middle, len(links) - 1 - middle, 0.5)
        step = min(PORT_GAP, (made.widths[v] / 2 - EDGE) / furthest)
        for i, k in enumerate(links):
            k.lower_at = (i - middle) * step
