"""A table no wider than a terminal: cells are shortened, the widest columns first.

A cell is a text, or a list whose first items are shown with the number of all: "%w1, %b1, … (12)".
Where even short cells have no room, whole columns are left out, and a line below says which.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from byparts_graph_ir.model.frozen import Frozen

Cell = Union[str, tuple[str, ...]]
Row = Sequence[Cell]
GAP = 2  # blanks between columns
_NARROW = 6  # letters: no cell is cut to fewer


class Column(Frozen):
    """A column of a table; a `least` of 0 says that its cells stay whole."""

    head: str
    least: int = 0  # how narrow it may be
    right: bool = False  # numbers: aligned on the right
    optional: int = 0  # columns with the largest number are left out first; those of 0 never
    tail: bool = False  # a cell is cut on its left: the end says most


def table(columns: Sequence[Column], rows: Sequence[Row], width: int) -> list[str]:
    """The lines of a table; columns without content are left out.  O(cells)."""
    kept = [c for c in range(len(columns)) if any(row[c] for row in rows)] or [0]
    wanted = {
        c: max(len(columns[c].head), *(len(_text(row[c])) for row in rows)) if rows else 1
        for c in kept
    }
    natural = sum(wanted.values()) + GAP * (len(kept) - 1)
    left_out: list[int] = []
    while kept != (needed := _without_last(columns, kept, wanted, width)):
        left_out += [c for c in kept if c not in needed]
        kept = needed
    widths = _widths(columns, {c: wanted[c] for c in kept}, width)
    lines = [_line(columns, [column.head for column in columns], widths)]
    lines += [_line(columns, row, widths) for row in rows]
    if left_out:
        names = ", ".join(_named(columns[c].head, [row[c] for row in rows]) for c in left_out)
        lines.append(f"no room for: {names}; width={natural} shows all")
    return lines


def _named(head: str, cells: Sequence[Cell]) -> str:
    """A column that is left out; with its text, if it has one alone."""
    texts = {_text(cell) for cell in cells} - {""}
    return f"{head} ({texts.pop()})" if len(texts) == 1 else head


def _without_last(
    columns: Sequence[Column], kept: Sequence[int], wanted: dict[int, int], width: int
) -> list[int]:
    """The columns that have room, or one fewer."""
    least = sum(min(wanted[c], columns[c].least or wanted[c]) for c in kept)
    optional = max((c for c in kept), key=lambda c: columns[c].optional)
    if least + GAP * (len(kept) - 1) <= width or not columns[optional].optional:
        return list(kept)
    return [c for c in kept if c != optional]


def _widths(columns: Sequence[Column], wanted: dict[int, int], width: int) -> dict[int, int]:
    """Take from the widest column that can give, until all fit; below `least` only at the end."""
    widths = dict(wanted)
    for least in ([column.least for column in columns], [_NARROW] * len(columns)):
        while sum(widths.values()) + GAP * (len(widths) - 1) > width:
            giving = [c for c in widths if columns[c].least and widths[c] > least[c]]
            if not giving:
                break
            widths[max(giving, key=widths.__getitem__)] -= 1
    return widths


def _line(columns: Sequence[Column], row: Row, widths: dict[int, int]) -> str:
    cells = []
    for c, width in widths.items():
        text = fitted(row[c], width, tail=columns[c].tail)
        cells.append(text.rjust(width) if columns[c].right else text.ljust(width))
    return (" " * GAP).join(cells).rstrip()


def fitted(cell: Cell, width: int, *, tail: bool = False) -> str:
    """The cell, shortened to the width: a list to its first items, with their number."""
    text = _text(cell)
    if len(text) <= width:
        return text
    if isinstance(cell, tuple) and len(cell) > 1:
        more = f"… ({len(cell)})"
        for count in range(len(cell) - 1, 0, -1):
            shown = f"{', '.join(cell[:count])}, {more}"
            if len(shown) <= width:
                return shown
        room = width - len(more) - 1
        return f"{_cut(cell[0], room)} {more}" if room >= 3 else more
    return f"…{text[len(text) - width + 1 :]}" if tail else _cut(text, width)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: max(width - 1, 0)]}…"


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else ", ".join(cell)
