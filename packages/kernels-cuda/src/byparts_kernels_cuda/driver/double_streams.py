"""Streams of the double: work waits until somebody waits for it, as late as a GPU may do it.

A copy from pinned memory reads it only then, so a buffer that is filled again too early, or freed,
gives wrong numbers.  A stream that was made blocking and the stream 0 wait for each other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Optional

Work = Callable[[], object]


@dataclass(eq=False)
class Stream:
    """Work in order.

    Attributes:
        device: the number of its GPU.
        blocking: whether it and the stream 0 wait for each other.
        capturing: what was captured so far; `None` where it does not capture.
        thread: which captures.
        broken: whether something forbidden was called while capturing.
    """

    device: int
    blocking: bool = True
    todo: deque[tuple[int, Work]] = field(default_factory=deque)
    capturing: Optional[list[Work]] = None
    thread: int = 0
    broken: bool = False


@dataclass(eq=False)
class Event:
    """A place in a stream: `at` is the number of the work after which it is over."""

    device: int
    stream: Optional[Stream] = None
    at: int = 0
    time_s: float = 0.0


@dataclass(eq=False)
class Graph:
    """Work that was captured."""

    device: int
    work: tuple[Work, ...]


class Streams:
    """All streams of one GPU."""

    _numbers = count(1)

    def __init__(self, device: int) -> None:
        self.zero = Stream(device)
        self.others: list[Stream] = []

    def add(self, stream: Stream, work: Work) -> int:
        """Put work at the end of a stream, or into what it captures; its number."""
        number = next(self._numbers)
        if stream.capturing is not None:
            stream.capturing.append(work)
        else:
            stream.todo.append((number, work))
        return number

    def finish(self, stream: Stream, until: Optional[int] = None) -> None:
        """Do the work of a stream up to that number, and what it has to wait for."""
        while stream.todo and (until is None or stream.todo[0][0] <= until):
            number, work = stream.todo.popleft()
            for other in self._waited_for(stream):
                self.finish(other, number)
            work()
        for other in self._waited_for(stream) if until is None else ():
            self.finish(other, until)

    def finish_all(self) -> None:
        """Do all work there is."""
        for stream in (self.zero, *self.others):
            while stream.todo:
                self.finish(stream, stream.todo[-1][0])

    def _waited_for(self, stream: Stream) -> list[Stream]:
        if stream is self.zero:
            return [s for s in self.others if s.blocking and s.todo]
        return [self.zero] if stream.blocking and self.zero.todo else []
