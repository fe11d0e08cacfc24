"""`Variable`, a name for what functions share; `Task`, one pushed function."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, Optional


class EngineError(RuntimeError):
    """A wrong use of an engine, or work that ended without being done."""


class Variable:
    """A name for something that functions read and write; the engine never looks at the thing.

    Attributes:
        name: for errors.
        error: what kept it from being written, until a wait has raised that.
        deleted: whether nothing more can be pushed with it.
    """

    __slots__ = ("__weakref__", "deleted", "error", "name", "queue", "readers", "writing")

    def __init__(self, name: str = "") -> None:
        self.name, self.deleted = name, False
        self.reset(None)

    def reset(self, error: Optional[BaseException]) -> None:
        """Forget who reads, writes and waits."""
        self.error = error
        self.queue: deque[tuple[Task, bool]] = deque()  # who waits, and whether to write
        self.readers, self.writing = 0, False  # tasks that have it now

    def __repr__(self) -> str:
        return f"Variable({self.name!r})"


class Task:
    """A function, the variables it reads and writes, and where it was pushed.

    Attributes:
        priority: of those that may run, the highest runs first.
        lane: the group of workers that runs it; "": it is a question, which the order answers.
        always: whether it runs though something it needs was not made.
        error: what it raised, or what kept it from running.
    """

    def __init__(
        self,
        function: Callable[[], Any],
        reads: Sequence[Variable],
        writes: Sequence[Variable] = (),
        priority: float = 0,
        lane: str = "",
        always: bool = True,
        place: Optional[tuple[CodeType, int]] = None,
    ) -> None:
        self.function, self.reads, self.writes = function, reads, writes
        self.priority, self.lane, self.always, self.place = priority, lane, always, place
        self.waits = 1 + len(reads) + len(writes)  # variables it does not have yet; one for `add`
        self.error: Optional[BaseException] = None

    def run(self) -> None:
        """Call the function, and keep what it raises."""
        try:
            self.function()
        except BaseException as error:  # SystemExit and the like are for whoever waits
            if hasattr(error, "add_note") and self.place is not None:  # Python 3.11
                code, line = self.place
                error.add_note(f"in a function pushed at {code.co_filename}:{line}")
            self.error = error
