"""The third step of a layered drawing: how far right each vertex stands.

Sweeps move every row to where its wires would be vertical, as nearly as the gaps between its
vertices allow: least squares under order constraints, solved exactly for a row by pooling adjacent
violators (isotonic regression, O(row)).  Waypoints of one wire weigh most, and at the end each run
of them that can stand in one column does, so a long wire is a straight line with few bends.
O(sweeps * links).
"""

from __future__ import annotations

from itertools import pairwise

from byparts_draw.order import neighbours, packed, separation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from byparts_draw.order import Neighbours
    from byparts_draw.rows import Rows

_SWEEPS, _STILL = 12, 0.5  # of each kind, at most; pixels
_TO_THE_MIDDLE = 0.97  # a sweep draws a vertex so near: parts that nothing connects meet there
_LIGHT = 0.05  # how much less an input and its reader move each other
_STRAIGHT = 8.0  # how much more two waypoints of a wire want to be in one column


def columns(made: Rows) -> list[float]:
    """The middle of each vertex; the least is anything."""
    x = [0.0] * len(made.widths)
    for row in made.rows:
        for v, at in packed(made, row).items():
            x[v] = at
    above, below = neighbours(made.links)
    _sweep(made, x, ((above,), (below,)))
    _sweep(made, x, ((above, below), (above, below)))
    _straighten(made, x, above)
    return x


def _sweep(made: Rows, x: list[float], near: Sequence[tuple[Neighbours, ...]]) -> None:
    """Down by the first neighbours and up by the second, until nothing moves much."""
    for _ in range(_SWEEPS):
        before = list(x)
        for row in made.rows:
            _move(made, row, x, near[0])
        for row in reversed(made.rows):
            _move(made, row, x, near[1])
        if all(abs(here - there) < _STILL for here, there in zip(x, before, strict=True)):
            break


def _move(made: Rows, row: Sequence[int], x: list[float], near: Sequence[Neighbours]) -> None:
    """Move a row to the mean of what its neighbours wish."""
    wishes, weights = [], []
    for v in row:
        total, weight = 0.01 * _TO_THE_MIDDLE * x[v], 0.01
        for others in near:
            for u, shift in others.get(v, ()):
                w = _STRAIGHT if u >= made.count and v >= made.count else 1.0
                w = _LIGHT if u in made.light or v in made.light else w
                total, weight = total + w * (x[u] + shift), weight + w
        wishes.append(total / weight)
        weights.append(weight)
    for v, at in zip(row, _apart(made, row, wishes, weights), strict=True):
        x[v] = at


def _apart(
    made: Rows, row: Sequence[int], wishes: Sequence[float], weights: Sequence[float]
) -> list[float]:
    """The places nearest to the wishes (weighted least squares) that keep order and distances."""
    offsets = [0.0]  # of each vertex in a packed row
    for left, right in pairwise(row):
        offsets.append(offsets[-1] + separation(made, left, right))
    blocks: list[tuple[float, float, int]] = []  # mean, weight, how many
    for wish, weight, offset in zip(wishes, weights, offsets, strict=False):
        mean, total, count = wish - offset, weight, 1
        while blocks and blocks[-1][0] > mean:
            other, more, others = blocks.pop()
            mean = (mean * total + other * more) / (total + more)
            total, count = total + more, count + others
        blocks.append((mean, total, count))
    means = [mean for mean, _, count in blocks for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=False)]


def _straighten(made: Rows, x: list[float], above: Neighbours) -> None:
    """Put runs of waypoints into one column, where their neighbours leave room."""
    room = _Room(made, x)
    following = {u: v for v in range(made.count, len(x)) for u, _ in above[v]}
    starts = [v for v in range(made.count, len(x)) if above[v][0][0] < made.count]
    for start in starts:
        run: list[int] = []
        lower, upper = float("-inf"), float("inf")
        here: int | None = start
        while here is not None:
            left, right = room.around(here)
            if run and max(lower, left) > min(upper, right):
                _column(run, lower, upper, x)
                run, lower, upper = [], float("-inf"), float("inf")
            lower, upper = max(lower, left), min(upper, right)
            run.append(here)
            here = following.get(here)
        _column(run, lower, upper, x)


def _column(run: Sequence[int], lower: float, upper: float, x: list[float]) -> None:
    middle = sorted(x[v] for v in run)[len(run) // 2]
    for v in run:
        x[v] = min(max(middle, lower), upper)


class _Room:
    """The room in which a vertex can move between its neighbours."""

    def __init__(self, made: Rows, x: list[float]) -> None:
        self.made, self.x = made, x
        self.beside: Mapping[int, tuple[int | None, int | None]] = {
            v: (row[i - 1] if i else None, row[i + 1] if i + 1 < len(row) else None)
            for row in made.rows
            for i, v in enumerate(row)
        }

    def around(self, v: int) -> tuple[float, float]:
        left, right = self.beside[v]
        made, x = self.made, self.x
        return (
            float("-inf") if left is None else x[left] + separation(made, left, v),
            float("inf") if right is None else x[right] - separation(made, v, right),
        )
