"""Provenance: the line of the user's program that made a node.

The first frame outside our packages, as "file:line".  It is asked for at every node, so it avoids
what is slow in CPython: a line number is decoded once for each instruction, not at each visit.
A pass that replaces a node gives its line to the new ones (`inherit`), so that an error after ten
passes still names the user's line.  A scope that the user opened is written after the line.  In the
text or file of a graph the line is `relative`.
"""

from __future__ import annotations

import os
import sys
from _thread import _local  # `threading.local`, without importing `threading`

from byparts_graph_ir.errors import GraphError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType


class _Provenance(_local):
    """The location and the scope that `inherit` and `scope` set, in each thread."""

    where: str | None = None
    scope: str = ""


_provenance = _Provenance()


class _IsOurs(dict[str, bool]):
    """Module name -> whether it is one of our packages."""

    def __missing__(self, name: str) -> bool:
        self[name] = is_ours = name.startswith("byparts_")
        return is_ours


_is_ours = _IsOurs()
# id(code) -> the code (so that it lives, and its id stays its own), instruction -> text
_lines: dict[int, tuple[CodeType, dict[int, str]]] = {}


def where() -> str:
    """Return the user's line, or the one that `inherit` set; "" if no frame is the user's."""
    inherited = _provenance.where
    if inherited is not None:
        return inherited
    frame: FrameType | None = sys._getframe(2)  # the caller is our constructor
    while frame is not None:
        if not _is_ours[frame.f_globals.get("__name__", "")]:
            scope = _provenance.scope
            return f"{_text(frame)} in {scope}" if scope else _text(frame)
        frame = frame.f_back
    return ""


class inherit:  # noqa: N801  # read as a verb: `with inherit(line):`
    """Nodes made inside carry `line`.  Per thread."""

    __slots__ = ("before", "line")

    def __init__(self, line: str) -> None:
        self.line = line

    def __enter__(self) -> None:
        self.before = _provenance.where
        _provenance.where = self.line

    def __exit__(self, *raised: object) -> None:
        _provenance.where = self.before


class scope:  # noqa: N801  # read as a verb's object: `with scope("encoder"):`
    """Nodes made inside say so: their `where` is "train.py:41 in encoder".  Per thread.

    Scopes nest ("encoder/attention"), pictures frame them, and errors name them.
    """

    __slots__ = ("before", "name")

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not name or "".join(name.split()) != name:
            raise GraphError(f"scope: {name!r:.80} is no name; use one without blanks, 'encoder'")
        self.name = name

    def __enter__(self) -> None:
        self.before = _provenance.scope
        _provenance.scope = f"{self.before}/{self.name}" if self.before else self.name

    def __exit__(self, *raised: object) -> None:
        _provenance.scope = self.before


def working_folder() -> str:
    """Return the working folder with a separator at its end; "" if the folder was removed."""
    try:
        return os.path.join(os.getcwd(), "")
    except FileNotFoundError:
        return ""


def relative(line: str, folder: str) -> str:
    """Return `line` without the folders of this machine, for files that others read.

    The path begins at the working `folder` if it is below that; else it is the file's name alone.
    """
    path, mark, scope = line.rpartition(" in ")
    if not mark or ":" in scope:  # a file with such a name
        path, mark, scope = line, "", ""
    if folder and path.startswith(folder):
        path = path[len(folder) :].replace(os.sep, "/")
    elif os.path.isabs(path):
        path = os.path.basename(path)
    line = f"{path}{mark}{scope}"
    return line if line.isprintable() else line.encode("unicode_escape").decode()


def _text(frame: FrameType) -> str:
    """Return "file:line" of a frame, decoded once for each instruction."""
    code = frame.f_code
    known = _lines.get(id(code))
    if known is None:
        known = _lines[id(code)] = (code, {})
    text = known[1].get(frame.f_lasti)
    if text is None:
        text = known[1][frame.f_lasti] = f"{code.co_filename}:{frame.f_lineno}"
    return text
