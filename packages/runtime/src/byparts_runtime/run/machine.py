"""A placed graph in an arena: binds it when it is called, and runs it.

The arena may move, when a program that needs more joins it; then all is bound again, at the next
call.  Compiled kernels and the plan stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Optional
from weakref import WeakMethod

from numpy import ndarray

from byparts_graph_ir.fork import begin, end
from byparts_runtime.arrays.accept import accepted
from byparts_runtime.memory.arena import Arena, Block
from byparts_runtime.memory.plan import Bytes, arena_bytes
from byparts_runtime.memory.variable import Variable, unknown
from byparts_runtime.run.bind import Binding, FeedWriter
from byparts_runtime.run.cycle import Cycle
from byparts_runtime.run.loaded import Loaded
from byparts_runtime.run.locks import lock_of
from byparts_runtime.run.results import Results


class _Elsewhere:
    """The room of a machine in one more memory space.

    Args:
        needs_bytes: how much.
        moved: gives what is called when the memory is another one, as long as there is a machine.
    """

    def __init__(self, needs_bytes: int, moved: WeakMethod[Callable[[], None]]) -> None:
        self.needs_bytes, self._moved = needs_bytes, moved
        self.block: Optional[Block] = None

    def move(self, block: Optional[Block]) -> None:
        """Forget what is bound to the memory, as `Machine.move` does, and take the new one."""
        if (forget := self._moved()) is not None:
            forget()
        self.block = block


class Machine:
    """Runs a placed graph in an arena.

    Args:
        loaded: what to run.
        arena: the memory its values are in, maybe with other programs; by default its own.
        feeds: the caller's memory to read the feeds from; by default they are in the arena, and
            come in through `feed_writers`, one for each.

    Attributes:
        lock: of the variables; taken before that of the arena, and both are held while it runs.
        inside: whether this thread holds the lock of the arena, and so is within a run.
    """

    def __init__(
        self, loaded: Loaded, arena: Optional[Arena] = None, feeds: Sequence[Bytes] = ()
    ) -> None:
        self.loaded, self._feeds = loaded, tuple(feeds)
        self.shares = arena is not None
        self.arena = Arena(loaded.space) if arena is None else arena
        self.inside = self.arena.inside
        self._block: Optional[Block] = None
        self._cycle: Optional[Cycle] = None
        self.feed_writers: tuple[FeedWriter, ...] = ()
        self.results: Optional[Results] = None
        self.written = loaded.placed.written
        signature = loaded.signature
        variables = dict.fromkeys((*signature.variables, *signature.updates))
        self.variables: tuple[Variable, ...] = tuple(variables)
        self.lock = lock_of(self.variables) if self.variables else self.arena.lock
        self.arena.join(self)
        self._elsewhere: dict[str, _Elsewhere] = {}  # by the name of a space but the first
        for name, space in loaded.parts.spaces.items():
            if name != loaded.space.name:
                room = _Elsewhere(arena_bytes(loaded.plan, name), WeakMethod(self.forget))
                self._elsewhere[name] = room
                self.arena.beside(space).join(room)
        with self.lock, self.arena.lock:
            self.cycle()

    @property
    def needs_bytes(self) -> int:
        """The number of bytes of its arena that the program uses."""
        several = self.loaded.parts.several
        return arena_bytes(self.loaded.plan, self.loaded.space.name if several else None)

    def move(self, block: Optional[Block]) -> None:
        """Forget all that is bound to the arena's memory; the next call binds to `block`."""
        self.forget()
        self._block = block

    def forget(self) -> None:
        """Forget all that is bound to memory; the next call binds again."""
        self._cycle = None  # first: a cycle without its feed writers would run on old feeds
        self.results = None
        self.feed_writers = ()

    def cycle(self) -> Cycle:
        """The cycle that a call runs, bound if it is not.  The caller holds both locks."""
        if unknown:
            for variable in self.variables:
                variable.check_known()
        cycle = self._cycle
        if cycle is None:
            if self._block is None:  # there was no memory when the arena was last moved
                self.arena.make_room(self)
            for name, part in self._elsewhere.items():
                if part.block is None:
                    self.arena.beside(self.loaded.parts.spaces[name]).make_room(part)
            try:
                begin(self)
                bound = Binding(self.loaded, self._memory(), self._feeds, self.arena, self.shares)
            finally:
                end(self)
            self.results, self.feed_writers, cycle = bound.results, bound.feed_writers, bound.cycle
            self._cycle = cycle  # last: a fork may come at any line
        return cycle

    def run(self, feeds: Sequence[Any]) -> tuple[Any, ...]:
        """Bring the feeds in and run; the fetches.

        Raises:
            ShapeError: a feed is not of its type.
            Exception: what a kernel raised, with notes that say where; no variable has changed.
        """
        arena = self.arena
        if self.inside():
            arena.from_outside()
        with self.lock:
            if self.lock is arena.lock:
                return self._run(feeds)
            with arena.lock:
                return self._run(feeds)

    def _run(self, feeds: Sequence[Any]) -> tuple[Any, ...]:
        cycle = self._cycle
        if cycle is None or unknown:
            cycle = self.cycle()
        self.prepare(feeds)
        return cycle()

    def prepare(self, feeds: Sequence[Any]) -> None:
        """Before a run: memory for large fetches, and the feeds.  As `accept`."""
        if self.results is not None:
            self.results.renew()
        if feeds or self.feed_writers:
            self.accept(feeds)

    def accept(self, feeds: Sequence[Any]) -> None:
        """Copy the feeds into the arena.  The caller holds both locks, and there is a cycle.

        Raises:
            ShapeError: a feed is not of its type.
            GraphError: there are too many or too few.
        """
        writers = self.feed_writers
        if len(feeds) != len(writers):
            self.loaded.check_count(feeds)
        for i, (write, dtype, shape) in enumerate(writers):
            value = feeds[i]
            if value.__class__ is not ndarray or value.dtype != dtype or value.shape != shape:
                kind = self.loaded.graph.inputs[i].type
                value = accepted(value, kind, self.loaded.space, f"feed {self.loaded.feed_name(i)}")
            write(value)

    def copied(self) -> tuple[Variable, ...]:
        """The updated variables that are not written in place."""
        pairs = zip(self.loaded.new_value_ids, self.loaded.signature.updates, strict=True)
        return tuple(v for i, v in pairs if i not in self.written)

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """A context that restores the variables at its end.  The caller holds the lock."""
        kept = [(v, v.carried()) for v in self.variables] if self.written else []
        try:
            begin(self, [v for v, _ in kept])
            yield
        finally:
            try:
                for variable, value in kept:
                    variable.write(value)
            finally:
                end(self)

    def _memory(self) -> dict[str, Any]:
        """Name of a space -> the memory of the arena there."""
        blocks = {name: part.block for name, part in self._elsewhere.items()}
        blocks[self.loaded.space.name] = self._block
        assert None not in blocks.values(), "a cycle is bound when there is memory"
        return {name: block.memory for name, block in blocks.items() if block is not None}
