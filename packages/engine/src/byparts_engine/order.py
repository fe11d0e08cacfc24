"""`Order`: which tasks may run now.

Of two tasks of which one writes what the other reads or writes, the one pushed first runs first.
Each variable keeps a queue, first come first served: readers run beside each other, a writer alone.
Adding and finishing a task cost time in proportion to its variables.
"""

from __future__ import annotations

from byparts_engine.task import Task, Variable


class Order:
    """The tasks that are not done; used by one thread at a time.

    Attributes:
        pending: in the order in which they were pushed.
        untold: errors that no wait has raised yet, by their ids.
    """

    def __init__(self) -> None:
        self.pending: dict[Task, None] = {}
        self.untold: dict[int, BaseException] = {}
        self._carriers: dict[int, list[Variable]] = {}  # of each error

    def add(self, task: Task) -> list[Task]:
        """The task, if it may run now; else it waits in the queues of its variables."""
        self.pending[task] = None
        ready: list[Task] = []
        for variables, writes in ((task.reads, False), (task.writes, True)):
            for variable in variables:
                variable.queue.append((task, writes))
                self._grant(variable, ready)
        return ready + self._has_one_more(task)

    def finish(self, task: Task) -> list[Task]:
        """The tasks that may run now that this one is done; its error passes to what it writes."""
        del self.pending[task]
        if task.error is not None:
            self.untold.setdefault(id(task.error), task.error)
            carriers = self._carriers.setdefault(id(task.error), [])
            carriers += [v for v in task.writes if v.error is not task.error]
            for variable in task.writes:
                variable.error = task.error
        ready: list[Task] = []
        for variable in task.reads:
            variable.readers -= 1
            self._grant(variable, ready)
        for variable in task.writes:
            variable.writing = False
            self._grant(variable, ready)
        return ready

    def first_untold(self) -> BaseException | None:
        """The first error that no wait has raised."""
        return next(iter(self.untold.values()), None)

    def told(self, error: BaseException, variable: Variable | None) -> None:
        """Forget an error that a wait for this variable, or for all, has raised."""
        self.untold.pop(id(error), None)
        carriers = self._carriers.pop(id(error), [])
        for carrier in carriers if variable is None else [variable]:
            if carrier.error is error:
                carrier.error = None
        if left := [v for v in carriers if v.error is error]:
            self._carriers[id(error)] = left

    def _grant(self, variable: Variable, ready: list[Task]) -> None:
        """Let the first in the queue have the variable: one writer, or readers up to the next."""
        while variable.queue and not variable.writing:
            task, writes = variable.queue[0]
            if writes and variable.readers:
                return
            variable.queue.popleft()
            variable.writing = writes
            variable.readers += not writes
            ready += self._has_one_more(task)

    def _has_one_more(self, task: Task) -> list[Task]:
        task.waits -= 1
        if task.waits:
            return []
        if not task.always:
            errors = [v.error for v in (*task.reads, *task.writes) if v.error is not None]
            task.error = errors[0] if errors else None
        return [task]
