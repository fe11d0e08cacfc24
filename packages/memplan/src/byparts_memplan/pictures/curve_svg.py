"""Bytes alive at each step as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from byparts_graph_ir.contract import checked
from byparts_memplan.amount import human
from byparts_memplan.pictures.curve import columns_of
from byparts_memplan.pictures.picture import (
    byte_ticks,
    document,
    fitted,
    legend,
    pixels,
    text,
    ticks,
)

WIDTH, HEIGHT = 820, 360  # of the plot, in pixels
LEFT, TOP = 84, 44
LINES = ("#8a8a8a", "#1768ac", "#c8553d", "#2a9d4e", "#7b4fb5", "#b58900")


@checked
def curve_svg(
    curves: Mapping[str, Sequence[int]], *, budget_bytes: int | None = None, title: str = ""
) -> str:
    """Bytes alive at each step, one line for each curve, and the budget as a dashed one.

    A curve with recomputation has more steps, and is longer.  Of very long ones each pixel shows
    the most within it.  O(steps).
    """
    steps = max([1, *map(len, curves.values())])
    top = max([1, budget_bytes or 0, *(max(c, default=0) for c in curves.values())])
    body = [*frame(title or "bytes alive at each step", top)]
    for step in ticks(steps, 8):
        x = LEFT + WIDTH * step / steps
        body.append(text(x, TOP + HEIGHT + 18, str(step), text_anchor="middle"))
    body.append(text(LEFT + WIDTH / 2, TOP + HEIGHT + 34, "step", text_anchor="middle"))
    rows = []
    for k, (name, curve) in enumerate(curves.items()):
        line = LINES[k % len(LINES)]
        body += _filled(curve, steps, top, line)
        rows.append((line, f"{name}: {human(max(curve, default=0))}"))
    if budget_bytes is not None:
        y = pixels(height_of(budget_bytes, top))
        body.append(f'<path d="M{LEFT} {y}h{WIDTH}" stroke="#c22" stroke-dasharray="6 4"/>')
        rows.append(("#c22", f"budget: {human(budget_bytes)}"))
    return with_legend(body, rows, TOP + HEIGHT + 52)


def with_legend(body: Sequence[str], rows: Sequence[tuple[str, str]], below: int) -> str:
    """The whole picture: `body` with the legend `rows` below it."""
    words, height = legend(rows, LEFT, below, WIDTH)
    return document(LEFT + WIDTH + 40, int(below + height + 10), [*body, *words])


def frame(title: str, top: int) -> Iterator[str]:
    """The title, and the scale of bytes from 0 to `top`."""
    yield text(LEFT, 26, fitted(title, WIDTH, 14), font_size=14)
    for size in byte_ticks(top):
        y = height_of(size, top)
        yield f'<path d="M{LEFT} {pixels(y)}h{WIDTH}" stroke="#ddd"/>'
        yield text(LEFT - 8, y + 4, human(size), text_anchor="end")


def height_of(size: float, top: int) -> float:
    """The y coordinate of a number of bytes."""
    return TOP + HEIGHT - HEIGHT * size / top


def _filled(curve: Sequence[int], steps: int, top: int, line: str) -> Iterator[str]:
    """A line of steps, with its area lightly filled."""
    columns = min(steps, WIDTH)
    points, wide = [], WIDTH / columns
    for x, size in enumerate(columns_of(curve, steps, columns)):
        points.append(f"V{pixels(height_of(size, top))}H{pixels(LEFT + (x + 1) * wide)}")
    if points:
        path = f"M{LEFT} {pixels(height_of(0, top))}{''.join(points)}V{pixels(height_of(0, top))}"
        yield f'<path d="{path}z" fill="{line}" fill-opacity="0.12"/>'
        yield f'<path d="{path}" fill="none" stroke="{line}" stroke-width="1.6"/>'
