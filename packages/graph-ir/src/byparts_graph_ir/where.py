"""Provenance: the line of the user's program that made a node.

The first frame outside our packages, as "file:line".  It is asked for at every node, so it avoids
what is slow in CPython: a line number is decoded once for each instruction, not at each visit.
A pass that replaces a node lends its line to the new ones (`inherit`), so an error after ten passes
still names the user's.
"""

from __future__ import annotations

import sys
from _thread import _local  # `threading.local`, without importing `threading`

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType


class _Lent(_local):
    where: str | None = None


_lent = _Lent()


class _Ours(dict[str, bool]):
    """Module name -> whether it is one of our packages."""

    def __missing__(self, name: str) -> bool:
        self[name] = found = name.startswith("byparts_")
        return found


_ours = _Ours()
# id(code) -> the code (so that it lives, and its id stays its own), instruction -> text
_lines: dict[int, tuple[CodeType, dict[int, str]]] = {}


def where() -> str:
    """The user's line, or the lent one; "" where there is no frame but ours."""
    lent = _lent.where
    if lent is not None:
        return lent
    frame: FrameType | None = sys._getframe(2)  # the caller is our constructor
    while frame is not None:
        if not _ours[frame.f_globals.get("__name__", "")]:
            return _text(frame)
        frame = frame.f_back
    return ""


class inherit:  # noqa: N801  # read as a verb: `with inherit(line):`
    """Nodes made inside carry `line`.  Per thread."""

    __slots__ = ("before", "line")

    def __init__(self, line: str) -> None:
        self.line = line

    def __enter__(self) -> None:
        self.before = _lent.where
        _lent.where = self.line

    def __exit__(self, *raised: object) -> None:
        _lent.where = self.before


def _text(frame: FrameType) -> str:
    code = frame.f_code
    known = _lines.get(id(code))
    if known is None:
        known = _lines[id(code)] = (code, {})
    text = known[1].get(frame.f_lasti)
    if text is None:
        text = known[1][frame.f_lasti] = f"{code.co_filename}:{frame.f_lineno}"
    return text
