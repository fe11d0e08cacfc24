"""Plain C with loops over the threads of a block, cut where they meet.

The cut, for a list of statements that all threads of a block go through: statements without
meetings become one loop over the threads; a loop around a meeting stays outside, and its extent
must be the same for all threads; a condition around a meeting that is not the same for all is
computed once for each thread and kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

from byparts_gpu_ir.emit.emulated import EmulatedSource
from byparts_gpu_ir.emit.fission import Lifetimes, pieces, same_for_all
from byparts_gpu_ir.emit.thread import KEYWORDS, LOCAL
from byparts_gpu_ir.emit.warps import WarpCode, copies_of, item_bytes
from byparts_gpu_ir.emit.wide import Wide
from byparts_tensor_ir.emit.strategy import EmitError, elements_of, flat_index
from byparts_tensor_ir.emit.vectors import C_TYPES
from byparts_tensor_ir.expression import Expr
from byparts_tensor_ir.functions import FUNCTIONS
from byparts_tensor_ir.nest import has_meeting
from byparts_tensor_ir.statement import (
    MATRICES,
    Barrier,
    Buffer,
    Collective,
    For,
    Func,
    If,
    Instruction,
    Statement,
    statement_lines,
)
from byparts_tensor_ir.transfer import CopyAsync, WaitGroups


class Emulator(WarpCode):
    """Writes the C.

    Attributes:
        size: threads of a block.
        thread: the name of the number of a thread, in its loop.
        differing: variables that are not the same for all threads.
    """

    def __init__(self, func: Func, mode: str) -> None:
        super().__init__(func, _RESERVED)
        self.mode, self.size = mode, self.nest.size
        self.backwards = mode == "reversed"
        self.thread = self.fresh("thread")
        self.differing: set[Expr] = {s.var for s in self.nest.threads.values()}
        self.lifetimes = Lifetimes(self.nest.body)
        self.workspace_bytes = 0
        self.queues = ""  # the name of the copies that threads have begun
        self.held = ""  # the name of the memory to free at the end
        each = dict.fromkeys(self.all_statements())  # one may stand at several places
        self.places = {s: k for k, s in enumerate(each)}

    # -- the function --------------------------------------------------------------------------

    def source(self) -> EmulatedSource:
        func = self.func
        for i, p in enumerate(func.params):
            kind = C_TYPES[p.dtype] if p in self.exchanged else f"const {C_TYPES[p.dtype]}"
            self.line(f"{kind} *const {self.names[p]} = ({kind} *)a[{i}];")
        self.memory()
        if any(isinstance(s, CopyAsync) for s in self.places):
            self.queues = self.fresh("copies")
            self.line(f"Queue {self.queues}[{self.size}] = {{}};")
        with self.launch(), self.blocks():
            self.together(self.nest.body, None)
        if self.queues:
            self.line(f"drop_copies({self.queues}, {self.size});")
        if self.held:
            self.line(f"__builtin_free({self.held});")
        name = f"byparts_{func.name}"
        body = "\n".join([f'extern "C" void {name}(void **a) {{', *self.lines, "}\n"])
        return EmulatedSource(
            name,
            body,
            self.mode,
            tuple([statement_lines([s])[0] for s in self.places]),
            tuple([f"{b.scope} {b}" for b in self.buffers()]),
            self.grid_shape,
            self.block_shape,
            self.workspace_bytes,
        )

    def buffers(self) -> list[Buffer]:
        """All of them, by their numbers in fault records."""
        return [*self.func.params, *self.func.locals]

    def memory(self) -> None:
        """Allocate all memory at once: what a block shares, and what its threads keep."""
        offset = 0
        lines = []
        memory = self.fresh("memory")
        for b in self.func.locals:
            if copies := copies_of(b, self.size, self.lifetimes.kept):
                kind, place = self.memory_type(b), f"{memory} + {offset}"
                lines.append(f"{kind} *const __restrict {self.names[b]} = ({kind} *)({place});")
                offset += -(-copies * max(1, elements_of(b)) * item_bytes(b) // 64) * 64
        if lines:
            self.held = f"{memory}_held"
            self.line(f"char *const {self.held} = (char *)__builtin_malloc({offset + 64});")
            self.line(f"char *const {memory} = {self.held} + 64 - (uintptr_t){self.held} % 64;")
            for text in lines:
                self.line(text)

    def memory_type(self, b: Buffer) -> str:
        """C for the type of an element in memory; a matrix is stored as f32 values."""
        return "float" if b.scope in MATRICES else C_TYPES[b.dtype]

    @contextmanager
    def launch(self) -> Any:
        """Write the code around the loop over the blocks; none unless a subclass has some."""
        yield

    @contextmanager
    def blocks(self) -> Any:
        """The loop over the blocks."""
        count, number = prod(self.grid_shape), self.fresh("block")
        with self.block(f"for (int64_t {number}_ = 0; {number}_ < {count}; ++{number}_)"):
            at = f"{count - 1} - {number}_" if self.backwards else f"{number}_"
            self.line(f"const int64_t {number} = {at};")
            self.coordinates("block", number, self.grid_shape)
            self.block_begins(number)
            if self.queues:
                self.line(f"drop_copies({self.queues}, {self.size});")
            yield

    def block_begins(self, number: str) -> None:
        """A block begins, of the number of this name."""

    def coordinates(self, kind: str, number: str, extents: tuple[int, int, int]) -> None:
        """The variables of a number along x, y, z, of which x is the fastest."""
        before = {"x": 1, "y": extents[0], "z": extents[0] * extents[1]}
        for axis, s in self.bound(kind):
            low = f" + {s.var.attr.low}" if s.var.attr.low else ""
            name = self.names.get(s.var) or self.name(s.var, s.name)
            value = f"{number} / {before[axis]} % {s.extent.attr}{low}"
            self.line(f"const int64_t {name} = {value};")

    # -- what all threads of a block go through ------------------------------------------------

    def together(self, body: Sequence[Statement], on: str | None) -> None:
        """Statements for the whole block; `on` names a flag for each thread that takes part."""
        for piece in pieces(body):
            s = piece[0]
            self.at(s)
            if not has_meeting(piece):
                with self.threads(on):
                    for b in self.lifetimes.within.get(s, ()):
                        self.declare(b)
                    self.statements(piece)
            elif isinstance(s, For):
                self.loop_of_block(s, on)
            elif isinstance(s, If):
                self.condition_of_block(s, on)
            elif isinstance(s, Barrier):
                self.barrier_of_block(on)
            elif isinstance(s, Collective):
                self.collective_of_block(s, on)

    @contextmanager
    def threads(self, on: str | None) -> Any:
        """The loop over the threads of a block."""
        t = self.thread
        with self.block(f"for (int64_t {t}_ = 0; {t}_ < {self.size}; ++{t}_)"):
            at = f"{self.size - 1} - {t}_" if self.backwards else f"{t}_"
            self.line(f"const int64_t {t} = {at};")
            if on:
                self.line(f"if (!{on}[{t}]) continue;")
            self.coordinates("thread", t, self.block_shape)
            yield

    def declare(self, b: Buffer) -> None:
        """A local buffer that lives in one stretch."""
        extent = f"[{max(1, elements_of(b))}]" if b.shape else ""
        self.line(f"{C_TYPES[b.dtype]} {self.names[b]}{extent};")

    def loop_of_block(self, s: For, on: str | None) -> None:
        if not same_for_all(s.extent, self.differing):
            raise EmitError(
                f"loop {s.name} around a meeting: threads go through it {s.extent} times, which is "
                "not the same for all"
            )
        with self.rounds(s):
            self.together(s.body, on)

    def condition_of_block(self, s: If, on: str | None) -> None:
        if same_for_all(s.condition, self.differing):
            with self.block(f"if ({self.value(s.condition, None)})"):
                self.together(s.body, on)
            return
        flag = self.fresh("on")
        self.line(f"char {flag}[{self.size}] = {{}};")
        with self.threads(on):
            self.line(f"{flag}[{self.thread}] = {self.value(s.condition, None)};")
        self.together(s.body, flag)

    def barrier_of_block(self, on: str | None) -> None:
        """Nothing: the loop over the threads has ended."""

    # -- memory --------------------------------------------------------------------------------

    def element(self, buffer: Buffer, index: Sequence[Expr], writes: bool) -> str:
        name, flat = self.names[buffer], self.flat(buffer, index, writes)
        if buffer in self.lifetimes.kept:
            n = max(1, elements_of(buffer))
            return f"{name}[{self.thread} * {n} + {flat}]" if n > 1 else f"{name}[{self.thread}]"
        return f"{name}[{flat}]" if buffer.shape or buffer.scope not in LOCAL else name

    def flat(self, buffer: Buffer, index: Sequence[Expr], writes: bool) -> str:
        """C for the position of an element."""
        return self.index(flat_index(buffer, index))

    def scalar(self, e: Expr) -> str:
        if e.op in FUNCTIONS:
            args = ", ".join([self.value(a) for a in e.args])
            return f"__builtin_{e.op}{'f' if e.dtype == 'f32' else ''}({args})"
        return super().scalar(e)

    def barrier(self, s: Barrier) -> None:
        raise AssertionError("a barrier inside of a stretch without meetings")

    def instruction(self, s: Instruction) -> None:
        """Copies arrive at once, or backwards when the thread waits for them."""
        if isinstance(s, CopyAsync):
            to, source = self.element(s.target, s.index, True), self.element(s.source, s.at, False)
            places = f"&{to}, &{source}, {s.size_bytes}"
            if self.backwards:
                self.line(f"put_off(&{self.queues}[{self.thread}], {places});")
            else:
                self.line(f"memcpy({places});")
        elif self.backwards:
            queue = f"&{self.queues}[{self.thread}]"
            if isinstance(s, WaitGroups):
                self.line(f"arrive({queue}, {s.pending});")
            else:
                self.line(f"++({queue})->group;")

    # -- neighbours: all lanes are read before one is written, as by wide accesses --------------

    def array_type(self, dtype: str) -> str:
        return C_TYPES[dtype]

    def wide_load(self, load: Expr, wide: Wide, array: str, loop: For) -> None:
        self.aligned(load.attr, load.args, wide, loop)
        with self.rounds(loop):
            lane = self.index(loop.var - loop.var.attr.low)
            self.line(f"{array}[{lane}] = {self.element(load.attr, load.args, False)};")

    def wide_store(
        self, buffer: Buffer, index: tuple[Expr, ...], wide: Wide, array: str, loop: For
    ) -> None:
        self.aligned(buffer, index, wide, loop)
        with self.rounds(loop):
            lane = self.index(loop.var - loop.var.attr.low)
            self.line(f"{self.element(buffer, index, True)} = {array}[{lane}];")

    def aligned(self, buffer: Buffer, index: Sequence[Expr], wide: Wide, loop: For) -> None:
        """Wide accesses of these elements follow."""


_RESERVED = (*KEYWORDS, "a", "least", "most", "checker", "regions", "touch", "aligned", "agree")
