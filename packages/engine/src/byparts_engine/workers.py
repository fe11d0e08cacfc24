"""`Workers`: the threads of an engine.

A push only appends a message to an inbox and a token to a queue, each one call of C: a Ctrl-C,
which Python raises in the main thread alone, cannot leave the order half changed.  The thread that
gets the token takes the lock, puts all messages in order, and runs the first task of its lane.
"""

from __future__ import annotations

from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from itertools import count
from queue import SimpleQueue
from threading import Lock, Thread, current_thread
from typing import Any, Optional

from byparts_engine.order import Order
from byparts_engine.task import EngineError, Task, Variable

Answer = Callable[[Optional[BaseException]], Any]


class _Lane:
    """Tasks that may run, and tokens: True, look for a task; False, end."""

    def __init__(self) -> None:
        self.heap: list[tuple[float, int, Task]] = []
        self.tokens: SimpleQueue[bool] = SimpleQueue()


class Workers:
    """Threads that are started by the first message.

    Attributes:
        lanes: the number of workers by lane; one more, of the lane "", answers those who wait.
        threads: all that there are.
    """

    def __init__(self, lanes: Mapping[str, int]) -> None:
        self.lanes = {**lanes, "": 1}
        self._inbox: deque[Task | Callable[[Order], Any]] = deque()
        self._reset()

    def _reset(self) -> None:
        self._inbox.clear()
        self.threads: list[Thread] = []
        self._order, self._numbers = Order(), count()
        self._queues = {name: _Lane() for name in self.lanes}
        self._idle: list[Answer] = []  # called when nothing is left, with the first untold error
        self._cancelled: Optional[EngineError] = None
        self._lock, self._starting, self._is_started = Lock(), Lock(), False

    def send(self, message: Task | Callable[[Order], Any], lane: str = "") -> None:
        """Give a task, or a function of the order, to whoever of a lane looks first."""
        # A Ctrl-C between these two leaves a message that the next token brings along.
        self._inbox.append(message)
        self._queues[lane].tokens.put(True)
        if not self._is_started:
            start_new_thread(self._start, ())  # `Thread.start` can be cut in two by a Ctrl-C
            self._is_started = True

    def idle(self) -> Optional[BaseException]:
        """Wait until nothing is left; the first error that no wait has raised."""
        answer: SimpleQueue[Optional[BaseException]] = SimpleQueue()
        self.send(lambda order: self._idle.append(answer.put))
        return answer.get()

    def told(self, error: BaseException, variable: Optional[Variable]) -> None:
        """Forget an error that a wait for a variable has raised, or `None`: a wait for all."""
        # A write: what was pushed before and reads the variable still meets the error.
        writes = () if variable is None else (variable,)
        self.send(Task(lambda: self._order.told(error, variable), (), writes))

    def stop(self, cancelled: Optional[EngineError] = None) -> Optional[BaseException]:
        """End all threads when nothing is left, and wait for them; the first untold error.

        Args:
            cancelled: the error of what has not begun, which is dropped; `None`: all is done.
        """
        self._cancelled = cancelled
        error = self.idle() if self._is_started or self._inbox else None
        self._end()
        with self._starting:
            threads = list(self.threads)
        for thread in threads:
            thread.join()
        return error

    def stop_later(self, then: Answer) -> None:
        """End all threads when nothing is left, without a wait; called by one of them."""
        self.send(lambda order: self._idle.extend([lambda error: self._end(), then]))

    def is_inside(self) -> bool:
        """Whether one of the threads asks."""
        return current_thread() in self.threads

    def forget(self) -> None:
        """Start anew in a forked child, where the threads are not."""
        error = EngineError("this process was forked before the function ran, or while it did")
        for task in [*self._order.pending, *[m for m in self._inbox if isinstance(m, Task)]]:
            for variable in (*task.reads, *task.writes):
                variable.reset(error if variable in task.writes else variable.error)
        self._reset()

    def _start(self) -> None:
        with self._starting:
            if self.threads:
                return
            self.threads = [
                Thread(target=self._work, args=(lane,), name=f"byparts-engine-{lane}", daemon=True)
                for lane, workers in self.lanes.items()
                for _ in range(workers)
            ]
            for thread in self.threads:
                thread.start()

    def _end(self) -> None:
        for lane, workers in self.lanes.items():
            for _ in range(workers):
                self._queues[lane].tokens.put(False)

    def _work(self, lane: str) -> None:
        tokens = self._queues[lane].tokens
        task: Optional[Task] = None
        while task is not None or tokens.get():
            task = self._next(task, lane)
            if task is None:
                continue
            if self._cancelled is not None and not task.always:
                task.error = self._cancelled
            else:
                task.run()

    def _next(self, done: Optional[Task], lane: str) -> Optional[Task]:
        """Put a finished task and all messages in order; the first task of the lane."""
        heap = self._queues[lane].heap
        with self._lock:
            if done is not None:
                self._give_out(self._order.finish(done), lane)
            while self._inbox:
                message = self._inbox.popleft()
                if isinstance(message, Task):
                    self._give_out(self._order.add(message), lane)
                else:
                    message(self._order)
            while self._idle and not self._order.pending:
                self._idle.pop()(self._order.first_untold())
            return heappop(heap)[2] if heap else None

    def _give_out(self, ready: list[Task], mine: str) -> None:
        """Hand ready tasks to their lanes; this thread, of the lane `mine`, goes on with its first.

        A task that fails without running makes others ready.
        """
        for task in ready:  # which grows
            if task.lane and task.error is None:
                lane = self._queues[task.lane]
                if task.lane != mine or lane.heap:
                    lane.tokens.put(True)
                heappush(lane.heap, (-task.priority, next(self._numbers), task))
            else:
                if not task.lane:
                    task.run()
                ready += self._order.finish(task)
