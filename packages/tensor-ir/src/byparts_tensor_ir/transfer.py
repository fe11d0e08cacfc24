"""Copies from global to shared memory that a thread begins and later waits for (`cp.async`).

A thread begins copies, closes a group of them, and waits until all groups but the last few have
arrived.  When an element arrives in between is not said: the interpreter draws it, emulation does
it as soon (forward) or as late (reversed) as can be.  Until its thread has waited nobody may touch
the target, nor write the source; other threads see the target after a barrier that follows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from byparts_tensor_ir.expression import BYTES, Expr, ExpressionError
from byparts_tensor_ir.statement import Buffer, Instruction

COPY_BYTES = (4, 8, 16)
_Expression = Callable[[Expr], Expr]
_Buffer = Callable[[Buffer], Buffer]


@dataclass(frozen=True, eq=False)
class CopyAsync(Instruction):
    """Begin target[index + k] = source[at + k] for k < count, along the last dimension of each.

    Attributes:
        target: a shared buffer.
        source: a global buffer of the same dtype.
        count: so many elements are 4, 8 or 16 bytes.  Both places are multiples of these.
    """

    target: Buffer
    index: tuple[Expr, ...]
    source: Buffer
    at: tuple[Expr, ...]
    count: int

    def __post_init__(self) -> None:
        target, source = self.target, self.source
        ranks = (len(target.shape), len(source.shape)) == (len(self.index), len(self.at))
        if not ranks or not self.index or not self.at or target.dtype != source.dtype:
            raise ExpressionError(f"{self}: not one place in each of two buffers of one dtype")
        if (target.scope, source.scope) != (
            "shared",
            "global",
        ) or self.size_bytes not in COPY_BYTES:
            raise ExpressionError(
                f"{self}: {self.size_bytes} bytes from {source.scope} to {target.scope} memory; "
                f"only {COPY_BYTES}, from global to shared"
            )

    @property
    def size_bytes(self) -> int:
        """Bytes that the copy moves in all."""
        return self.count * BYTES[self.target.dtype]

    def __str__(self) -> str:
        places = []
        for buffer, index in ((self.target, self.index), (self.source, self.at)):
            places.append(f"{buffer.name}[{', '.join(map(str, index))}:+{self.count}]")
        return f"{places[0]} = copy_async({places[1]})"

    def expressions(self) -> tuple[Expr, ...]:
        return (*self.index, *self.at)

    def written(self) -> tuple[Buffer, ...]:
        return (self.target,)

    def read(self) -> tuple[Buffer, ...]:
        return (self.source,)

    def changed(self, expression: _Expression, buffer: _Buffer) -> CopyAsync:
        index, at = (tuple(map(expression, i)) for i in (self.index, self.at))
        return CopyAsync(buffer(self.target), index, buffer(self.source), at, self.count)


@dataclass(frozen=True, eq=False)
class CloseGroup(Instruction):
    """The copies that the thread has begun since the last one are a group."""

    def __str__(self) -> str:
        return "close_group()"

    def changed(self, expression: _Expression, buffer: _Buffer) -> CloseGroup:
        return self


@dataclass(frozen=True, eq=False)
class WaitGroups(Instruction):
    """The thread goes on when all its groups have arrived but the last `pending`."""

    pending: int = 0

    def __str__(self) -> str:
        return f"wait_groups({self.pending})"

    def changed(self, expression: _Expression, buffer: _Buffer) -> WaitGroups:
        return self
