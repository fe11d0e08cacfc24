"""Memory over time, and bytes against extra work, as text; `curve_svg.py` draws the same.

A curve is bytes at each step: of a graph (`live_bytes`), before and after something was done to it.
A trade-off is points (bytes, extra cost), as `tradeoff` gives them, the cost as a fraction of a run
without recomputation: for what a point costs one may have its bytes, so the curve is stairs down.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log1p
from string import ascii_lowercase

from byparts_graph_ir import Graph
from byparts_graph_ir.contract import checked
from byparts_memplan.amount import human

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.kernel_facts import Kernels

Points = Sequence[tuple[int, float]]  # (bytes, extra cost)
FILLS = "#:+.%"  # the last curve is in front, and has the first


def live_bytes(
    graph: Graph,
    *,
    external: Collection[int] = frozenset(),
    kernels: Kernels | None = None,
) -> list[int]:
    """Bytes alive at each node that computes; views cost nothing and have no number.

    All that may share bytes does, as in `peak_bytes`; with `kernels`, workspaces count.
    O(nodes + reads).

    Raises:
        PlanError: a type is not static; what `kernels` gives lacks a fact.
    """
    from byparts_memplan.steps import Steps  # only who has a graph pays for it

    return Steps(graph, external=external, kernels=kernels).live_bytes()


@checked
def curve_text(
    curves: Mapping[str, Sequence[int]],
    *,
    budget_bytes: int | None = None,
    width: int = 72,
    height: int = 12,
) -> str:
    """Bytes at each step, filled from below, the last curve in front.

    >>> print(curve_text({"as written": [2, 4, 8, 2], "in order": [2, 4, 4, 2]}, width=8, height=4))
    8 B |    ::
        |    ::
        |  ####
    0 B |########
         steps 0 to 3
         : as written: 8 B at step 2
         # in order: 4 B at step 1
    """
    top = max([1, budget_bytes or 0, *(max(c, default=0) for c in curves.values())])
    steps = max([1, *map(len, curves.values())])
    columns = width // steps * steps or width
    rows = [[" "] * columns for _ in range(height)]
    fills = {name: FILLS[k % len(FILLS)] for k, name in enumerate(reversed(list(curves)))}
    for name, curve in curves.items():
        for x, size in enumerate(columns_of(curve, steps, columns)):
            for row in rows[: -(-size * height // top)]:
                row[x] = fills[name]
    if budget_bytes is not None:
        line = rows[min(budget_bytes * height // top, height - 1)]
        line[:] = [c if c != " " else "-" for c in line]
    told = [f"{fills[name]} {name}: {_peak(curve)}" for name, curve in curves.items() if name]
    if budget_bytes is not None:
        told.append(f"- budget: {human(budget_bytes)}")
    return _framed(rows, human(top), [f"steps 0 to {steps - 1}", *told])


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
    return _framed(rows, human(scale.top), [ends, *told])


def _treads(points: Points, scale: Scale, width: int) -> list[tuple[int, int]]:
    """(column, fewest bytes for what that costs)."""
    found = []
    for x in range(width):
        sizes = [s for s, cost in points if scale.across(cost) * (width - 1) <= x + 0.5]
        if sizes:
            found.append((x, min(sizes)))
    return found


def _mark(
    rows: Sequence[list[str]], scale: Scale, places: Iterable[tuple[int, int]], sign: str
) -> None:
    for x, size in places:
        rows[min(size * len(rows) // scale.top, len(rows) - 1)][x] = sign


class Scale:
    """Of a trade-off: bytes up from 0 to `top`, costs across from 0 to `most`."""

    def __init__(self, curves: Iterable[Points], log: bool) -> None:
        points = [point for curve in curves for point in curve]
        self.most = max((cost for _, cost in points), default=0.0) or 1.0
        self.top = max((size for size, _ in points), default=0) or 1
        self.log = log

    def across(self, cost: float) -> float:
        """From 0 to 1."""
        if self.log:
            return log1p(1000 * cost) / log1p(1000 * self.most)
        return cost / self.most


def stairs(points: Points) -> list[tuple[int, float]]:
    """Those points that have fewer bytes than all cheaper ones, in order of cost."""
    found: list[tuple[int, float]] = []
    for size, cost in sorted(points, key=lambda point: (point[1], point[0])):
        if not found or size < found[-1][0]:
            found.append((size, cost))
    return found


def columns_of(curve: Sequence[int], steps: int, columns: int) -> list[int]:
    """The most within each column, where `columns` show `steps`; shorter curves end earlier."""
    found = []
    for x in range(columns):
        lower = x * steps // columns
        part = curve[lower : max((x + 1) * steps // columns, lower + 1)]
        if not part:
            break
        found.append(max(part))
    return found


def percent(fraction: float) -> str:
    """With three digits at most."""
    return f"{100 * fraction:.3g} %"


def _peak(curve: Sequence[int]) -> str:
    peak = max(curve, default=0)
    return f"{human(peak)} at step {curve.index(peak)}" if curve else "no steps"


def _framed(rows: Sequence[Sequence[str]], top: str, below: Sequence[str]) -> str:
    margin = max(len(top), 3)
    ticks = [top, *[""] * (len(rows) - 2), "0 B"][-len(rows) :]
    drawn = [
        f"{t:>{margin}} |{''.join(row)}".rstrip() for t, row in zip(ticks, rows[::-1], strict=True)
    ]
    return "\n".join([*drawn, *[f"{'':>{margin}}  {line}" for line in below]])
