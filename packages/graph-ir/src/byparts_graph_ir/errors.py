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


class ArgumentError(GraphError, TypeError):
    """An argument of the wrong kind: a number where a value is meant, a name where a pass is."""


class VerifyError(GraphError):
    """A graph that breaks one of the numbered invariants of `verify`."""


class FormatError(GraphError):
    """A file or text that is not what it should be, and where; nothing of it was run."""


class MissingRule(GraphError, LookupError):
    """A table has no rule for an op; the message names the line to write."""


class BackendError(GraphError):
    """A backend cannot make kernels any more, e.g. a full disk; a build goes on with the next.

    Args:
        why: what failed, with its actual words.
        backend: its name.
    """

    def __init__(self, why: str, backend: str = "") -> None:
        super().__init__(why)
        self.backend = backend


class PartError(RuntimeError):
    """A part could not be used; the message says which, why, and what to do."""


class LeftOut(ModuleNotFoundError, PartError):
    """A wheel for small devices is without what is asked for; the full wheel of the part has it."""


def add_note(error: E, note: str) -> E:
    """Append a line to what a traceback prints, also on Python 3.10, which lacks `add_note`."""
    if not isinstance(error, BaseException):
        raise ArgumentError(f"add_note: error is no exception: {error!r:.60}")
    if hasattr(error, "add_note"):
        error.add_note(note)
    else:
        error.args = (f"{error.args[0] if error.args else ''}\n  {note}", *error.args[1:])
    return error


def refusal(function: str, name: str, value: object, wanted: object) -> ArgumentError:
    """The error where an argument, or a field of an op, is of another kind than it says."""
    description = "None" if value is None else f"{type(value).__name__} {value!r:.60}"
    return ArgumentError(f"{function}: {name} is {description}; it takes {wanted}")
