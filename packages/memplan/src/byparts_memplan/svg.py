"""A placement as SVG: steps across, bytes up, one coloured rectangle for each buffer.

Hover a rectangle to see what it is.  The dashed line is how much is alive at each step: where it
touches the top, the arena cannot be smaller.  No script, no font but the reader's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from colorsys import hls_to_rgb
from html import escape

from byparts_memplan.amount import human
from byparts_memplan.buffer import Buffer, Placement

WIDTH, HEIGHT = 960, 480  # of the plot, in pixels
LEFT, TOP, BOTTOM = 84, 40, 32  # margins


def svg(placement: Placement, labels: Sequence[str] = ()) -> str:
    """The whole file; `labels` has one text for each buffer, shown in its tooltip."""
    plot = _Plot(placement)
    body = [
        *plot.axes(),
        *(plot.rectangle(i, labels[i] if labels else f"buffer {i}") for i in plot.visible()),
        plot.live_line(),
    ]
    size = f'width="{LEFT + WIDTH + 40}" height="{TOP + HEIGHT + BOTTOM}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{chr(10).join(body)}\n</svg>\n'
    )


class _Plot:
    """Steps and bytes to pixels."""

    def __init__(self, placement: Placement) -> None:
        self.placement = placement
        self.arena = placement.arena_bytes or 1
        self.steps = max((b.dies for b in placement.buffers), default=0) or 1

    def x(self, step: int) -> str:
        return _pixels(LEFT + WIDTH * step / self.steps)

    def y(self, size_bytes: int) -> str:
        return _pixels(TOP + HEIGHT - HEIGHT * size_bytes / self.arena)

    def visible(self) -> list[int]:
        return [i for i, b in enumerate(self.placement.buffers) if b.size_bytes and b.born < b.dies]

    def axes(self) -> list[str]:
        bound = self.placement.lower_bound_bytes
        over = 100 * (self.placement.arena_bytes / bound - 1) if bound else 0
        title = (
            f"arena {human(self.placement.arena_bytes)}, lower bound {human(bound)} "
            f"({over:.2f} % over); {len(self.placement.buffers)} buffers "
            f"{self.placement.how}"
        )
        lines = [f'<text x="{LEFT}" y="24" font-size="14">{escape(title)}</text>']
        for k in range(5):
            at = self.arena * k // 4
            lines.append(
                f'<path d="M{LEFT} {self.y(at)}h{WIDTH}" stroke="#ddd"/>'
                f'<text x="{LEFT - 8}" y="{self.y(at)}" dy="4" text-anchor="end">{human(at)}</text>'
            )
        below = f'y="{TOP + HEIGHT + 18}" text-anchor="middle"'
        steps = sorted({self.steps * k // 8 for k in range(9)})
        lines += [f'<text x="{self.x(step)}" {below}>{step}</text>' for step in steps]
        lines.append(f'<text x="{LEFT + WIDTH + 26}" {below}>step</text>')
        return lines

    def rectangle(self, i: int, label: str) -> str:
        b, offset = self.placement.buffers[i], self.placement.offsets[i]
        width = WIDTH * (b.dies - b.born) / self.steps
        height = HEIGHT * b.size_bytes / self.arena
        tip = f"{label}\n{human(b.size_bytes)} at {offset}, steps [{b.born}, {b.dies})"
        box = (
            f'<rect x="{self.x(b.born)}" y="{self.y(offset + b.size_bytes)}" '
            f'width="{_pixels(width)}" height="{_pixels(height)}" fill="{_colour(i)}" '
            f'stroke="#fff" stroke-width="{0.5 if min(width, height) > 3 else 0}">'
            f"<title>{escape(tip)}</title></rect>"
        )
        room = int(width / 7.2)  # letters of this size
        if height < 14 or room < 6:
            return box
        text = label if len(label) <= room else label[: room - 1] + "…"
        left = _pixels(LEFT + WIDTH * b.born / self.steps + 4)
        middle = _pixels(TOP + HEIGHT - HEIGHT * (offset + b.size_bytes / 2) / self.arena + 4)
        return f'{box}<text x="{left}" y="{middle}" pointer-events="none">{escape(text)}</text>'

    def live_line(self) -> str:
        points, live = [f"M{self.x(0)} {self.y(0)}"], 0
        for step, change in _changes(self.placement.buffers):
            live += change
            points.append(f"H{self.x(step)}V{self.y(live)}")
        return (
            f'<path d="{"".join(points)}" fill="none" stroke="#333" '
            'stroke-width="1.2" stroke-dasharray="5 2" pointer-events="none">'
            "<title>bytes alive at each step</title></path>"
        )


def _changes(buffers: Sequence[Buffer]) -> list[tuple[int, int]]:
    """(step, how much more is alive from then on), in order."""
    change: dict[int, int] = {}
    for b in buffers:
        change[b.born] = change.get(b.born, 0) + b.size_bytes
        change[b.dies] = change.get(b.dies, 0) - b.size_bytes
    return sorted(change.items())


def _colour(i: int) -> str:
    """Neighbours in number are far apart in hue (golden angle); light, for dark text."""
    red, green, blue = hls_to_rgb(i * 0.381966 % 1, 0.74 + 0.06 * (i % 2), 0.5 + 0.1 * (i % 3))
    return f"#{int(255 * red):02x}{int(255 * green):02x}{int(255 * blue):02x}"


def _pixels(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
