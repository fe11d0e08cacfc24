"""Errors a user can make, each with its own type; what breaks inside us is an `assert`.

A message says what was wrong with its actual numbers; notes add where it was made and what to do.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` takes as long to import as all of this part
if TYPE_CHECKING:
    from typing import TypeVar

    E = TypeVar("E", bound=BaseException)


class GraphError(ValueError):
    """A program that cannot be built."""


class ShapeError(GraphError):
    """Types or shapes that do not fit together."""


class VerifyError(GraphError):
    """A graph that breaks one of the numbered invariants of `verify`."""


class FormatError(GraphError):
    """Text or JSON that is not a graph; nothing of it was run."""


class MissingRule(GraphError, LookupError):
    """A table has no rule for an op; the message names the line to write."""


def add_note(error: E, note: str) -> E:
    """Append a line to what a traceback prints, also on Python 3.10, which lacks `add_note`."""
    if hasattr(error, "add_note"):
        error.add_note(note)
    else:
        error.args = (f"{error.args[0] if error.args else ''}\n  {note}", *error.args[1:])
    return error
