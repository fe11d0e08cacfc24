"""Values of each round of a loop, kept until its gradient goes through the rounds backwards.

The number of rounds depends on data, so this memory cannot be planned.  It doubles when it is full:
each chunk has room for as many rounds as all chunks before it, so nothing is copied and at most
half of the memory is empty.  The chunks stay for the next run, which then allocates nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from byparts_graph_ir import Space, TensorType
from byparts_runtime.memory.plan import Bytes

ALIGNMENT = 64  # of the rows of each value in a chunk

Look = Callable[[Bytes, TensorType], Any]


class Stack:
    """One row for each round, of some values.

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
            self._chunks, self.size_bytes = [], 0  # no run needs as much as this one
            raise MemoryError(
                f"{self.name}: the stack for the backward pass has {before:,} bytes after "
                f"{rounds:,} rounds and cannot grow by {size:,} ({error}); give the loop "
                'max_rounds=... or backward="recompute", or build(..., max_stack_bytes=...)'
            ) from error
        self.size_bytes = before + size
        places = [Bytes(memory, start) for start in starts]
        self._chunks.append([self._rows(at, t) for at, t in zip(places, wanted, strict=True)])
