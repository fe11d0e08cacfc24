"""Places for all that a picture shows: frames from the inside out, each a layered drawing.

A frame is laid out by itself and then stands in the frame around it like a box.  A wire that
leaves or enters it passes a port, a vertex without size in the frame's last or first row; outside,
the wire goes on from there.  Within a row wires are vertical, in columns of their own, and only
between rows they move sideways: so they pass no box.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from byparts_draw.boxes import LINE, PAD, Box, Frame
from byparts_draw.columns import columns
from byparts_draw.order import put_in_order, separation
from byparts_draw.rows import Wire, in_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from byparts_draw.boxes import Sheet
    from byparts_draw.rows import Link, Rows

    Maker: TypeAlias = "tuple[Box, int]"  # and which of its results
    Item: TypeAlias = "Box | Frame"
    Place: TypeAlias = "tuple[float, float, float, float]"  # left, top, width, height

BORDER = 10.0  # between a frame and what it holds
SPACE, MOST_SPACE, SLOPE = 26.0, 80.0, 0.12  # between rows; more where wires move far sideways
LETTERS = {"name": 12.0, "detail": 11.0, "mark": 11.0, "title": 11.0}  # sizes of fonts


@dataclass
class Curve:
    """Part of a wire: down to where a row begins, over to another column, and so on.

    `points` are ends of vertical pieces, two and two; between two pieces is a curve.
    """

    points: list[tuple[float, float]]
    arrow: bool  # it ends at a box
    bezier: bool = (
        False  # `points` are a cubic Bezier curve's instead: a start, then three by three
    )


@dataclass
class Placed:
    """A laid out frame, measured from the upper left corner."""

    root: Frame
    width: float
    height: float
    places: dict[Box | Frame, Place] = field(default_factory=dict)
    curves: list[Curve] = field(default_factory=list)
    bodies: list[tuple[Placed, float, float]] = field(default_factory=list)
    ports: dict[Maker, float] = field(default_factory=dict)  # where wires pass the frame


def text_width(words: str, how: str) -> float:
    """Pixels, in whatever sans-serif font the reader has: about, and rather too many."""
    size = LETTERS[how] * (1.06 if how == "name" else 1.0)
    return size * sum(
        0.32
        if c in "ijl.,:;|!'[]() "
        else 0.92
        if c in "mwMW%@…"
        else 0.62
        if c < "\u1100"
        else 1.05
        for c in words
    )


def laid_out(sheet: Sheet) -> Placed:
    """Places for a whole graph.  For v boxes and their waypoints O(v log v) a sweep, few sweeps."""
    inside: dict[Frame, dict[Maker, list[Item | None]]] = {}
    for maker, i, reader in sheet.wires:
        _route((maker, i), reader, inside)
    return _Level(sheet.root, inside).placed


def size(box: Box, lay_out: Callable[[Sheet], Placed]) -> tuple[float, float, list[Placed]]:
    """The width and height of a box, and the bodies laid out inside it."""
    bodies = [lay_out(body) for body in box.bodies]
    width = max(text_width(words, how) for words, how in box.lines) + 2 * PAD
    height = LINE * len(box.lines) + 2 * PAD
    if bodies:
        width = max(width, sum(b.width for b in bodies) + BORDER * (len(bodies) + 1))
        height += max(b.height for b in bodies) + BORDER
    return max(width, 44.0), height, bodies


def put_bodies(made: Placed, box: Box, bodies: Iterable[Placed], left: float, top: float) -> None:
    """The graphs inside a node stand side by side below its words."""
    x = left + BORDER
    for body in bodies:
        made.bodies.append((body, x, top + PAD + LINE * len(box.lines)))
        x += body.width + BORDER


def _route(maker: Maker, reader: Box, inside: dict[Frame, dict[Maker, list[Item | None]]]) -> None:
    """In which frames a wire is, and to which member of each it goes; `None`: out of the frame."""
    ups, downs = _around(maker[0]), _around(reader)
    while len(ups) > 1 and len(downs) > 1 and ups[-2] is downs[-2]:
        ups.pop()
        downs.pop()
    for frame in ups[1:-1]:
        heads = inside.setdefault(frame, {}).setdefault(maker, [])  # type: ignore[arg-type]
        if None not in heads:
            heads.append(None)
    for member, frame in pairwise(downs):
        heads = inside.setdefault(frame, {}).setdefault(maker, [])  # type: ignore[arg-type]
        if isinstance(member, Box) or member not in heads:
            heads.append(member)


def _around(item: Item) -> list[Item]:
    """The item, the frame that it is in, and so on outwards."""
    chain: list[Item] = [item]
    while chain[-1].parent is not None:
        chain.append(chain[-1].parent)
    return chain


class _Level:
    """A frame: its members as vertices, then its ports, and its title at the upper left."""

    def __init__(
        self, frame: Frame, inside: Mapping[Frame, Mapping[Maker, list[Item | None]]]
    ) -> None:
        self.frame, self.members = frame, frame.members
        self.number = {member: i for i, member in enumerate(self.members)}
        self.inner: dict[int, Placed] = {}
        self.bodies: dict[int, list[Placed]] = {}
        self.widths: list[float] = []
        self.heights: list[float] = []
        for i, member in enumerate(self.members):
            if isinstance(member, Frame):
                self.inner[i] = made = _Level(member, inside).placed
                self._add(made.width, made.height)
            else:
                width, height, self.bodies[i] = size(member, laid_out)
                self._add(width, height)
        self.first: list[int] = []
        self.last: list[int] = []
        self.makers: list[Maker] = []
        self.wires = [self._wire(m, heads) for m, heads in inside.get(frame, {}).items()]
        if frame.title:
            self.first.append(self._add(text_width(frame.title, "title"), LINE))
        self.placed: Placed = self._place()

    def _add(self, width: float, height: float) -> int:
        self.widths.append(width)
        self.heights.append(height)
        return len(self.widths) - 1

    def _wire(self, maker: Maker, heads: Sequence[Item | None]) -> Wire:
        self.makers.append(maker)
        tail = self._home(maker[0])
        if tail is None:
            tail, at = self._add(0, 0), 0.0
            self.first.append(tail)
        elif tail in self.inner:
            at = self.inner[tail].ports[maker] - self.widths[tail] / 2
        else:
            count = max(len(maker[0].tails), 1)
            at = (maker[1] - (count - 1) / 2) * self.widths[tail] / (count + 1)
        return Wire(tail, at, [self._head(maker, head) for head in heads])

    def _home(self, box: Box) -> int | None:
        """The member that is the box, or has it inside; `None`: it is not in this frame."""
        item: Item | None = box
        while item is not None and item not in self.number:
            item = item.parent
        return None if item is None else self.number[item]

    def _head(self, maker: Maker, head: Item | None) -> tuple[int, float | None]:
        if head is None:
            port = self._add(0, 0)
            self.last.append(port)
            return port, 0.0
        i = self.number[head]
        if i in self.inner:
            return i, self.inner[i].ports[maker] - self.widths[i] / 2
        return i, None

    def _place(self) -> Placed:
        rows = in_rows(self.widths, self.wires, set(self.first), set(self.last))
        members = enumerate(self.members)
        rows.light = frozenset(i for i, m in members if isinstance(m, Box) and m.kind != "node")
        title = {self.first[-1]} if self.frame.title else set()
        put_in_order(rows, title)
        middles = columns(rows)
        for v in title:
            middles[v] = _leftmost(rows, v, middles)
        left = min((x - w / 2 for x, w in zip(middles, rows.widths, strict=True)), default=0.0)
        middles = [x - left + BORDER for x in middles]
        right = max((x + w / 2 for x, w in zip(middles, rows.widths, strict=True)), default=0)
        tops, bottom = self._tops(rows, middles)
        made = Placed(self.frame, right + BORDER, bottom)
        self._put(made, rows, middles, tops)
        return made

    def _tops(
        self, rows: Rows, middles: Sequence[float]
    ) -> tuple[list[tuple[float, float]], float]:
        """From where to where each row goes, and where the frame ends."""
        tops: list[tuple[float, float]] = []
        y = 4.0 if self.frame.title else BORDER
        for i, row in enumerate(rows.rows):
            high = max((self.heights[v] for v in row if v < rows.count), default=0.0)
            tops.append((y, y + high))
            moves = (
                abs(middles[k.upper] + k.upper_at - middles[k.lower] - k.lower_at)
                for k in rows.links[i]
            )
            least = LINE if i == 0 and self.frame.title else SPACE
            space = min(least + SLOPE * max(moves, default=0.0), MOST_SPACE)
            y += high + (space if i + 1 < len(rows.rows) else 0)
        return tops, y + (0 if self.last else BORDER)

    def _put(
        self,
        made: Placed,
        rows: Rows,
        middles: Sequence[float],
        tops: Sequence[tuple[float, float]],
    ) -> None:
        row_of = {v: i for i, row in enumerate(rows.rows) for v in row}
        corners: list[tuple[float, float]] = []
        for v, (width, height) in enumerate(zip(self.widths, self.heights, strict=True)):
            top, end = tops[row_of[v]]
            member = self.members[v] if v < len(self.members) else None
            low = isinstance(member, Box) and member.kind != "node"
            corners.append((middles[v] - width / 2, end - height if low else top))
        for i, member in enumerate(self.members):
            self._put_member(made, i, member, *corners[i])
        first, last = set(self.first), set(self.last)
        for wire, maker, paths in zip(self.wires, self.makers, rows.paths, strict=True):
            tail = wire.tail
            start = 0.0 if tail in first else corners[tail][1] + self.heights[tail]
            if tail in first:
                made.ports[maker] = middles[tail]
            for path in paths:
                head = path[-1].lower
                if head in last:
                    made.ports[maker] = middles[head]
                end = made.height if head in last else corners[head][1]
                arrow = head < len(self.members) and head not in self.inner
                made.curves.append(Curve(_points(path, middles, tops, row_of, start, end), arrow))

    def _put_member(self, made: Placed, i: int, member: Item, x: float, y: float) -> None:
        width, height = self.widths[i], self.heights[i]
        made.places[member] = (x, y, width, height)
        if isinstance(member, Box):
            put_bodies(made, member, self.bodies[i], x, y)
            return
        inner = self.inner[i]
        made.places |= {m: (x + a, y + b, w, h) for m, (a, b, w, h) in inner.places.items()}
        made.bodies += [(body, x + a, y + b) for body, a, b in inner.bodies]
        made.curves += [
            Curve([(x + a, y + b) for a, b in curve.points], curve.arrow) for curve in inner.curves
        ]


def _leftmost(rows: Rows, title: int, middles: Sequence[float]) -> float:
    """The middle of a title that begins where its frame begins, and touches no port beside it."""
    half = rows.widths[title] / 2
    others = [v for v in range(len(middles)) if v != title]
    wish = min((middles[v] - rows.widths[v] / 2 for v in others), default=0.0) + half
    beside = rows.rows[0][1:2]
    return min([wish, *(middles[v] - separation(rows, title, v) for v in beside)])


def _points(
    path: Iterable[Link],
    middles: Sequence[float],
    tops: Sequence[tuple[float, float]],
    row_of: Mapping[int, int],
    start: float,
    end: float,
) -> list[tuple[float, float]]:
    """Down from `start` to the end of its row, over to the next waypoint, at last down to `end`."""
    points: list[tuple[float, float]] = []
    for k in path:
        if not points:
            x = middles[k.upper] + k.upper_at
            points += [(x, start), (x, tops[row_of[k.upper]][1])]
        x, (top, bottom) = middles[k.lower] + k.lower_at, tops[row_of[k.lower]]
        points += [(x, top), (x, bottom)]
    points[-1] = (points[-1][0], end)
    return points
