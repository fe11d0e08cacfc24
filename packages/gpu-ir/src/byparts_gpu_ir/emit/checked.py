"""Checks of an emulation: none, or each access with the functions of `shadow.py`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Protocol

from byparts_gpu_ir.emit.shadow import FAULT_BYTES
from byparts_gpu_ir.emit.thread import LOCAL, ThreadCode
from byparts_gpu_ir.fission import Lifetimes, copies_of, item_bytes
from byparts_gpu_ir.wide import Wide
from byparts_tensor_ir.access import elements_of, flat_index, is_safe
from byparts_tensor_ir.expression import BYTES, Expr, const
from byparts_tensor_ir.statement import MATRICES, WARP, Buffer, For, Instruction, Statement
from byparts_tensor_ir.substitute import loads, substituted
from byparts_tensor_ir.transfer import CopyAsync, WaitGroups


class Emulation(Protocol):
    """The code that is checked.

    Attributes:
        thread: the code of one thread.
        size: threads of a block.
        number: the name of the number of a thread, in its loop.
        lifetimes: which local buffers have a copy for each thread.
        places: statement -> its number in fault records.
        queues: the name of the copies that threads have begun.
    """

    thread: ThreadCode
    size: int
    number: str
    lifetimes: Lifetimes
    places: dict[Statement, int]
    queues: str

    def buffers(self) -> list[Buffer]:
        """All buffers, by their numbers in fault records."""


class Checks:
    """No check: what is called where a checked kernel has more code.

    Attributes:
        workspace_bytes: of a fault record.
    """

    workspace_bytes = 0

    def __init__(self, emulation: Emulation) -> None:
        self.emulation, self.thread = emulation, emulation.thread
        self.text, self.values = self.thread.text, self.thread.values

    def begins(self, s: Statement) -> None:
        """The code that follows belongs to a statement."""

    @contextmanager
    def launch(self) -> Iterator[None]:
        """Around the loop over the blocks."""
        yield

    def block_begins(self, number: str) -> None:
        """A block begins, of the number of this name."""

    def declared(self, b: Buffer) -> None:
        """A local buffer begins to live."""

    def barrier(self, on: str | None) -> None:
        """All threads of the block meet."""

    def warps_agree(self, on: str | None) -> None:
        """All threads of each warp are there, or none."""

    def places_agree(self, places: str, rank: int, on: str | None) -> None:
        """All threads of each warp have the same numbers in their rows of this array."""

    def instruction(self, s: Instruction) -> bool:
        """A copy, or what waits for copies; whether that is all its code."""
        return False

    def aligned(self, buffer: Buffer, index: Sequence[Expr], wide: Wide, loop: For) -> None:
        """Wide accesses of these elements follow."""

    def flat(self, buffer: Buffer, index: Sequence[Expr], writes: bool) -> str:
        """The position of an element that is read or written."""
        return self.values.index(flat_index(buffer, index))

    def variable(self, buffer: Buffer) -> bool:
        """Whether a buffer is a variable, whose element has no position."""
        return False


class Checker(Checks):
    """Checks of each access.

    Attributes:
        place: the number of the statement that is being written.
        numbers: those of the buffers.
    """

    workspace_bytes = FAULT_BYTES

    def __init__(self, emulation: Emulation) -> None:
        super().__init__(emulation)
        self.place = 0
        self.numbers = {b: i for i, b in enumerate(emulation.buffers())}
        self.values.safe = self.safe

    def begins(self, s: Statement) -> None:
        self.place = self.emulation.places.get(s, self.place)

    @contextmanager
    def launch(self) -> Iterator[None]:
        count, buffers = prod(self.thread.outer.grid), self.emulation.buffers()
        for i, b in enumerate(buffers):
            extents = ", ".join(str(d.attr) for d in b.shape) or "1"
            self.text.line(f"static const int64_t shape_of_{i}[] = {{{extents}}};")
        with self.text.block("Region regions[] ="):
            for i, b in enumerate(buffers):
                base = "0" if b.scope in (*LOCAL, *MATRICES) else self.text.name(b)
                kind = {"global": "GLOBAL", "shared": "SHARED"}.get(b.scope, "LOCAL")
                written = int(b in self.thread.exchanged)
                size = f"{elements_of(b)}, {BYTES[b.dtype]}"
                self.text.line(
                    f"{{{base}, shape_of_{i}, {len(b.shape)}, {size}, {kind}, {written}}},"
                )
        self.text.lines[-1] += ";"
        self.text.line("Checker checker;")
        self.text.line(f"begin_checks(&checker, regions, {len(buffers)}, {count}, a);")
        with self.text.block("if (!setjmp(checker.stop))"):
            yield
        self.text.line("end_checks(&checker);")

    def block_begins(self, number: str) -> None:
        if self.emulation.queues:
            self.text.line(
                f"forget_copies(&checker, {self.emulation.queues}, {self.emulation.size});"
            )
        self.text.line(f"begin_block(&checker, {number});")
        for b in self.thread.func.locals:
            if copies := copies_of(b, self.emulation.size, self.emulation.lifetimes.kept):
                self.poison(self.text.name(b), copies * max(1, elements_of(b)) * item_bytes(b))

    def declared(self, b: Buffer) -> None:
        self.poison(f"&{self.text.name(b)}", max(1, elements_of(b)) * BYTES[b.dtype])

    def poison(self, address: str, size: int) -> None:
        """Set all bits of memory, so that an element nobody wrote reads as NaN or -1."""
        self.text.line(f"__builtin_memset({address}, 255, {size});")

    def barrier(self, on: str | None) -> None:
        if on:
            size = self.emulation.size
            self.text.line(f"agree(&checker, {on}, {size}, {size}, {self.place});")
            self.text.line(f"checker.epoch += {on}[0];")
        else:
            self.text.line("++checker.epoch;")

    def warps_agree(self, on: str | None) -> None:
        if on:
            self.text.line(f"agree(&checker, {on}, {self.emulation.size}, {WARP}, {self.place});")

    def places_agree(self, places: str, rank: int, on: str | None) -> None:
        arguments = f"&{places}[0][0], {rank}, {self.emulation.size}, {on or '0'}, {self.place}"
        self.text.line(f"same_places(&checker, {arguments});")

    def instruction(self, s: Instruction) -> bool:
        """Copies arrive at once; until the thread waits for them they are known to be under way."""
        queue = (
            f"{self.emulation.queues} + {self.emulation.number}" if self.emulation.queues else "0"
        )
        who = f"{self.emulation.number}, {self.place}"
        if isinstance(s, CopyAsync):
            to, source = self.index_array(s.target, s.index), self.index_array(s.source, s.at)
            self.text.line(f"begin_copy(&checker, {queue}, {to}, {source}, {s.count}, {who});")
        elif self.emulation.queues and isinstance(s, WaitGroups):
            self.text.line(f"end_copies(&checker, {queue}, {s.pending}, {who});")
        elif self.emulation.queues:
            self.text.line(f"++({queue})->group;")
        return True

    def flat(self, buffer: Buffer, index: Sequence[Expr], writes: bool) -> str:
        where = self.index_array(buffer, index)
        kind = "WRITE" if writes else "READ"
        return f"touch(&checker, {where}, {kind}, {self.emulation.number}, {self.place})"

    def index_array(self, buffer: Buffer, index: Sequence[Expr]) -> str:
        """The arguments that say which element of which buffer."""
        name = "0"
        if buffer.shape:
            texts = ", ".join(map(self.values.index, index))
            name = self.text.fresh("at")
            self.text.line(f"const int64_t {name}[] = {{{texts}}};")
        return f"regions + {self.numbers[buffer]}, {name}"

    def variable(self, buffer: Buffer) -> bool:
        return not buffer.shape and buffer.scope in LOCAL

    def aligned(self, buffer: Buffer, index: Sequence[Expr], wide: Wide, loop: For) -> None:
        for k in range(0, wide.pieces * wide.width, wide.width):
            first = {loop.var: const(loop.var.attr.low + k)}
            where = self.index_array(buffer, [substituted(i, first) for i in index])
            self.text.line(
                f"aligned(&checker, {where}, {wide.width}, {self.emulation.number}, {self.place});"
            )

    def safe(self, e: Expr) -> bool:
        """Only what is chosen is read: what is not would be reported without harm."""
        return all(
            self.text.knows(x) or x in self.thread.read or (x.attr.scope in LOCAL and is_safe(x))
            for x in loads(e)
        )
