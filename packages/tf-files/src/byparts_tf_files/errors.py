"""`tf.errors`: what goes wrong while a session runs.

Each has the message, the operation and TensorFlow's code; the message ends with the user's line
that made the operation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Optional, ParamSpec, TypeVar

from byparts_graph_ir import ArgumentError, GraphError, ShapeError
from byparts_graph_ir.errors import add_note
from byparts_graph_ir.parts.hub import PartError

P = ParamSpec("P")
R = TypeVar("R")


class OpError(Exception):
    """Error of an operation, and base class of the kinds that TensorFlow tells apart.

    Attributes:
        op: the operation, or `None`.
        message: what was wrong.
        error_code: TensorFlow's number of the kind of error.
    """

    error_code = 2

    def __init__(
        self, node_def: Any, op: Any, message: str, error_code: Optional[int] = None
    ) -> None:
        super().__init__(node_def, op, message)
        self._node_def, self.op, self.message = node_def, op, message
        if error_code is not None:
            self.error_code = error_code

    @property
    def node_def(self) -> Any:
        """The operation as a message of TensorFlow's files."""
        return self._node_def

    def __str__(self) -> str:
        where = getattr(self.op, "where", "")
        made = f"\n\t [[{self.op.name}, created at {where}]]" if where else ""
        return f"{self.message}{made}"


class CancelledError(OpError):
    """Cancelled operation, as when a queue is closed while something waits for it."""

    error_code = 1


class UnknownError(OpError):
    """Something else."""

    error_code = 2

    def __init__(
        self, node_def: Any, op: Any, message: str, error_code: Optional[int] = None
    ) -> None:
        super().__init__(node_def, op, message, error_code)


class InvalidArgumentError(OpError):
    """Values or shapes that an operation does not take."""

    error_code = 3


class DeadlineExceededError(OpError):
    """Operation that took longer than it may."""

    error_code = 4


class NotFoundError(OpError):
    """A file or an entry is not there."""

    error_code = 5


class AlreadyExistsError(OpError):
    """Something that is to be made exists already."""

    error_code = 6


class PermissionDeniedError(OpError):
    """The system does not allow it."""

    error_code = 7


class ResourceExhaustedError(OpError):
    """There is not enough memory."""

    error_code = 8


class FailedPreconditionError(OpError):
    """Something has to be done before, as initialising a variable."""

    error_code = 9


class AbortedError(OpError):
    """Operation that was given up."""

    error_code = 10


class OutOfRangeError(OpError):
    """There is no more: the end of a dataset, of a queue that was closed."""

    error_code = 11


class UnimplementedError(OpError):
    """Operation that cannot be done here."""

    error_code = 12


class InternalError(OpError):
    """A mistake of ours."""

    error_code = 13


class UnavailableError(OpError):
    """Service or resource that cannot be had now."""

    error_code = 14


class DataLossError(OpError):
    """A damaged file."""

    error_code = 15


class UnauthenticatedError(OpError):
    """Caller whose identity is not known."""

    error_code = 16


_OF_PYTHON: tuple[tuple[type[Exception], type[OpError]], ...] = (
    (StopIteration, OutOfRangeError),
    (ValueError, InvalidArgumentError),
    (TypeError, InvalidArgumentError),
    (MemoryError, ResourceExhaustedError),
    (NotImplementedError, UnimplementedError),
)


def error_of_python(error: Exception) -> OpError:
    """Convert an exception of a Python function that an operation calls, as TensorFlow does."""
    found = [made for kind, made in _OF_PYTHON if isinstance(error, kind)]
    kind = found[0] if found else UnknownError
    return kind(None, None, f"{type(error).__name__}: {error}")


CODES = {
    name: code
    for code, name in enumerate(
        (
            *("OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND"),
            *("ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION"),
            *("ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"),
            "UNAUTHENTICATED",
        )
    )
}
globals().update(CODES)


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The class of errors with this code.

    Raises:
        KeyError: there is none.
    """
    return {kind.error_code: kind for kind in OpError.__subclasses__()}[error_code]


def error_code_from_exception_type(cls: type[OpError]) -> int:
    """The code of errors of this class."""
    return cls.error_code


def error_of(op: Any, error: BaseException) -> OpError:
    """The error of TensorFlow's kind for one that was raised in lowering or running `op`."""
    message = str(error.args[0]) if error.args else type(error).__name__
    kind: type[OpError]
    if isinstance(error, MemoryError):
        kind = ResourceExhaustedError
    elif isinstance(error, NotImplementedError):
        kind = UnimplementedError
    elif isinstance(error, FileNotFoundError):
        kind = NotFoundError
    elif isinstance(error, StopIteration):
        kind = OutOfRangeError
    elif isinstance(error, (ValueError, TypeError, IndexError, KeyError, ArithmeticError)):
        kind = InvalidArgumentError
    else:
        kind = UnknownError
    made = kind(None, op, message)
    for note in getattr(error, "__notes__", ()):
        if hasattr(made, "add_note"):
            made.add_note(note)
    return made


def raises_graph_errors(function: Callable[P, R]) -> Callable[P, R]:
    """The function, for programs that know the graph's errors and not TensorFlow's.

    A TypeError of it is an `ArgumentError`, another ValueError a `ShapeError`, what goes wrong in a
    run a `GraphError`.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except (GraphError, PartError):
            raise
        except (TypeError, ValueError, OpError, RuntimeError) as error:
            kinds = {TypeError: ArgumentError, ValueError: ShapeError}
            made: GraphError = kinds.get(type(error), GraphError)(str(error))
            for note in getattr(error, "__notes__", ()):
                add_note(made, note)
            raise made from error

    return call
