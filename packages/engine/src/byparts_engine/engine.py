"""`Engine`: takes functions, and runs each on a worker thread when what it needs is free."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable, Iterable, Mapping
from queue import SimpleQueue
from typing import Any, Optional

from byparts_engine.task import EngineError, Task, Variable
from byparts_engine.workers import Workers

_engines: weakref.WeakSet[Engine] = weakref.WeakSet()


class Engine:
    """Runs pushed functions as if in the order in which they were pushed, beside each other.

    Any two functions of which one writes a variable that the other reads or writes run in the order
    of their pushes; all others may run at the same time.  Functions of NumPy and of compiled code
    let other threads run; those of plain Python take turns.

    Used in a `with` statement it is closed at its end.  An engine that nobody holds any longer, or
    that is there when Python ends, does what was pushed and then ends its threads.  In a forked
    child it starts empty: a wait for what was not written before the fork raises EngineError.

    Args:
        workers: threads of the lane "cpu", or their number by lane, e.g. `{"cpu": 2, "copy": 1}`.

    Raises:
        EngineError: a lane without a name or a worker.
    """

    def __init__(self, workers: int | Mapping[str, int] = 2) -> None:
        lanes = dict(workers) if isinstance(workers, Mapping) else {"cpu": workers}
        if not lanes or "" in lanes or min(lanes.values()) < 1:
            raise EngineError(f"workers={workers!r}: each lane has a name and at least one worker")
        self._first = next(iter(lanes))
        self._workers = Workers(lanes)
        self._is_closed = False
        self._end = weakref.finalize(self, _ended, self._workers)
        _engines.add(self)

    def new_variable(self, name: str = "") -> Variable:
        """A name for something that functions will share."""
        return Variable(name)

    def push(
        self,
        function: Callable[[], Any],
        reads: Iterable[Variable] = (),
        writes: Iterable[Variable] = (),
        priority: float = 0,
        lane: str = "",
    ) -> None:
        """Have `function` called when what was pushed before leaves its variables free; no wait.

        Args:
            function: takes nothing; its result is dropped.  Where it raises, what it writes is not
                made: functions that need that do not run, and waits for it raise the error.
            reads: variables; one that is also among `writes` is written.
            writes: variables.
            priority: among functions that may run, the highest first, then the first pushed.
            lane: the group of workers; the first of the engine where it is not given.

        Raises:
            EngineError: the engine is closed, a variable is deleted, or there is no such lane.
        """
        self._push(function, reads, writes, priority, lane or self._first, always=False)

    def delete(self, variable: Variable, function: Callable[[], Any] = lambda: None) -> None:
        """Have `function` called after all that uses the variable, also if that failed.

        Raises:
            EngineError: as `push`; nothing can be pushed with the variable from now on.
        """
        self._push(function, (), (variable,), 0, self._first, always=True)
        variable.deleted = True

    def wait_for(self, *variables: Variable) -> None:
        """Wait until what was pushed before and writes one of these variables is done.

        Raises:
            EngineError: called by a function that the engine runs, which would wait for itself.
            BaseException: what a function raised that a variable depends on.  Raised once; then
                that variable can be used again.
        """
        for variable in variables:
            self._check_outside()
            answer: SimpleQueue[Optional[BaseException]] = SimpleQueue()
            self._workers.send(Task(lambda: answer.put(variable.error), (variable,)))  # noqa: B023
            self._raise(answer.get(), variable)

    def wait_all(self) -> None:
        """Wait until nothing is left to do.

        Raises:
            EngineError: as `wait_for`.
            BaseException: the first error that no wait has raised; then all variables that depend
                on it can be used again.
        """
        self._check_outside()
        self._raise(self._workers.idle())

    def close(self, cancel: bool = False) -> None:
        """Do what was pushed, and end the threads; a second call does nothing.

        Args:
            cancel: drop what has not begun, but for deletions.

        Raises:
            EngineError: called by a function that the engine runs.
            BaseException: the first error that no wait has raised, unless `cancel`.
        """
        self._check_outside()
        self._is_closed = True
        if self._end.detach():
            error = self._workers.stop(EngineError("the engine was closed") if cancel else None)
            if error is not None and not cancel:
                raise error

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close(cancel=kind is not None)

    def _push(
        self,
        function: Callable[[], Any],
        reads: Iterable[Variable],
        writes: Iterable[Variable],
        priority: float,
        lane: str,
        always: bool,
    ) -> None:
        written = tuple(dict.fromkeys(writes))
        read = tuple([v for v in dict.fromkeys(reads) if v not in written])
        if self._is_closed and not self._workers.is_inside():
            raise EngineError("push: the engine is closed; make another")
        for variable in (*read, *written):
            if variable.deleted:
                raise EngineError(f"push: {variable} is deleted; make another with new_variable()")
        if lane not in self._workers.lanes:
            lanes = ", ".join(filter(None, self._workers.lanes))
            raise EngineError(f"push: no lane {lane!r}; this engine has: {lanes}")
        caller = sys._getframe(2)
        place = caller.f_code, caller.f_lineno
        self._workers.send(Task(function, read, written, priority, lane, always, place), lane)

    def _raise(self, error: Optional[BaseException], variable: Optional[Variable] = None) -> None:
        if error is not None:
            self._workers.told(error, variable)
            raise error

    def _check_outside(self) -> None:
        if self._workers.is_inside():
            raise EngineError(
                "a function that the engine runs cannot wait for others: they may wait for its "
                "worker; push a function that reads the variable instead"
            )


def _ended(workers: Workers) -> None:
    """Do what was pushed to an engine that nobody holds, and show an error that nobody saw."""
    if workers.is_inside():
        workers.stop_later(_show)
    else:
        _show(workers.stop())


def _show(error: Optional[BaseException]) -> None:
    if error is not None:
        print("Error in a function pushed to an engine, for which nobody waited:", file=sys.stderr)
        sys.excepthook(type(error), error, error.__traceback__)


def _forked() -> None:
    for engine in list(_engines):
        engine._workers.forget()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_forked)
