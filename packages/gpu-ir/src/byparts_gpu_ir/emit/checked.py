"""Emulation that checks each access, with the functions of `shadow.py`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

from byparts_gpu_ir.emit.emulator import Emulator
from byparts_gpu_ir.emit.shadow import FAULT_BYTES
from byparts_gpu_ir.emit.thread import LOCAL
from byparts_gpu_ir.emit.warps import copies_of, item_bytes
from byparts_gpu_ir.emit.wide import Wide
from byparts_tensor_ir.emit.strategy import elements_of, is_safe
from byparts_tensor_ir.expression import BYTES, Expr, const
from byparts_tensor_ir.statement import MATRICES, WARP, Buffer, For, Func, Instruction, Statement
from byparts_tensor_ir.substitute import loads, substituted
from byparts_tensor_ir.transfer import CopyAsync, WaitGroups


class CheckedEmulator(Emulator):
    """Writes the C of a checked kernel.

    Attributes:
        place: the number of the statement that is being written.
        numbers: those of the buffers.
    """

    def __init__(self, func: Func, mode: str) -> None:
        super().__init__(func, mode)
        self.workspace_bytes = FAULT_BYTES
        self.place = 0
        self.numbers = {b: i for i, b in enumerate(self.buffers())}

    def at(self, s: Statement) -> None:
        self.place = self.places.get(s, self.place)

    @contextmanager
    def launch(self) -> Any:
        count, buffers = prod(self.grid_shape), self.buffers()
        for i, b in enumerate(buffers):
            extents = ", ".join(str(d.attr) for d in b.shape) or "1"
            self.line(f"static const int64_t shape_of_{i}[] = {{{extents}}};")
        with self.block("Region regions[] ="):
            for i, b in enumerate(buffers):
                base = "0" if b.scope in (*LOCAL, *MATRICES) else self.names[b]
                kind = {"global": "GLOBAL", "shared": "SHARED"}.get(b.scope, "LOCAL")
                written = int(b in self.exchanged)
                size = f"{elements_of(b)}, {BYTES[b.dtype]}"
                self.line(f"{{{base}, shape_of_{i}, {len(b.shape)}, {size}, {kind}, {written}}},")
        self.lines[-1] += ";"
        self.line("Checker checker;")
        self.line(f"begin_checks(&checker, regions, {len(buffers)}, {count}, a);")
        with self.block("if (!setjmp(checker.stop))"):
            yield
        self.line("end_checks(&checker);")

    def block_begins(self, number: str) -> None:
        if self.queues:
            self.line(f"forget_copies(&checker, {self.queues}, {self.size});")
        self.line(f"begin_block(&checker, {number});")
        for b in self.func.locals:
            if copies := copies_of(b, self.size, self.lifetimes.kept):
                self.poison(self.names[b], copies * max(1, elements_of(b)) * item_bytes(b))

    def declare(self, b: Buffer) -> None:
        super().declare(b)
        self.poison(f"&{self.names[b]}", max(1, elements_of(b)) * BYTES[b.dtype])

    def poison(self, address: str, size: int) -> None:
        """Set all bits of memory, so that an element nobody wrote reads as NaN or -1."""
        self.line(f"__builtin_memset({address}, 255, {size});")

    def barrier_of_block(self, on: str | None) -> None:
        if on:
            self.line(f"agree(&checker, {on}, {self.size}, {self.size}, {self.place});")
            self.line(f"checker.epoch += {on}[0];")
        else:
            self.line("++checker.epoch;")

    def warps_agree(self, on: str | None) -> None:
        if on:
            self.line(f"agree(&checker, {on}, {self.size}, {WARP}, {self.place});")

    def places_agree(self, places: str, rank: int, on: str | None) -> None:
        arguments = f"&{places}[0][0], {rank}, {self.size}, {on or '0'}, {self.place}"
        self.line(f"same_places(&checker, {arguments});")

    def instruction(self, s: Instruction) -> None:
        """Copies arrive at once; until the thread waits for them they are known to be under way."""
        queue = f"{self.queues} + {self.thread}" if self.queues else "0"
        who = f"{self.thread}, {self.place}"
        if isinstance(s, CopyAsync):
            to, source = self.index_array(s.target, s.index), self.index_array(s.source, s.at)
            self.line(f"begin_copy(&checker, {queue}, {to}, {source}, {s.count}, {who});")
        elif self.queues and isinstance(s, WaitGroups):
            self.line(f"end_copies(&checker, {queue}, {s.pending}, {who});")
        elif self.queues:
            self.line(f"++({queue})->group;")

    def flat(self, buffer: Buffer, index: Sequence[Expr], writes: bool) -> str:
        where = self.index_array(buffer, index)
        kind = "WRITE" if writes else "READ"
        return f"touch(&checker, {where}, {kind}, {self.thread}, {self.place})"

    def index_array(self, buffer: Buffer, index: Sequence[Expr]) -> str:
        """The arguments that say which element of which buffer."""
        name = "0"
        if buffer.shape:
            texts = ", ".join(map(self.index, index))
            name = self.fresh("at")
            self.line(f"const int64_t {name}[] = {{{texts}}};")
        return f"regions + {self.numbers[buffer]}, {name}"

    def element(self, buffer: Buffer, index: Sequence[Expr], writes: bool) -> str:
        if not buffer.shape and buffer.scope in LOCAL:
            kept = buffer in self.lifetimes.kept
            return f"{self.names[buffer]}[{self.thread}]" if kept else self.names[buffer]
        return super().element(buffer, index, writes)

    def aligned(self, buffer: Buffer, index: Sequence[Expr], wide: Wide, loop: For) -> None:
        for k in range(0, wide.pieces * wide.width, wide.width):
            first = {loop.var: const(loop.var.attr.low + k)}
            where = self.index_array(buffer, [substituted(i, first) for i in index])
            self.line(f"aligned(&checker, {where}, {wide.width}, {self.thread}, {self.place});")

    def safe(self, e: Expr) -> bool:
        """Only what is chosen is read: what is not would be reported without harm."""
        return all(
            self.known(x) or x in self.read or (x.attr.scope in LOCAL and is_safe(x))
            for x in loads(e)
        )
