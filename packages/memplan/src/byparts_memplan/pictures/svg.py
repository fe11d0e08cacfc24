"""A placement as SVG: steps across, bytes up, a rectangle for each stay of a buffer.

Colours are scopes, the lines of the user's program.  Hover a rectangle to see what it is.  A gap is
a dashed hole.  The dashed line is how much is alive at each step: where it touches the top, the
arena cannot be smaller; the red one marks the worst step.  Several spaces stand one above another.

Large plans stay small files: the `LARGEST` rectangles can be hovered, of the others those that fall
on the same pixels are drawn once, and no more than `MOST` of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from byparts_memplan.amount import human
from byparts_memplan.buffer import PlanError, by_space
from byparts_memplan.pictures.alive import (
    OTHER,
    profile,
    scopes,
    workspaces_in_words,
    worst,
)
from byparts_memplan.pictures.picture import (
    LETTER,
    byte_ticks,
    clean,
    colour,
    cut,
    document,
    fitted,
    legend,
    pixels,
    text,
    ticks,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.placed import Placement

WIDTH, HEIGHT, LOW = 960, 480, 240  # of a plot, in pixels; LOW where there are several
LEFT, TOP, BETWEEN = 84, 44, 64  # margins
SCOPES, LARGEST, MOST = 12, 3000, 25_000
GREY = "#d4d4d4"

Stay = tuple[int, int, int]  # buffer, born, dies


def svg(placement: Placement, labels: Sequence[str] = ()) -> str:
    """The picture; `labels` has one text for each buffer: its tooltip, and its scope.

    Raises:
        PlanError: there are not as many labels as buffers.
    """
    labels = tuple(labels)
    if labels and len(labels) != len(placement.buffers):
        raise PlanError(f"{len(labels)} labels but {len(placement.buffers)} buffers")
    names, held = scopes(labels, placement.buffers, SCOPES) if labels else ([], {})
    fills = {name: GREY if name == OTHER else colour(i) for i, name in enumerate(held)}
    colours = [fills[name] for name in names]
    spaces = by_space(placement.buffers) or {"": []}
    height = HEIGHT if len(spaces) == 1 else LOW
    body, top = [text(LEFT, 24, fitted(_title(placement, labels), WIDTH, 14), font_size=14)], TOP
    for space, members in spaces.items():
        if len(spaces) > 1 or space:
            top += 36
            heading = f"{space or 'default space'}: {human(placement.arenas.get(space, 0))}"
            body.append(text(LEFT, top - 20, heading))
        arena = placement.arenas.get(space, 0) if len(spaces) > 1 else placement.arena_bytes
        body += _Plot(placement, labels, colours, members, arena, top, height).body()
        top += height + BETWEEN
    rows = [(fills[name], f"{name} ({human(size)})") for name, size in held.items()]
    key, below = legend(rows, LEFT, top, WIDTH)
    words = "alive at the worst step, by line; " if key else ""
    body.append(
        text(LEFT, top - 8, f"{words}dashed: bytes alive at each step", font_style="italic")
    )
    return document(LEFT + WIDTH + 40, int(top + below + 12), [*body, *key])


def _title(placement: Placement, labels: Sequence[str]) -> str:
    arena, bound = placement.arena_bytes, placement.lower_bound_bytes
    over = (
        "reached" if arena == bound else f"{100 * (arena / bound - 1):.2f} % over" if bound else ""
    )
    scratch = workspaces_in_words(labels, placement.buffers) if labels else ""
    return (
        f"arena {human(arena)}, lower bound {human(bound)} ({over}); "
        f"{len(placement.buffers)} buffers {placement.how}{scratch and f'; {scratch}'}"
    )


class _Plot:
    """The plot of one space, which turns steps and bytes into pixels."""

    def __init__(
        self,
        placement: Placement,
        labels: Sequence[str],
        colours: Sequence[str],
        members: Sequence[int],
        arena: int,
        top: int,
        height: int,
    ) -> None:
        self.placement, self.labels, self.colours = placement, labels, colours
        self.members, self.arena, self.top, self.height = members, arena or 1, top, height
        self.buffers = [placement.buffers[i] for i in members]
        self.steps = max((b.dies for b in placement.buffers), default=0) or 1
        self.profile = profile(self.buffers)

    def body(self) -> Iterator[str]:
        yield from self._axes()
        stays = [
            (i, born, dies)
            for i, b in zip(self.members, self.buffers, strict=True)
            for born, dies in b.lives
            if b.size_bytes
        ]
        size = self.placement.buffers
        if len(stays) > LARGEST:
            stays.sort(key=lambda s: -size[s[0]].size_bytes * (s[2] - s[1]))
        yield from self._merged(stays[LARGEST:])
        yield from (self._rectangle(stay) for stay in stays[:LARGEST])
        gapped = zip(self.members, self.buffers, strict=True)
        holes = ((i, gap) for i, b in gapped if b.size_bytes for gap in b.gaps)
        yield from (self._hole(i, gap) for i, gap in islice(holes, LARGEST))
        yield self._live_line()
        yield from self._worst_step()

    def _x(self, step: float) -> float:
        return LEFT + WIDTH * step / self.steps

    def _y(self, size_bytes: float) -> float:
        return self.top + self.height - self.height * size_bytes / self.arena

    def _fill(self, i: int) -> str:
        return self.colours[i] if self.colours else colour(i)

    def _axes(self) -> Iterator[str]:
        for size in byte_ticks(self.arena):
            y = self._y(size)
            yield f'<path d="M{LEFT} {pixels(y)}h{WIDTH}" stroke="#ddd"/>'
            yield text(LEFT - 8, y + 4, human(size), text_anchor="end")
        below = self.top + self.height + 18
        for step in ticks(self.steps, 8):
            yield text(self._x(step), below, str(step), text_anchor="middle")
        yield text(LEFT + WIDTH, below + 15, "step", text_anchor="middle")

    def _rectangle(self, stay: Stay) -> str:
        i, born, dies = stay
        b, offset = self.placement.buffers[i], self.placement.offsets[i]
        label = self.labels[i] if self.labels else f"buffer {i}"
        left, top = self._x(born), self._y(offset + b.size_bytes)
        width, height = self._x(dies) - left, self._y(offset) - top
        tip = f"{cut(label, 160)}\n{human(b.size_bytes)} at {offset}, steps [{b.born}, {b.dies})"
        edge = 'stroke="#fff" stroke-width="0.5"' if min(width, height) > 3 else 'stroke="none"'
        box = (
            f'<rect x="{pixels(left)}" y="{pixels(top)}" width="{pixels(width)}" '
            f'height="{pixels(height)}" fill="{self._fill(i)}" {edge}>'
            f"<title>{clean(tip)}</title></rect>"
        )
        if height < 14 or width < 6 * LETTER + 8:
            return box
        shown = fitted(label, width - 8)
        words = text(left + 4, top + height / 2 + 4, shown, pointer_events="none")
        return f"{box}{words}"

    def _hole(self, i: int, gap: tuple[int, int]) -> str:
        """A gap: the buffer will lie there again, and others may meanwhile."""
        offset, size = self.placement.offsets[i], self.placement.buffers[i].size_bytes
        left, top = self._x(gap[0]), self._y(offset + size)
        return (
            f'<rect x="{pixels(left)}" y="{pixels(top)}" width="{pixels(self._x(gap[1]) - left)}" '
            f'height="{pixels(self._y(offset) - top)}" fill="none" stroke="#999" '
            'stroke-dasharray="2 3" pointer-events="none"/>'
        )

    def _merged(self, stays: Sequence[Stay]) -> Iterator[str]:
        """Small rectangles as one path for each colour; those on the same pixels once."""
        drawn: dict[tuple[str, str], None] = {}
        for i, born, dies in stays:
            size, offset = self.placement.buffers[i].size_bytes, self.placement.offsets[i]
            left, right = round(self._x(born)), round(self._x(dies))
            top, bottom = round(self._y(offset + size)), round(self._y(offset))
            width, height = max(right - left, 1), max(bottom - top, 1)
            fill = self._fill(i) if self.colours else GREY
            drawn[fill, f"M{left} {top}h{width}v{height}h-{width}z"] = None
            if len(drawn) >= MOST:
                break
        paths: dict[str, list[str]] = {}
        for fill, box in drawn:
            paths.setdefault(fill, []).append(box)
        for fill, boxes in paths.items():
            yield f'<path d="{"".join(boxes)}" fill="{fill}"/>'

    def _live_line(self) -> str:
        """The line of bytes alive, with at most one corner for each pixel: the highest."""
        points, at, live, high = [f"M{LEFT} {pixels(self._y(0))}"], LEFT, 0, 0
        for step, size in [*self.profile, (self.steps, 0)]:
            x = round(self._x(step))
            if x > at:
                spike = f"V{pixels(self._y(high))}h1" if high > live else ""
                points.append(f"{spike}V{pixels(self._y(live))}H{x}")
                at, high = x, size
            live, high = size, max(high, size)
        points.append(f"V{pixels(self._y(live))}")
        return (
            f'<path d="{"".join(points)}" fill="none" stroke="#333" '
            'stroke-width="1.2" stroke-dasharray="5 2" pointer-events="none">'
            "<title>bytes alive at each step</title></path>"
        )

    def _worst_step(self) -> Iterator[str]:
        step, size = worst(self.profile)
        if not size:
            return
        x, top = (self._x(step) + self._x(step + 1)) / 2, self.top
        words = f"worst step {step}: {human(size)} alive"
        anchor, shift = ("start", 5) if x < LEFT + WIDTH / 2 else ("end", -5)
        yield (
            f'<path d="M{pixels(x)} {top - 14}v{self.height + 18}" stroke="#c22" stroke-width="1" '
            f'pointer-events="none"/>'
        )
        yield text(
            x + shift, top - 4, words, fill="#c22", text_anchor=anchor, pointer_events="none"
        )
