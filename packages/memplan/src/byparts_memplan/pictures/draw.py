"""A placement as text: steps across, bytes up, one letter for each buffer, or for each scope.

Where labels are given, the legend says whose the letters are: of a few buffers each, of many the
lines of the program that made them.  With `colour`, terminals also show scopes as colours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from string import ascii_letters, digits

from byparts_memplan.amount import human
from byparts_memplan.buffer import by_space
from byparts_memplan.pictures.alive import (
    profile,
    scopes,
    workspaces_in_words,
    worst,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.placed import Placement

_LETTERS = ascii_letters + digits
_FEW, _SCOPES = 12, 12  # lines of the legend
_COLOURS = (203, 114, 75, 221, 177, 80, 215, 148, 105, 211, 246, 180)  # of 256, readable on both

Cells = list[list[int]]  # row by row from the bottom: a buffer, or -1


def draw(
    placement: Placement,
    *,
    width: int = 72,
    height: int = 16,
    labels: Sequence[str] = (),
    colour: bool = False,
) -> str:
    """At most `width` columns and `height` rows; a cell shows what lies at its middle.

    >>> print(place([Buffer(4, 0, 2), Buffer(2, 1, 3), Buffer(4, 2, 4)]).draw(8, 3))
    6 B |..bbbb..
        |aaaacccc
    0 B |aaaacccc
         steps 0 to 3
    """
    if not placement.arena_bytes:
        return "(nothing in the arena)"
    letters, legend = _letters(placement, labels)
    paint: list[int] | None = None
    if colour and labels:
        letters, _ = _letters(placement, ())
        paint, legend = _painter(placement, labels)
    spaces = by_space(placement.buffers)
    lines: list[str] = []
    for space, members in spaces.items():
        several = len(spaces) > 1
        arena = placement.arenas[space] if several else placement.arena_bytes
        lines += [f"{space or 'default space'}: {human(arena)}"] if several or space else []
        if arena:
            panel = _Panel(placement, members, arena, width, min(height, arena))
            lines += panel.lines(letters, paint)
            lines += [panel.worst_line()] if labels else []
    scratch = workspaces_in_words(labels, placement.buffers) if labels else ""
    return "\n".join([*lines, *legend, *([f"  {scratch}"] if scratch else [])])


class _Panel:
    """The drawing of one space."""

    def __init__(
        self, placement: Placement, members: Sequence[int], arena: int, width: int, rows: int
    ) -> None:
        self.placement, self.members, self.arena, self.rows = placement, members, arena, rows
        self.steps = max(b.dies for b in placement.buffers) or 1
        self.columns = width // self.steps * self.steps or width  # whole columns, if there is room
        self.margin = max(len(human(arena)), 3)

    def lines(self, letters: str, paint: Sequence[int] | None) -> list[str]:
        ticks = [""] * max(self.rows, 1)
        ticks[0], ticks[-1] = "0 B", human(self.arena)
        drawn = [_row(row, letters, paint) for row in self._cells()]
        framed = [f"{t:>{self.margin}} |{row}" for t, row in zip(ticks, drawn, strict=True)]
        return [*reversed(framed), f"{' ' * self.margin}  steps 0 to {self.steps - 1}"]

    def worst_line(self) -> str:
        """Points at the step at which most is alive."""
        step, size = worst(profile([self.placement.buffers[i] for i in self.members]))
        column = min((2 * step + 1) * self.columns // (2 * self.steps), self.columns - 1)
        words = f"worst step {step}: {human(size)} alive"
        before = column >= len(words) + 1
        told = f"{words:>{column - 1}} ^" if before else f"{'':>{column}}^ {words}"
        return f"{' ' * self.margin}  {told}"

    def _cells(self) -> Cells:
        cells = [[-1] * self.columns for _ in range(max(self.rows, 1))]
        for i in self.members:
            b, offset = self.placement.buffers[i], self.placement.offsets[i]
            low, high = _covered(offset, offset + b.size_bytes, self.rows, self.arena)
            if low >= high:
                continue
            for born, dies in b.lives:
                left, right = _covered(born, dies, self.columns, self.steps)
                for row in cells[low:high]:
                    row[left:right] = [i] * (right - left)
        return cells


def _letters(placement: Placement, labels: Sequence[str]) -> tuple[str, list[str]]:
    """The letter of each buffer, and what the letters mean."""
    count = len(placement.buffers)
    each = (_LETTERS * (count // len(_LETTERS) + 1))[:count]
    if not labels:
        return each, []
    if count <= _FEW:
        return each, [f"  {i}  {label}"[:100] for i, label in zip(each, labels, strict=True)]
    names, held = scopes(labels, placement.buffers, _SCOPES)
    if not held:
        return each, []
    letter_of = dict(zip(held, _LETTERS, strict=False))
    width = max(len(name) for name in held)
    return "".join([letter_of[name] for name in names]), [
        f"  {letter_of[name]}  {name:<{width}}  {human(size):>10} at the worst step"
        for name, size in held.items()
    ]


def _painter(placement: Placement, labels: Sequence[str]) -> tuple[list[int] | None, list[str]]:
    """The terminal's colour of each buffer, and what the colours mean."""
    names, held = scopes(labels, placement.buffers, _SCOPES)
    if not held:
        return None, []
    colours = dict(zip(held, _COLOURS, strict=False))
    return [colours[name] for name in names], [
        f"  {_painted('##', colours[name])}  {name}, {human(size)} at the worst step"
        for name, size in held.items()
    ]


def _row(row: Iterable[int], letters: str, paint: Sequence[int] | None) -> str:
    if paint is None:
        return "".join(["." if i < 0 else letters[i] for i in row])
    pieces = []
    for i, run in groupby(row):
        cells = ("." if i < 0 else letters[i]) * len(list(run))
        pieces.append(cells if i < 0 else _painted(cells, paint[i]))
    return "".join(pieces)


def _painted(words: str, colour: int) -> str:
    return f"\x1b[38;5;{colour}m{words}\x1b[0m"


def _covered(lower: int, upper: int, cells: int, whole: int) -> tuple[int, int]:
    """Cells `k` whose middles, at (2 k + 1) whole / (2 cells), lie in `[lower, upper)`."""
    return (
        max(0, -((whole - 2 * lower * cells) // (2 * whole))),
        max(0, -((whole - 2 * upper * cells) // (2 * whole))),
    )
