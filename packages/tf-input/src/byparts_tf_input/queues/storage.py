"""Content of a queue in a session, and the threads that wait at it.

Elements are tuples of arrays, one for each component.  Who puts or takes gets a turn, in the order
of asking, and waits for room or for elements when it is its turn; so an `enqueue_many` larger than
the queue goes in as others take, and so does a `dequeue_many`.
"""

from __future__ import annotations

import heapq
import random
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.running.waiting import Waiting, wait
from byparts_graph_ir.fork import make_lock
from byparts_tf_files.errors import (
    CancelledError,
    InvalidArgumentError,
    OutOfRangeError,
)
from byparts_tf_files.shape import Dims, fits

Element = tuple[Any, ...]


class _Turn:
    """A thread that waits; `cancelled` ends that."""

    def __init__(self) -> None:
        self.cancelled = False


class Storage(Waiting):
    """A queue, first in, first out.

    Args:
        name: as errors call it.
        capacity: how many elements there may be; negative: any number.
        shapes: of each component, for those that say them.
    """

    kind = "FIFOQueue"

    def __init__(self, name: str, capacity: int, shapes: Optional[Sequence[Dims]]) -> None:
        self.name, self.capacity, self.shapes = name, capacity, shapes
        self.closed = False
        self._elements: Any = deque()
        self._changed = threading.Condition(make_lock())
        self._putting: deque[_Turn] = deque()
        self._taking: deque[_Turn] = deque()

    # What other kinds do otherwise

    def _put(self, element: Element) -> None:
        self._elements.append(element)

    def _take(self) -> Element:
        taken: Element = self._elements.popleft()
        return taken

    def _put_back(self, elements: Sequence[Element]) -> None:
        self._elements.extendleft(reversed(elements))

    def _available(self) -> int:
        return len(self._elements)

    def stacked(self, values: Sequence[Any], component: int) -> Any:
        """Several elements' values of a component as one array."""
        return np.stack(values)

    # What all do

    def size(self) -> int:
        """The number of elements."""
        return len(self._elements)

    def put(self, elements: Sequence[Element]) -> None:
        """Put elements behind the others, waiting for room.

        Raises:
            CancelledError: the queue is closed, or is while this waits.
            InvalidArgumentError: a shape does not fit.
        """
        for element in elements:
            self._check(element)
        with self._changed, self._turn(self._putting) as turn:
            self._await_turn(turn, self._putting, "Enqueue")
            if self.closed:
                raise CancelledError(None, None, f"{self.kind} '{self.name}' is closed.")
            for element in elements:
                while 0 <= self.capacity <= len(self._elements):
                    self._wait(turn, "Enqueue")
                self._put(element)
                self._changed.notify_all()

    def take(self, count: int, up_to: bool = False) -> list[Element]:
        """The next `count` elements, waiting for them.

        Args:
            count: how many.
            up_to: whether fewer will do when the queue is closed.

        Raises:
            OutOfRangeError: the queue is closed and has fewer.
            CancelledError: the session is closed.
        """
        taken: list[Element] = []
        with self._changed, self._turn(self._taking) as turn:
            try:
                self._await_turn(turn, self._taking, "Dequeue")
                while len(taken) < count:
                    if self._available() > 0:
                        taken.append(self._take())
                        self._changed.notify_all()
                    elif not self.closed:
                        self._wait(turn, "Dequeue")
                    elif up_to and taken:
                        break
                    else:
                        raise self._too_few(count, len(taken))
            except BaseException:
                self._put_back(taken)
                raise
        return taken

    def _too_few(self, count: int, taken: int) -> OutOfRangeError:
        return OutOfRangeError(
            None,
            None,
            f"{self.kind} '{self.name}' is closed and has insufficient elements "
            f"(requested {count}, current size {taken + len(self._elements)})",
        )

    def close(self, cancel_pending_enqueues: bool = False) -> None:
        """Take nothing in any more; what waits to come in comes first, unless it is cancelled.

        Raises:
            CancelledError: it is closed already.
        """
        with self._changed:
            if cancel_pending_enqueues:
                self._cancel(self._putting)
            with self._turn(self._putting) as turn:
                self._await_turn(turn, self._putting, "Close")
                if self.closed and not cancel_pending_enqueues:
                    raise CancelledError(None, None, f"Queue '{self.name}' is already closed.")
                self.closed = True
                self._changed.notify_all()

    def cancel(self) -> None:
        """End all waiting, with `CancelledError`."""
        with self._changed:
            self.closed = True
            self._cancel(self._putting)
            self._cancel(self._taking)

    def _cancel(self, turns: deque[_Turn]) -> None:
        for turn in turns:
            turn.cancelled = True
        self._changed.notify_all()

    def _check(self, element: Element) -> None:
        for i, (array, dims) in enumerate(zip(element, self.shapes or (), strict=False)):
            if not fits(dims, array.shape):
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Shape mismatch in tuple component {i}. Expected {_brackets(dims)}, got "
                    f"{_brackets(array.shape)}",
                )

    @contextmanager
    def _turn(self, turns: deque[_Turn]) -> Iterator[_Turn]:
        turn = _Turn()
        turns.append(turn)
        try:
            yield turn
        finally:
            turns.remove(turn)
            self._changed.notify_all()

    def _await_turn(self, turn: _Turn, turns: deque[_Turn], what: str) -> None:
        while turns[0] is not turn:
            self._wait(turn, what)

    def _wait(self, turn: _Turn, what: str) -> None:
        if not turn.cancelled:
            wait(self._changed)
        if turn.cancelled:
            raise CancelledError(None, None, f"{what} operation was cancelled")


