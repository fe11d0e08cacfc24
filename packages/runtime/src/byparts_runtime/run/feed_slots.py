"""Feeds in several sets of arrays: the next batch is written while the program runs on another.

    slots = FeedSlots(program)

    def load():  # in a thread
        for images, labels in batches:
            with slots.next() as (x, y):
                x[:], y[:] = images, labels
        slots.close()

    for (loss,) in slots:  # until it is closed and all has run
        print(loss)

The program reads the arrays where they are (`Program.bind`), so that a batch is written once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, active_count, get_ident
from time import monotonic
from typing import Any, NamedTuple, Optional

from byparts_graph_ir import ArgumentError, GraphError
from byparts_graph_ir.contract import checked
from byparts_graph_ir.fork import make_lock
from byparts_runtime.arrays.access import view
from byparts_runtime.arrays.dtypes import numpy_dtype
from byparts_runtime.building.discover import find_results
from byparts_runtime.building.options import ResultsArgument
from byparts_runtime.memory.pickling import stays
from byparts_runtime.run.program import Program

_LOOK_S = 0.2  # how often who waits looks if there still is another thread

_OVER = -1  # in the place of a set: closed, and nothing filled is left
_FILLING, _FILLED, _RUNNING = "filling", "filled", "running"


_Look = Callable[[], Optional[int]]  # gives a set, if one can be had now


class _Use(NamedTuple):
    """The use of a set of arrays; sets that are free have none."""

    kind: str
    number: int  # which `next` it is
    thread: int
    who: object


class FeedSlots:
    """Sets of arrays for the feeds of a program, used one after the other.

    One thread fills them, another runs the program on them, in the order in which `next` gave them.
    Several threads may do either.  A program whose arena is its own has one more for each set;
    `build(..., arena=Arena())` has one for all.

    Args:
        program: of one feed at least.
        count: how many sets; with 2, one is filled while the other is read.
        arrays: whose they are: "numpy", or those of a backend ("torch"), in the program's space.

    Raises:
        GraphError: the program has no feeds, or is in a space of which there are no such arrays.
        ArgumentError: `count` is less than 1.
    """

    @checked
    def __init__(
        self, program: Program, count: int = 2, *, arrays: ResultsArgument = "numpy"
    ) -> None:
        if count < 1:
            raise ArgumentError(f"FeedSlots: count is {count}; expected 1 or more, 2 as a rule")
        if not program.feed_types:
            raise GraphError("FeedSlots: the program takes no feeds; call it")
        self._space = program.arena.space
        make = _maker(program, arrays)
        self._bound = [program.bind(*make()) for _ in range(count)]
        self._uses: list[Optional[_Use]] = [None] * count  # each change is one assignment
        self._changed = Condition(make_lock())
        self._last_number, self._closed, self._process = 0, False, os.getpid()

    @contextmanager
    def next(self, timeout_s: Optional[float] = None) -> Iterator[tuple[Any, ...]]:
        """A context in which the caller writes the arrays of a free set, all of them.

        What they hold at first is undefined.  If the block raises, the set is free again, and
        nothing runs on it.  The arrays must not be written after the block.

        Args:
            timeout_s: how long to wait for a free set; `None`: as long as it takes.

        Raises:
            GraphError: the slots are closed, or no set became free.
        """
        who = object()
        try:
            with self._changed:
                i = self._wait(self._free, timeout_s, "is free: run() one")
                self._last_number += 1
                self._uses[i] = _Use(_FILLING, self._last_number, get_ident(), who)
                number = self._last_number
            yield self._bound[i].feeds
            self._space.synchronize()  # what fills arrays of a device may still be under way
            with self._changed:
                self._uses[i] = _Use(_FILLED, number, 0, None)
                self._changed.notify_all()
        finally:
            self._release(who)

    def run(self, timeout_s: Optional[float] = None) -> tuple[Any, ...]:
        """Run the program on the set that was filled first; the fetches.

        The set is free afterwards, also if the run fails.  One run at a time.

        Args:
            timeout_s: how long to wait until one is filled; `None`: as long as it takes.

        Raises:
            GraphError: none was filled; or the slots are closed and all that was filled has run.
            Exception: what the program raises.
        """
        fetches = self._run(timeout_s)
        if fetches is None:
            raise GraphError(f"{self!r}: all that was filled has run")
        return fetches

    def close(self) -> None:
        """No set is filled any more; those that are filled can still be run."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """The fetches of run after run, until the slots are closed and nothing filled is left."""
        return iter(self._run, None)

    def __enter__(self) -> FeedSlots:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __repr__(self) -> str:
        kinds = ", ".join("free" if use is None else use.kind for use in self._uses)
        return f"FeedSlots({kinds}{'; closed' if self._closed else ''})"

    __reduce__ = stays("build() the program there, and make others of it")

    def _run(self, timeout_s: Optional[float] = None) -> Optional[tuple[Any, ...]]:
        """`run`; `None` if the slots are closed and nothing filled is left."""
        who = object()
        try:
            with self._changed:
                i = self._wait(self._filled, timeout_s, "is filled: `with slots.next() as arrays:`")
                if i == _OVER:
                    return None
                self._uses[i] = _Use(_RUNNING, 0, get_ident(), who)
            fetches = self._bound[i]()
            self._space.synchronize()  # fetches that stay there are not waited for
            return fetches
        finally:
            self._release(who)

    def _wait(
        self, look: Callable[[], Optional[int]], timeout_s: Optional[float], what: str
    ) -> int:
        """The set that `look` finds.  The caller holds the lock, which is given up meanwhile."""
        until_s = None if timeout_s is None else monotonic() + timeout_s
        while True:
            self._forget_other_process()
            free_or_filled = look()
            if free_or_filled is not None:
                return free_or_filled
            left_s = _LOOK_S if until_s is None else until_s - monotonic()
            if left_s <= 0:
                raise GraphError(f"{self!r}: within {timeout_s} s no set of arrays {what}")
            if active_count() == 1:
                raise GraphError(f"{self!r}: no set of arrays {what}, and no other thread could")
            self._changed.wait(min(left_s, _LOOK_S))

    def _free(self) -> Optional[int]:
        if self._closed:
            raise GraphError(f"{self!r}: nothing is filled after close()")
        return self._uses.index(None) if None in self._uses else None

    def _filled(self) -> Optional[int]:
        """The set that was given first of those in use, if it is filled and none runs."""
        used = [(use.number, i) for i, use in enumerate(self._uses) if use is not None]
        if not used:
            return _OVER if self._closed else None
        _, i = min(used)  # a set that runs has the number 0
        use = self._uses[i]
        return i if use is not None and use.kind == _FILLED else None

    def _release(self, who: object) -> None:
        """Free the set that is filled or run by `who`, if there still is one."""
        with self._changed:
            for i, use in enumerate(self._uses):
                if use is not None and use.who is who:
                    self._uses[i] = None
            self._changed.notify_all()

    def _forget_other_process(self) -> None:
        """In a forked child: what other threads of the parent filled or ran, nobody does here."""
        if self._process == os.getpid():
            return
        self._process = os.getpid()
        for i, use in enumerate(self._uses):
            if use is not None and use.kind != _FILLED and use.thread != get_ident():
                self._uses[i] = None


def _maker(program: Program, arrays: ResultsArgument) -> Callable[[], list[Any]]:
    """A callable that makes one set of arrays."""
    space, types = program.arena.space, program.feed_types
    backend = find_results(arrays, space)
    if backend is None and space.name != "host":
        raise GraphError(
            f"FeedSlots: the program is in {space.name}, and arrays of NumPy are in host memory; "
            'give its backend, e.g. FeedSlots(program, arrays="torch")'
        )
    if backend is None:
        for kind in types:
            numpy_dtype(kind.dtype)  # bf16 may be absent
    look = view if backend is None else backend.view
    return lambda: [look(space.allocate(kind.size_bytes), 0, kind) for kind in types]
