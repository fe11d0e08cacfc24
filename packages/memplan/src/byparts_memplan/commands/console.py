"""The output of the commands of this part, and the files that they write."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from errno import EISDIR, ENOENT
from pathlib import Path

from byparts_graph_ir import FormatError
from byparts_graph_ir.parts.hub import parts
from byparts_memplan.amount import human


def check_places(paths: Sequence[str | None]) -> None:
    """Raise OSError unless files can be written there: before a search that takes minutes."""
    for path in filter(None, paths):
        if Path(path).is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR), path)
        if not Path(path).absolute().parent.is_dir():
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT), path)


def print_progress() -> Callable[[str], None] | None:
    """A function that prints what a search does, for a person at a terminal; else `None`."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    return lambda line: print(line, file=sys.stderr)


def write(path: str, text: str) -> None:
    """Write a file and say so on the error stream."""
    Path(path).write_text(text, encoding="utf-8")
    print(f"wrote {path}, {human(len(text.encode()))}", file=sys.stderr)


def complain(command: str, model: str, error: Exception) -> None:
    """Print an error of a command on the error stream, with its notes."""
    words = re.sub(r"try budget_bytes=\d+, ", "try ", f"{model}: {error}")  # a note says which
    if isinstance(error, OSError):
        words = f"{error.filename or '<stdout>'}: {error.strerror or error}"
    print(f"byparts {command}: {words}", file=sys.stderr)
    for note in getattr(error, "__notes__", ()):
        print(f"  {note}", file=sys.stderr)
    if isinstance(error, FormatError) and "unknown op" in str(error):
        having = ", ".join(part.distribution for part, _ in parts.records("ops")) or "none"
        print(f"  parts with ops: {having}; the one that has it must be installed", file=sys.stderr)
