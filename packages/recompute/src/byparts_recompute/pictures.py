"""Draw bytes against extra work, as text and as SVG.

A trade-off is a sequence of points (bytes, extra cost), as `tradeoff` returns them; the cost is a
fraction of the cost of a run without recomputation.  A point that needs at least the bytes and the
cost of another one is left out, so the curve is a staircase down.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log1p
from string import ascii_lowercase

from byparts_graph_ir.contract import checked
from byparts_memplan.amount import human
from byparts_memplan.pictures.curve import FILLS, framed, percent
from byparts_memplan.pictures.curve_svg import (
    HEIGHT,
    LEFT,
    LINES,
    TOP,
    WIDTH,
    frame,
    height_of,
    with_legend,
)
from byparts_memplan.pictures.picture import clean, pixels, text, ticks
from byparts_recompute.undominated import stairs

Points = Sequence[tuple[int, float]]  # (bytes, extra cost)
POINTS = ("#c8553d", "#2a9d4e", "#7b4fb5", "#b58900", "#444444", "#d0488f")


@checked
def tradeoff_text(
    curves: Mapping[str, Points],
    *,
    baselines: Mapping[str, Points] | None = None,
    log: bool = False,
    width: int = 72,
    height: int = 16,
) -> str:
    """Bytes (up) against extra cost (across); curves as stairs, baselines as letters.

    With `log`, small costs get more room: the scale is that of log(1 + 1000 cost).
    """
    baselines = baselines or {}
    scale = Scale([*curves.values(), *baselines.values()], log)
    letters = dict(zip(baselines, ascii_lowercase * len(baselines), strict=False))
    rows = [[" "] * width for _ in range(height)]
    signs = list(zip(reversed(list(curves)), FILLS * len(curves), strict=False))
    for name, sign in signs:
        _mark(rows, scale, _treads(curves[name], scale, width), sign)
    for name, points in baselines.items():
        places = [(round(scale.across(cost) * (width - 1)), size) for size, cost in points]
        _mark(rows, scale, places, letters[name])
    ends = f"extra cost 0 to {percent(scale.most)}{', small ones wider' if log else ''}"
    told = [f"{sign} {name}" for name, sign in reversed(signs)]
    told += [f"{letter} {name}" for name, letter in letters.items()]
    return framed(rows, human(scale.top), [ends, *told])


def _treads(points: Points, scale: Scale, width: int) -> list[tuple[int, int]]:
    """For each column that has some, the fewest bytes of all points at it or left of it."""
    treads = []
    for x in range(width):
        sizes = [s for s, cost in points if scale.across(cost) * (width - 1) <= x + 0.5]
        if sizes:
            treads.append((x, min(sizes)))
    return treads


def _mark(
    rows: Sequence[list[str]], scale: Scale, places: Iterable[tuple[int, int]], sign: str
) -> None:
    for x, size in places:
        rows[min(size * len(rows) // scale.top, len(rows) - 1)][x] = sign


@checked
def tradeoff_svg(
    curves: Mapping[str, Points],
    *,
    baselines: Mapping[str, Points] | None = None,
    log: bool = False,
    title: str = "",
) -> str:
    """Bytes (up) against extra cost (across): curves as stairs, baselines as labelled points.

    A cost is a fraction of a run without recomputation.  With `log`, small costs get more room.
    """
    baselines = baselines or {}
    scale = Scale([*curves.values(), *baselines.values()], log)
    body = [*frame(title or "bytes against extra cost", scale.top), *_cost_ticks(scale)]
    rows = []
    for k, (name, points) in enumerate(curves.items()):
        line = LINES[(k + 1) % len(LINES)]
        body += _stairs(name, points, scale, line)
        rows.append((line, name))
    for k, (name, points) in enumerate(baselines.items()):
        fill = POINTS[k % len(POINTS)]
        body += [_dot(name, point, scale, fill) for point in points]
        rows.append((fill, name))
    return with_legend(body, rows, TOP + HEIGHT + 52)


class Scale:
    """The axes of a picture: bytes up from 0 to `top`, costs across from 0 to `most`."""

    def __init__(self, curves: Iterable[Points], log: bool) -> None:
        points = [point for curve in curves for point in curve]
        self.most = max((cost for _, cost in points), default=0.0) or 1.0
        self.top = max((size for size, _ in points), default=0) or 1
        self.log = log

    def across(self, cost: float) -> float:
        """The place of a cost on its axis, from 0 to 1."""
        if self.log:
            return log1p(1000 * cost) / log1p(1000 * self.most)
        return cost / self.most


def _cost_ticks(scale: Scale) -> Iterator[str]:
    if scale.log:
        costs = [0.0, *(10.0**k for k in range(-4, 4) if 10.0**k < scale.most * 0.8), scale.most]
        costs = [c for c in costs if c == 0 or scale.across(c) > 0.06]
    else:
        costs = [k / 1e6 for k in ticks(int(scale.most * 1e6), 6)]
    for cost in costs:
        x = LEFT + WIDTH * scale.across(cost)
        yield f'<path d="M{pixels(x)} {TOP}v{HEIGHT}" stroke="#eee"/>'
        yield text(x, TOP + HEIGHT + 18, percent(cost), text_anchor="middle")
    yield text(LEFT + WIDTH / 2, TOP + HEIGHT + 34, "extra cost", text_anchor="middle")


def _stairs(name: str, points: Points, scale: Scale, line: str) -> Iterator[str]:
    kept = stairs(points)
    corners: list[str] = []
    for size, cost in kept:
        x, y = pixels(LEFT + WIDTH * scale.across(cost)), pixels(height_of(size, scale.top))
        corners.append(f"H{x}V{y}" if corners else f"M{x} {y}")
    if kept:
        path = f"{''.join(corners)}H{LEFT + WIDTH}"
        yield f'<path d="{path}" fill="none" stroke="{line}" stroke-width="1.8"/>'
        yield from (_dot(name, point, scale, line, 2.5) for point in kept)


def _dot(name: str, point: tuple[int, float], scale: Scale, fill: str, radius: float = 4.5) -> str:
    size, cost = point
    x, y = pixels(LEFT + WIDTH * scale.across(cost)), pixels(height_of(size, scale.top))
    tip = clean(f"{name}: {human(size)} at {percent(cost)} extra")
    return f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{fill}"><title>{tip}</title></circle>'
