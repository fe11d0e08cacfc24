"""Plain C with loops over the threads of a block, cut where they meet.

The cut, for a list of statements that all threads of a block go through: statements without
meetings become one loop over the threads; a loop around a meeting stays outside, and its extent
must be the same for all threads; a condition around a meeting that is not the same for all is
computed once for each thread and kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from byparts_gpu_ir.emit.checked import Checker, Checks
from byparts_gpu_ir.emit.emulated import EmulatedSource
from byparts_gpu_ir.emit.inline import bare
from byparts_gpu_ir.emit.thread import KEYWORDS, LOCAL, ThreadCode
from byparts_gpu_ir.emit.warps import WarpCode
from byparts_gpu_ir.fission import Lifetimes, copies_of, item_bytes, pieces, same_for_all
from byparts_gpu_ir.wide import Wide
from byparts_tensor_ir.access import EmitError, elements_of
from byparts_tensor_ir.emit.c_tables import CPP
from byparts_tensor_ir.emit.vectors import C_TYPES
from byparts_tensor_ir.expression import Expr, as_expr
from byparts_tensor_ir.nest import AXES, has_meeting
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

EMULATED = replace(CPP, trim=bare)


class Emulator:
    """Writes the C.

    Attributes:
        thread: the code of one thread.
        size: threads of a block.
        number: the name of the number of a thread, in its loop.
        backwards: whether loops run in the opposite order.
        differing: variables that are not the same for all threads.
        checks: what is checked.
    """

    def __init__(self, func: Func, mode: str) -> None:
        self.thread = ThreadCode(func, EMULATED, _RESERVED, self)
        self.func, self.text, self.values = self.thread.func, self.thread.text, self.thread.values
        self.mode, self.size = mode, self.thread.nest.size
        self.backwards = mode == "reversed"
        self.number = self.text.fresh("thread")
        nest = self.thread.nest
        self.differing: set[Expr] = {s.var for s in nest.threads.values()}
        self.lifetimes = Lifetimes(nest.body)
        self.queues = ""  # the name of the copies that threads have begun
        self.held = ""  # the name of the memory to free at the end
        each = dict.fromkeys(self.thread.all_statements())  # one may stand at several places
        self.places: dict[Statement, int] = {s: k for k, s in enumerate(each)}
        self.checks = (Checker if mode == "checked" else Checks)(self)
        self.warps = WarpCode(self)
        self.thread.statements.begins = self.checks.begins

    # -- the function --------------------------------------------------------------------------

    def source(self) -> EmulatedSource:
        func = self.func
        for i, p in enumerate(func.params):
            kind = C_TYPES[p.dtype] if p in self.thread.exchanged else f"const {C_TYPES[p.dtype]}"
            self.text.line(f"{kind} *const {self.text.name(p)} = ({kind} *)a[{i}];")
        for i, size in enumerate(func.sizes, len(func.params)):
            self.text.line(f"const int64_t {self.text.name(size)} = (int64_t)a[{i}];")
        self.memory()
        if any(isinstance(s, CopyAsync) for s in self.places):
            self.queues = self.text.fresh("copies")
            self.text.line(f"Queue {self.queues}[{self.size}] = {{}};")
        with self.checks.launch(), self.blocks():
            self.together(self.thread.nest.body, None)
        if self.queues:
            self.text.line(f"drop_copies({self.queues}, {self.size});")
        if self.held:
            self.text.line(f"__builtin_free({self.held});")
        name = f"byparts_{func.name}"
        body = "\n".join([f'extern "C" void {name}(void **a) {{', *self.text.lines, "}\n"])
        return EmulatedSource(
            name,
            body,
            self.mode,
            tuple([statement_lines([s])[0] for s in self.places]),
            tuple([f"{b.scope} {b}" for b in self.buffers()]),
            self.thread.grid,
            self.thread.outer.block,
            self.checks.workspace_bytes,
        )

    def buffers(self) -> list[Buffer]:
        """All of them, by their numbers in fault records."""
        return [*self.func.params, *self.func.locals]

    def memory(self) -> None:
        """Allocate all memory at once: what a block shares, and what its threads keep."""
        offset = 0
        lines = []
        memory = self.text.fresh("memory")
        for b in self.func.locals:
            if copies := copies_of(b, self.size, self.lifetimes.kept):
                kind, place = self.memory_type(b), f"{memory} + {offset}"
                lines.append(f"{kind} *const __restrict {self.text.name(b)} = ({kind} *)({place});")
                offset += -(-copies * max(1, elements_of(b)) * item_bytes(b) // 64) * 64
        if lines:
            self.held = f"{memory}_held"
            self.text.line(f"char *const {self.held} = (char *)__builtin_malloc({offset + 64});")
            self.text.line(
                f"char *const {memory} = {self.held} + 64 - (uintptr_t){self.held} % 64;"
            )
            for text in lines:
                self.text.line(text)

    def memory_type(self, b: Buffer) -> str:
        """C for the type of an element in memory; a matrix is stored as f32 values."""
        return "float" if b.scope in MATRICES else C_TYPES[b.dtype]

    @contextmanager
    def blocks(self) -> Any:
        """The loop over the blocks."""
        grid = [self.values.index(as_expr(n)) for n in self.thread.outer.grid]
        count, number = " * ".join(grid), self.text.fresh("block")
        with self.text.block(f"for (int64_t {number}_ = 0; {number}_ < {count}; ++{number}_)"):
            at = f"{count} - 1 - {number}_" if self.backwards else f"{number}_"
            self.text.line(f"const int64_t {number} = {at};")
            self.coordinates("block", number, grid)
            self.checks.block_begins(number)
            if self.queues:
                self.text.line(f"drop_copies({self.queues}, {self.size});")
            yield

    def coordinates(self, kind: str, number: str, extents: Sequence[str]) -> None:
        """The variables of a number along x, y, z, of which x is the fastest."""
        before = {"x": "1", "y": extents[0], "z": f"({extents[0]} * {extents[1]})"}
        for axis, s in self.thread.bound(kind):
            low = f" + {s.var.attr.low}" if s.var.attr.low else ""
            name = self.text.names.get(s.var) or self.text.give_name(s.var, s.name)
            value = f"{number} / {before[axis]} % {extents[AXES.index(axis)]}{low}"
            self.text.line(f"const int64_t {name} = {value};")

    # -- what all threads of a block go through ------------------------------------------------

    def together(self, body: Sequence[Statement], on: str | None) -> None:
        """Statements for the whole block; `on` names a flag for each thread that takes part."""
        for piece in pieces(body):
            s = piece[0]
            self.checks.begins(s)
            if not has_meeting(piece):
                with self.threads(on):
                    for b in self.lifetimes.within.get(s, ()):
                        self.declare(b)
                    self.thread.statements.write(piece)
            elif isinstance(s, For):
                self.loop_of_block(s, on)
            elif isinstance(s, If):
                self.condition_of_block(s, on)
            elif isinstance(s, Barrier):
                self.checks.barrier(on)
            elif isinstance(s, Collective):
                self.warps.write(s, on)

    @contextmanager
    def threads(self, on: str | None) -> Any:
        """The loop over the threads of a block."""
        t = self.number
        with self.text.block(f"for (int64_t {t}_ = 0; {t}_ < {self.size}; ++{t}_)"):
            at = f"{self.size - 1} - {t}_" if self.backwards else f"{t}_"
            self.text.line(f"const int64_t {t} = {at};")
            if on:
                self.text.line(f"if (!{on}[{t}]) continue;")
            self.coordinates("thread", t, [str(n) for n in self.thread.outer.block])
            yield

    def declare(self, b: Buffer) -> None:
        """A local buffer that lives in one stretch."""
        extent = f"[{max(1, elements_of(b))}]" if b.shape else ""
        self.text.line(f"{C_TYPES[b.dtype]} {self.text.name(b)}{extent};")
        self.checks.declared(b)

    def loop_of_block(self, s: For, on: str | None) -> None:
        if not same_for_all(s.extent, self.differing):
            raise EmitError(
                f"loop {s.name} around a meeting: threads go through it {s.extent} times, which is "
                "not the same for all"
            )
        with self.thread.rounds(s):
            self.together(s.body, on)

    def condition_of_block(self, s: If, on: str | None) -> None:
        if same_for_all(s.condition, self.differing):
            with self.text.block(f"if ({self.values.value(s.condition)})"):
                self.together(s.body, on)
            return
        flag = self.text.fresh("on")
        self.text.line(f"char {flag}[{self.size}] = {{}};")
        with self.threads(on):
            self.text.line(f"{flag}[{self.number}] = {self.values.value(s.condition)};")
        self.together(s.body, flag)

    # -- memory --------------------------------------------------------------------------------

    def element(self, buffer: Buffer, index: Sequence[Expr], writes: bool) -> str:
        """An element in memory; of a buffer that threads keep, in the copy of this one."""
        name = self.text.name(buffer)
        kept = buffer in self.lifetimes.kept
        if self.checks.variable(buffer):
            return f"{name}[{self.number}]" if kept else name
        flat = self.checks.flat(buffer, index, writes)
        if kept:
            n = max(1, elements_of(buffer))
            return f"{name}[{self.number} * {n} + {flat}]" if n > 1 else f"{name}[{self.number}]"
        return f"{name}[{flat}]" if buffer.shape or buffer.scope not in LOCAL else name

    def barrier(self, s: Barrier) -> None:
        raise AssertionError("a barrier inside of a stretch without meetings")

    def instruction(self, s: Instruction) -> None:
        """Copies arrive at once, or backwards when the thread waits for them."""
        if self.checks.instruction(s):
            return
        if isinstance(s, CopyAsync):
            to, source = self.element(s.target, s.index, True), self.element(s.source, s.at, False)
            places = f"&{to}, &{source}, {s.size_bytes}"
            if self.backwards:
                self.text.line(f"put_off(&{self.queues}[{self.number}], {places});")
            else:
                self.text.line(f"memcpy({places});")
        elif self.backwards:
            queue = f"&{self.queues}[{self.number}]"
            if isinstance(s, WaitGroups):
                self.text.line(f"arrive({queue}, {s.pending});")
            else:
                self.text.line(f"++({queue})->group;")

    # -- neighbours: all lanes are read before one is written, as by wide accesses --------------

    def array_type(self, dtype: str) -> str:
        return C_TYPES[dtype]

    def wide_load(self, load: Expr, wide: Wide, array: str, loop: For) -> None:
        self.checks.aligned(load.attr, load.args, wide, loop)
        with self.thread.rounds(loop):
            lane = self.values.index(loop.var - loop.var.attr.low)
            self.text.line(f"{array}[{lane}] = {self.element(load.attr, load.args, False)};")

    def wide_store(
        self, buffer: Buffer, index: tuple[Expr, ...], wide: Wide, array: str, loop: For
    ) -> None:
        self.checks.aligned(buffer, index, wide, loop)
        with self.thread.rounds(loop):
            lane = self.values.index(loop.var - loop.var.attr.low)
            self.text.line(f"{self.element(buffer, index, True)} = {array}[{lane}];")


_RESERVED = (*KEYWORDS, "a", "least", "most", "checker", "regions", "touch", "aligned", "agree")
