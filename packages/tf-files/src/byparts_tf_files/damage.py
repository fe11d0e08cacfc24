"""Refuses what a file says, in one kind of error, where reading it fails at something else.

A model in a file is made by the same functions as one in a program, which take what they are given:
a list where a name is meant, an empty list of inputs, a size of 10**40.  A program gets Python's
error with the line that is wrong; a file has no lines, and its reader says what was being read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from byparts_graph_ir import FormatError, GraphError

_RAW = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, SyntaxError),
    RecursionError,
)


@contextmanager
def refusing(what: str) -> Iterator[None]:
    """Raise a FormatError that begins with `what` where the body fails at what it was given.

    What is refused already, with a ValueError or an error of TensorFlow's, stays as it is.

    Raises:
        FormatError: something is missing, of the wrong kind, out of range, or too deep.
    """
    try:
        yield
    except GraphError:
        raise
    except _RAW as error:
        raise FormatError(f"{what} is damaged: {_sentence(error)}") from error


def _sentence(error: BaseException) -> str:
    words = str(error.args[0]) if error.args else type(error).__name__
    if isinstance(error, RecursionError):
        return "things in things, too deep"
    if isinstance(error, IndexError):
        return f"something is missing ({words})"
    if isinstance(error, KeyError) and " " not in words:
        return f"{words!r:.80} is missing"
    return words[:300]
