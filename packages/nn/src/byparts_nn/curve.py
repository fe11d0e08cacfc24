"""Training curves as SVG: no script, no style sheet, the same bytes for the same history."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from byparts_nn.history import History

WIDTH, HEIGHT, LEFT, TOP, GAP = 560, 200, 72, 34, 54  # of a plot and its margins, in pixels
COLOURS = ("#1768ac", "#c8553d", "#2a9d4e", "#7b4fb5", "#b58900")
_PLAIN = ("epoch", "loss", "val_loss", "rate", "samples_per_s", "seconds")

Points = Sequence[tuple[float, float]]  # (epochs done, number)


class Line(NamedTuple):
    """A curve of a plot."""

    name: str
    points: Points
    colour: str
    pale: bool = False


def curves_svg(history: History) -> str:
    """The picture of a history: the losses, and below them the metrics, over epochs."""
    count, steps = max(len(history.rows), 1), len(history.losses)
    every = [(count * (i + 1) / steps, loss) for i, loss in enumerate(history.losses)]
    points = {
        name: list(zip(history.column("epoch"), history.column(name), strict=True))
        for name in history.columns
    }
    named = [name for name in ("loss", "val_loss") if name in points]
    others = [name for name in points if name not in _PLAIN]
    lines = [Line("loss of a step", thinned(every), COLOURS[0], pale=True)]
    lines += [Line(name, points[name], COLOURS[i]) for i, name in enumerate(named)]
    metrics = [
        Line(name, points[name], COLOURS[(i + 2) % len(COLOURS)]) for i, name in enumerate(others)
    ]
    plots = [lines, metrics] if metrics else [lines]
    height = len(plots) * (TOP + HEIGHT + GAP)
    width = LEFT + WIDTH + 24
    body = [part for k, plot in enumerate(plots) for part in _plot(plot, count, k)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{chr(10).join(body)}\n</svg>\n'
    )


def thinned(points: Points, most: int = WIDTH) -> Points:
    """At most `most` points: each the mean of a run of them."""
    size = -(-len(points) // most) or 1
    runs = [points[at : at + size] for at in range(0, len(points), size)]
    return [(run[-1][0], sum(y for _, y in run) / len(run)) for run in runs]


def _plot(lines: Sequence[Line], epochs: int, place: int) -> Iterator[str]:
    top = place * (TOP + HEIGHT + GAP) + TOP
    values = [y for line in lines for _, y in line.points if math.isfinite(y)]
    low, high = min(values, default=0.0), max(values, default=1.0)
    log = low > 0 and high > 30 * low  # a loss that fell by far shows nothing on a plain scale
    marks = _log_marks(low, high) if log else _marks(low, high)
    scale = math.log10 if log else float
    bottom, roof = scale(min(low, marks[0])), scale(max(high, marks[-1]))

    def across(x: float) -> str:
        return _number(LEFT + WIDTH * x / epochs)

    def up(y: float) -> str:
        return _number(top + HEIGHT - HEIGHT * (scale(y) - bottom) / ((roof - bottom) or 1))

    for mark in marks:
        yield f'<path d="M{LEFT} {up(mark)}h{WIDTH}" stroke="#ddd"/>'
        yield _text(LEFT - 8, float(up(mark)) + 4, f"{mark:.4g}", "end")
    for epoch in _marks(0, epochs, whole=True):
        yield _text(float(across(epoch)), top + HEIGHT + 18, f"{epoch:.0f}", "middle")
    yield _text(LEFT + WIDTH, top + HEIGHT + 34, "epoch", "end")
    left = float(LEFT)
    for line in lines:
        yield from _drawn(line, across, up)
        square = f'x="{_number(left)}" y="{top - 22}" width="12" height="12"'
        yield f"<rect {square} {_look(line, True)}/>"
        yield _text(left + 18, top - 12, line.name, "start")
        left += 34 + 7 * len(line.name)


def _drawn(line: Line, across: object, up: object) -> Iterator[str]:
    assert callable(across) and callable(up), "functions of a number"
    points = [(x, y) for x, y in line.points if math.isfinite(y)]
    if len(points) > 1:
        path = "L".join(f"{across(x)} {up(y)}" for x, y in points)
        yield f'<path d="M{path}" {_look(line, False)}/>'
    if len(points) <= 60 and not line.pale:
        for epoch, value in points:
            tip = escape(f"{line.name}: {value:.6g} after epoch {epoch:.0f}")
            place = f'cx="{across(epoch)}" cy="{up(value)}" r="3" fill="{line.colour}"'
            yield f"<circle {place}><title>{tip}</title></circle>"


def _look(line: Line, filled: bool) -> str:
    faint = ' opacity="0.35"' if line.pale else ""
    if filled:
        return f'fill="{line.colour}"{faint}'
    return f'fill="none" stroke="{line.colour}" stroke-width="1.6"{faint}'


def _marks(low: float, high: float, whole: bool = False) -> list[float]:
    """About five round numbers, the first and the last of which enclose [low, high]."""
    rough = max((high - low) / 4, abs(high) * 1e-6, 1e-12)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(k for k in (1, 2, 5, 10) if k * power >= rough * 0.999) * power
    if whole:
        step = max(step, 1.0)
        return [k * step for k in range(int(high / step) + 1)]
    first, last = math.floor(low / step), math.ceil(high / step)
    return [k * step for k in range(first, last + 1)]


def _log_marks(low: float, high: float) -> list[float]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return [10.0**k for k in range(first, last + 1, max(1, (last - first) // 6))]


def _text(x: float, y: float, words: str, anchor: str) -> str:
    place = f'x="{_number(x)}" y="{_number(y)}" text-anchor="{anchor}"'
    return f'<text {place} fill="#445">{escape(words)}</text>'


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
