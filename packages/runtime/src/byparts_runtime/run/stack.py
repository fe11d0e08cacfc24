"""Values of each round of a loop, kept until its gradient goes through the rounds backwards.

The number of rounds depends on data, so this memory cannot be planned.  It doubles when it is full:
each chunk has room for as many rounds as all chunks before it, so nothing is copied and at most
half of the memory is empty.  The chunks stay for the next run, which then allocates nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from byparts_graph_ir import Backend, Space, TensorType
from byparts_graph_ir.backend.instruction import Add, Counter, Host, Jump, Label, Move, Set
from byparts_runtime.arrays.access import view
from byparts_runtime.memory.plan import Bytes

if TYPE_CHECKING:
    from byparts_graph_ir.backend.instruction import Line

ALIGNMENT = 64  # of the rows of each value in a chunk

Look = Callable[[Bytes, TensorType], Any]


class Stack:
    """A stack with a row of some values for each round.

    Args:
        name: of the op, for errors.
        space: where the memory is.
        look: gives the array of a type at a place.
        rows: gives what holds the rows of the array of a type at a place.
        types: of the values.
        sources: where the values are when they are pushed.
        targets: where they are wanted when they are popped.
        most_bytes: the limit.

    Attributes:
        size_bytes: how much memory it has now.
        places: of each value where it is pushed from and popped to, and its type.
    """

    def __init__(
        self,
        name: str,
        space: Space,
        look: Look,
        rows: Look,
        types: Sequence[TensorType],
        sources: Sequence[Bytes],
        targets: Sequence[Bytes],
        most_bytes: int,
    ) -> None:
        self.name, self.space, self.types, self.most_bytes = name, space, tuple(types), most_bytes
        self.size_bytes = 0
        self._rows = rows
        self._sources = [look(place, t) for place, t in zip(sources, types, strict=True)]
        self._targets = [look(place, t) for place, t in zip(targets, types, strict=True)]
        self._chunks: list[list[Any]] = []  # chunk i > 0 has 2^(i-1) rows, chunk 0 has one
        self.places = list(zip(sources, targets, self.types, strict=True))
        self._starts: list[list[Bytes]] = []  # of the chunks

    def push(self, k: int) -> None:
        """Keep the values of round k, counted from 0; those of round k - 1 are kept already.

        Raises:
            MemoryError: the limit is reached, or there is no more memory; says at which round.
        """
        i = k.bit_length()
        if i == len(self._chunks):
            self._grow(k)
        row = k - (1 << i >> 1)
        for rows, source in zip(self._chunks[i], self._sources):  # noqa: B905  # each round
            rows[row] = source

    def pop(self, k: int) -> None:
        """Bring back the values of round k."""
        i = k.bit_length()
        row = k - (1 << i >> 1)
        for rows, target in zip(self._chunks[i], self._targets):  # noqa: B905  # each round
            target[...] = rows[row]

    def chunk(self, k: int) -> Sequence[Bytes]:
        """Places where the rows of the chunk of round k begin, by value; takes memory for them.

        Raises:
            MemoryError: as `push`.
        """
        if k.bit_length() == len(self._starts):
            self._grow(k)
        return self._starts[k.bit_length()]

    def _grow(self, rounds: int) -> None:
        """Take a chunk for as many rounds as there have been, at least one."""
        wanted = [TensorType(t.dtype, (max(1, rounds), *t.dims)) for t in self.types]
        starts = [0]
        for t in wanted:
            starts.append(starts[-1] + -(-t.size_bytes // ALIGNMENT) * ALIGNMENT)
        size, before = starts.pop(), self.size_bytes
        try:
            if before + size > self.most_bytes:
                raise MemoryError(f"max_stack_bytes is {self.most_bytes:,}")
            memory = self.space.allocate(size)
        except Exception as error:  # a device has errors of its own
            self._chunks, self._starts, self.size_bytes = [], [], 0  # no run needs as much
            raise MemoryError(
                f"{self.name}: the stack for the backward pass has {before:,} bytes after "
                f"{rounds:,} rounds and cannot grow by {size:,} ({error}); give the loop "
                'max_rounds=... or backward="recompute", or build(..., max_stack_bytes=...)'
            ) from error
        self.size_bytes = before + size
        places = [Bytes(memory, start) for start in starts]
        self._starts.append(places)
        self._chunks.append([self._rows(at, t) for at, t in zip(places, wanted, strict=True)])


class StackLines:
    """A stack in host memory, as instructions: one copy of each value a round, and no Python.

    Where the row of a round is, a counter says for each value: as the distance in bytes from where
    the value is popped to.  Python sets the counters when another chunk begins.
    """

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._sizes = [kind.size_bytes for kind in stack.types]
        self._known: dict[int, tuple[Sequence[Bytes], list[int]]] = {}
        self._rows = [Counter() for _ in stack.types]
        self._begin, self._end = Counter(), Counter()  # the rounds of the chunk: begin < k < end

    def start(self) -> Sequence[Line]:
        """Before the first round."""
        return Set(self._end, 0), Set(self._begin, 1 << 62)

    def push(self, backend: Backend, at: Counter) -> Sequence[Line]:
        """Instructions that push the values of the round that the counter says."""
        return self._lines(backend, at, (at, self._end), 1)

    def pop(self, backend: Backend, at: Counter) -> Sequence[Line]:
        """Instructions that bring back the values of the round that the counter says."""
        return self._lines(backend, at, (self._begin, at), -1)

    def _lines(
        self, backend: Backend, at: Counter, test: tuple[Counter, Counter], way: int
    ) -> Sequence[Line]:
        here = Label()
        lines: list[Line] = [Jump(here, test), Host(partial(self._enter, at, way)), here]
        for row, (source, target, kind) in zip(self._rows, self._stack.places, strict=True):
            size, slot = kind.size_bytes, backend.view(target.memory, target.offset, kind)
            state = backend.view(source.memory, source.offset, kind)
            push, pop = Move(slot, state, size, (row, 1)), Move(slot, slot, size, None, (row, 1))
            lines += (push if way > 0 else pop, Add(row, way * size))
        return lines

    def _enter(self, at: Counter, way: int) -> None:
        """Let the counters say where the values of round `at` are, before the rounds go on."""
        k, starts = at.value, self._stack.chunk(at.value)
        first = 1 << k.bit_length() >> 1
        known, distances = self._known.get(first, (None, []))
        if known is not starts:
            slots = [slot for _, slot, _ in self._stack.places]
            distances = [_address(a) - _address(b) for a, b in zip(starts, slots, strict=True)]
            self._known[first] = starts, distances
        for row, distance, size in zip(self._rows, distances, self._sizes, strict=True):
            row.value = distance + (k - first) * size
        if way > 0:
            self._end.value = 1 << k.bit_length()
        else:
            self._begin.value = first - 1


def _address(place: Bytes) -> int:
    return view(place.memory, place.offset, TensorType("u8", (0,))).ctypes.data
