"""Memory over time and bytes against extra work, as SVG: the pictures of `curve.py`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from byparts_graph_ir.contract import checked
from byparts_memplan.amount import human
from byparts_memplan.pictures.curve import Points, Scale, columns_of, percent, stairs
from byparts_memplan.pictures.picture import (
    byte_ticks,
    clean,
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
POINTS = ("#c8553d", "#2a9d4e", "#7b4fb5", "#b58900", "#444444", "#d0488f")


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
    body = [*_frame(title or "bytes alive at each step", top)]
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
        y = pixels(_y(budget_bytes, top))
        body.append(f'<path d="M{LEFT} {y}h{WIDTH}" stroke="#c22" stroke-dasharray="6 4"/>')
        rows.append(("#c22", f"budget: {human(budget_bytes)}"))
    return _with_legend(body, rows, TOP + HEIGHT + 52)


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
    body = [*_frame(title or "bytes against extra cost", scale.top), *_cost_ticks(scale)]
    rows = []
    for k, (name, points) in enumerate(curves.items()):
        line = LINES[(k + 1) % len(LINES)]
        body += _stairs(name, points, scale, line)
        rows.append((line, name))
    for k, (name, points) in enumerate(baselines.items()):
        fill = POINTS[k % len(POINTS)]
        body += [_dot(name, point, scale, fill) for point in points]
        rows.append((fill, name))
    return _with_legend(body, rows, TOP + HEIGHT + 52)


def _with_legend(body: Sequence[str], rows: Sequence[tuple[str, str]], below: int) -> str:
    words, height = legend(rows, LEFT, below, WIDTH)
    return document(LEFT + WIDTH + 40, int(below + height + 10), [*body, *words])


def _frame(title: str, top: int) -> Iterator[str]:
    yield text(LEFT, 26, fitted(title, WIDTH, 14), font_size=14)
    for size in byte_ticks(top):
        y = _y(size, top)
        yield f'<path d="M{LEFT} {pixels(y)}h{WIDTH}" stroke="#ddd"/>'
        yield text(LEFT - 8, y + 4, human(size), text_anchor="end")


def _y(size: float, top: int) -> float:
    return TOP + HEIGHT - HEIGHT * size / top


def _filled(curve: Sequence[int], steps: int, top: int, line: str) -> Iterator[str]:
    """A line of steps, with its area lightly filled."""
    columns = min(steps, WIDTH)
    points, wide = [], WIDTH / columns
    for x, size in enumerate(columns_of(curve, steps, columns)):
        points.append(f"V{pixels(_y(size, top))}H{pixels(LEFT + (x + 1) * wide)}")
    if points:
        path = f"M{LEFT} {pixels(_y(0, top))}{''.join(points)}V{pixels(_y(0, top))}"
        yield f'<path d="{path}z" fill="{line}" fill-opacity="0.12"/>'
        yield f'<path d="{path}" fill="none" stroke="{line}" stroke-width="1.6"/>'


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
    found = stairs(points)
    corners: list[str] = []
    for size, cost in found:
        x, y = pixels(LEFT + WIDTH * scale.across(cost)), pixels(_y(size, scale.top))
        corners.append(f"H{x}V{y}" if corners else f"M{x} {y}")
    if found:
        path = f"{''.join(corners)}H{LEFT + WIDTH}"
        yield f'<path d="{path}" fill="none" stroke="{line}" stroke-width="1.8"/>'
        yield from (_dot(name, point, scale, line, 2.5) for point in found)


def _dot(name: str, point: tuple[int, float], scale: Scale, fill: str, radius: float = 4.5) -> str:
    size, cost = point
    x, y = pixels(LEFT + WIDTH * scale.across(cost)), pixels(_y(size, scale.top))
    tip = clean(f"{name}: {human(size)} at {percent(cost)} extra")
    return f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{fill}"><title>{tip}</title></circle>'
