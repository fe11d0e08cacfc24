"""A placement as text: steps across, bytes up, one letter for each buffer."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters, digits

from byparts_memplan.amount import human
from byparts_memplan.buffer import Placement

_LETTERS = ascii_letters + digits


def draw(placement: Placement, *, width: int = 72, height: int = 16) -> str:
    """At most `width` columns and `height` rows; a cell shows what lies at its middle.

    >>> print(place([Buffer(4, 0, 2), Buffer(2, 1, 3), Buffer(4, 2, 4)]).draw(8, 3))
    6 B |..bbbb..
        |aaaacccc
    0 B |aaaacccc
         steps 0 to 3
    """
    arena = placement.arena_bytes
    steps = max((b.dies for b in placement.buffers), default=0)
    if not arena:
        return "(nothing in the arena)"
    rows = min(height, arena)
    columns = width // steps * steps or width  # whole columns for each step, where there is room
    cells = [["."] * columns for _ in range(rows)]
    for i, (b, offset) in enumerate(zip(placement.buffers, placement.offsets, strict=True)):
        left, right = _covered(b.born, b.dies, columns, steps)
        low, high = _covered(offset, offset + b.size_bytes, rows, arena)
        for row in cells[low:high]:
            row[left:right] = _LETTERS[i % len(_LETTERS)] * (right - left)
    return "\n".join([*_framed(cells, arena), f"{' ' * len(human(arena))}  steps 0 to {steps - 1}"])


def _covered(lower: int, upper: int, cells: int, whole: int) -> tuple[int, int]:
    """Cells `k` whose middles, at (2 k + 1) whole / (2 cells), lie in `[lower, upper)`."""
    return (
        max(0, -((whole - 2 * lower * cells) // (2 * whole))),
        max(0, -((whole - 2 * upper * cells) // (2 * whole))),
    )


def _framed(cells: Sequence[Sequence[str]], arena: int) -> list[str]:
    ticks = [""] * len(cells)
    ticks[0], ticks[-1] = "0 B", human(arena)
    margin = max(map(len, ticks))
    return [
        f"{t:>{margin}} |{''.join(row)}"
        for t, row in zip(reversed(ticks), reversed(cells), strict=True)
    ]
