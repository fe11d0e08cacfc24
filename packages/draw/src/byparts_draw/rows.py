"""The first step of a layered drawing: which row each vertex stands in.

Rows are longest paths (every wire goes down), with at most `_most_in_row` vertices in one; then a
vertex with more wires below it than above moves down as far as its readers allow, which shortens
wires.  A wire that passes rows gets a waypoint in each, so that later steps know only wires between
neighbouring rows.  After Sugiyama, Tagawa and Toda 1981.  O(vertices + wires + waypoints).
"""

from __future__ import annotations

from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


@dataclass
class Wire:
    """The wire of a value, from the vertex that makes it to those that read it."""

    tail: int
    tail_at: float  # where it leaves, from the middle of the tail
    heads: list[tuple[int, float | None]]  # vertex, where it enters; None: where it fits best


@dataclass
class Link:
    """A piece of a wire, from one row to the next."""

    upper: int
    upper_at: float
    lower: int
    lower_at: float
    free: bool = False  # `lower_at` may be chosen


@dataclass
class Rows:
    """The vertices by row, waypoints among them, and what connects them."""

    rows: list[list[int]]
    widths: list[float]  # of each vertex; a waypoint has width 0
    count: int  # vertices from this number on are waypoints
    light: frozenset[int] = frozenset()  # inputs and constants, which stand beside the main way
    links: list[list[Link]] = field(default_factory=list)  # [i]: from row i to row i + 1
    paths: list[list[list[Link]]] = field(default_factory=list)  # of each wire, for each head


def in_rows(
    widths: Sequence[float], wires: Sequence[Wire], first: Collection[int], last: Collection[int]
) -> Rows:
    """Rows for vertices; those of `first` are alone in the first row, `last` alone in the last."""
    row = _rows(len(widths), wires, first, last)
    depth = 1 + max(row, default=-1)
    made = Rows([[] for _ in range(depth)], list(widths), len(widths))
    made.links = [[] for _ in range(depth)]
    for v, i in enumerate(row):
        made.rows[i].append(v)
    for wire in wires:
        made.paths.append(_with_waypoints(made, row, wire))
    return made


def _rows(
    count: int, wires: Sequence[Wire], first: Collection[int], last: Collection[int]
) -> list[int]:
    above: list[set[int]] = [set() for _ in range(count)]
    below: list[set[int]] = [set() for _ in range(count)]
    for wire in wires:
        for head, _ in wire.heads:
            below[wire.tail].add(head)
            above[head].add(wire.tail)
    order = [v for v in _topological(above, below) if v not in first and v not in last]
    row = [0] * count
    full: dict[int, int] = {}  # how many stand in a row
    most = _most_in_row(count)
    lowest = 1 if first else 0
    for v in order:
        at = max((row[u] + 1 for u in above[v]), default=lowest)
        at = max(at, lowest)
        while above[v] and full.get(at, 0) >= most:
            at += 1
        row[v] = at
        full[at] = full.get(at, 0) + 1
    for v in reversed(order):
        lower = min((row[u] for u in below[v] if u not in last), default=0) - 1
        if lower > row[v] and len(above[v]) < len(below[v]) + (not above[v]):
            row[v] = lower
    bottom = 1 + max((row[v] for v in order), default=lowest - 1)
    for v in last:
        row[v] = bottom
    return row


def _most_in_row(count: int) -> int:
    """The limit for vertices in a row with which a wide graph is about as high as wide."""
    return max(8, int(2 * count**0.5))


def _topological(above: Sequence[set[int]], below: Sequence[set[int]]) -> list[int]:
    waits = [len(others) for others in above]
    order = [v for v, n in enumerate(waits) if n == 0]
    for v in order:  # grows while it is walked
        for u in sorted(below[v]):
            waits[u] -= 1
            if waits[u] == 0:
                order.append(u)
    assert len(order) == len(waits), "a picture's wires have no cycle"
    return order


def _with_waypoints(made: Rows, row: Sequence[int], wire: Wire) -> list[list[Link]]:
    """The links of a wire: one trunk through the rows, which heads leave just above them."""
    lowest = max(row[head] for head, _ in wire.heads)
    trunk: list[Link] = []
    here, at = wire.tail, wire.tail_at
    ends = [(here, at)]
    for i in range(row[wire.tail] + 1, lowest):
        waypoint = len(made.widths)
        made.widths.append(0)
        made.rows[i].append(waypoint)
        trunk.append(Link(here, at, waypoint, 0))
        made.links[i - 1].append(trunk[-1])
        here, at = waypoint, 0.0
        ends.append((here, at))
    paths = []
    for head, head_at in wire.heads:
        steps = row[head] - row[wire.tail] - 1
        link = Link(*ends[steps], head, head_at or 0.0, head_at is None)
        made.links[row[head] - 1].append(link)
        paths.append([*trunk[:steps], link])
    return paths