def _brackets(dims: Any) -> str:
    return f"[{','.join(['?' if d is None else str(d) for d in dims])}]"


class ShuffledStorage(Storage):
    """A queue that gives any of its elements.

    Args:
        min_after_dequeue: how many stay behind, until it is closed.
        seed: of the order; `None`: by chance.
    """

    kind = "RandomShuffleQueue"

    def __init__(
        self,
        name: str,
        capacity: int,
        shapes: Optional[Sequence[Dims]],
        min_after_dequeue: int,
        seed: Optional[int],
    ) -> None:
        super().__init__(name, capacity, shapes)
        self._elements = []
        self._behind, self._random = min_after_dequeue, random.Random(seed)  # data

    def _take(self) -> Element:
        at = self._random.randrange(len(self._elements))
        self._elements[at], self._elements[-1] = self._elements[-1], self._elements[at]
        taken: Element = self._elements.pop()
        return taken

    def _put_back(self, elements: Sequence[Element]) -> None:
        self._elements.extend(elements)

    def _available(self) -> int:
        return len(self._elements) - (0 if self.closed else self._behind)


class PaddedStorage(Storage):
    """A queue whose elements may have several shapes; taken together they are padded to one."""

    kind = "PaddingFIFOQueue"

    def stacked(self, values: Sequence[Any], component: int) -> Any:
        """Stack as `Storage.stacked`, with zeros or empty strings at the ends of shorter ones."""
        dims = tuple([max(lengths) for lengths in zip(*[v.shape for v in values], strict=True)])
        dtype = values[0].dtype
        made = np.full((len(values), *dims), b"" if dtype.kind == "O" else 0, dtype)
        for row, value in enumerate(values):
            place: Any = (row, *[slice(n) for n in value.shape])
            made[place] = value
        return made


class OrderedStorage(Storage):
    """A queue that gives the element with the smallest first component; of equal ones the first."""

    kind = "PriorityQueue"

    def __init__(self, name: str, capacity: int, shapes: Optional[Sequence[Dims]]) -> None:
        super().__init__(name, capacity, shapes)
        self._elements, self._count = [], 0

    def _put(self, element: Element) -> None:
        self._count += 1
        heapq.heappush(self._elements, (int(element[0]), self._count, element))

    def _take(self) -> Element:
        taken: Element = heapq.heappop(self._elements)[2]
        return taken

    def _put_back(self, elements: Sequence[Element]) -> None:
        for element in elements:
            self._put(element)
