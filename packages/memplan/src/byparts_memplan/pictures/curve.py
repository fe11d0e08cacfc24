"""Bytes alive at each step of a graph (`live_bytes`) as text; `curve_svg.py` draws the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from byparts_graph_ir import Graph
from byparts_graph_ir.contract import checked
from byparts_memplan.amount import human

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.kernel_facts import Kernels

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
    return framed(rows, human(top), [f"steps 0 to {steps - 1}", *told])


def columns_of(curve: Sequence[int], steps: int, columns: int) -> list[int]:
    """The most within each column, where `columns` show `steps`; shorter curves end earlier."""
    largest = []
    for x in range(columns):
        lower = x * steps // columns
        part = curve[lower : max((x + 1) * steps // columns, lower + 1)]
        if not part:
            break
        largest.append(max(part))
    return largest


def percent(fraction: float) -> str:
    """With three digits at most."""
    return f"{100 * fraction:.3g} %"


def _peak(curve: Sequence[int]) -> str:
    peak = max(curve, default=0)
    return f"{human(peak)} at step {curve.index(peak)}" if curve else "no steps"


def framed(rows: Sequence[Sequence[str]], top: str, below: Sequence[str]) -> str:
    """The rows of a picture in text, with a scale from 0 to `top` and lines below it."""
    margin = max(len(top), 3)
    ticks = [top, *[""] * (len(rows) - 2), "0 B"][-len(rows) :]
    drawn = [
        f"{t:>{margin}} |{''.join(row)}".rstrip() for t, row in zip(ticks, rows[::-1], strict=True)
    ]
    return "\n".join([*drawn, *[f"{'':>{margin}}  {line}" for line in below]])
