"""Emulation of what the threads of a warp do together: shuffles, and matrices."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from byparts_gpu_ir.emit.checked import Checks
from byparts_gpu_ir.emit.shadow import HOLDERS
from byparts_gpu_ir.emit.thread import ThreadCode
from byparts_tensor_ir.access import EmitError, elements_of, flat_index
from byparts_tensor_ir.expression import HALVES, Expr, const
from byparts_tensor_ir.matrix import (
    FillMatrix,
    Matrix,
    MatrixBox,
    MultiplyAdd,
    ScaleMatrix,
    StoreMatrix,
)
from byparts_tensor_ir.nest import MOST_THREADS
from byparts_tensor_ir.statement import (
    MATRICES,
    WARP,
    Buffer,
    Collective,
    Exchange,
    Shuffle,
    statement_lines,
)
from byparts_tensor_ir.substitute import loads, variables


class Block(Protocol):
    """The emulation of a block of threads.

    Attributes:
        thread: the code of one.
        size: how many there are.
        number: the name of the number of a thread, in its loop.
        backwards: whether loops run in the opposite order.
        differing: variables that are not the same for all threads.
        checks: what is checked.
    """

    thread: ThreadCode
    size: int
    number: str
    backwards: bool
    differing: set[Expr]
    checks: Checks

    def threads(self, on: str | None) -> AbstractContextManager[None]:
        """The loop over the threads of a block."""

    def element(self, buffer: Buffer, index: Sequence[Expr], writes: bool) -> str:
        """An element in memory."""


class WarpCode:
    """Writes collectives, each as loops over the threads or over the warps of a block."""

    def __init__(self, block: Block) -> None:
        self.block, self.text, self.values = block, block.thread.text, block.thread.values

    def write(self, s: Collective, on: str | None) -> None:
        """The collective in all warps; `on` names a flag for each thread that takes part."""
        self.block.checks.warps_agree(on)
        if isinstance(s, (Shuffle, Exchange)):
            self.shuffle(s, on)
        elif isinstance(s, FillMatrix):
            with self.warps(on) as warp, self.each_element(s.target, warp=warp) as texts:
                self.text.line(f"{texts[0]} = {s.value!r};")
        elif isinstance(s, MultiplyAdd):
            self.multiply(s, on)
        elif isinstance(s, ScaleMatrix):
            with self.warps(on) as warp, self.each_element(s.target, s.factor, warp=warp) as texts:
                self.text.line(f"{texts[0]} *= {texts[1]};")
        elif isinstance(s, MatrixBox):
            self.box(s, on)
        else:
            raise EmitError(f"{statement_lines([s])[0]} has no emulation")

    def shuffle(self, s: Shuffle | Exchange, on: str | None) -> None:
        values, t = self.text.fresh("lane"), self.block.number
        self.text.line(f"{self.values.type_of(s.value)} {values}[{self.block.size}];")
        with self.block.threads(on):
            self.text.line(f"{values}[{t}] = {self.values.deep_value(s.value)};")
        with self.block.threads(on):
            if isinstance(s, Exchange):
                there = f"{t} ^ {s.mask}"
            else:
                there = f"{t} % {WARP} + {s.delta} < {WARP} ? {t} + {s.delta} : {t}"
            self.block.thread.statements.assign(s.target, (), f"{values}[{there}]")

    # -- matrices: arrays of f32 for each warp --------------------------------------------------

    @contextmanager
    def warps(self, on: str | None) -> Any:
        """The loop over the warps of a block."""
        count, warp = self.block.size // WARP, self.text.fresh("warp")
        with self.text.block(f"for (int64_t {warp}_ = 0; {warp}_ < {count}; ++{warp}_)"):
            at = f"{count - 1} - {warp}_" if self.block.backwards else f"{warp}_"
            self.text.line(f"const int64_t {warp} = {at};")
            if on:
                self.text.line(f"if (!{on}[{warp} * {WARP}]) continue;")
            yield warp

    def matrix(self, m: Matrix, warp: str) -> str:
        """C for the address of the first element of a matrix of this warp."""
        for e in m.at:
            if loads(e) or variables(e) & self.block.differing:
                raise EmitError(f"{m}: which matrix is not the same for all threads of a warp")
        n, flat = elements_of(m.buffer), _before(m)
        return f"{self.text.name(m.buffer)} + {warp} * {n} + {self.values.index(flat)}"

    @contextmanager
    def each_element(self, *matrices: Matrix, warp: str) -> Any:
        """A loop over the elements; C for that of each matrix."""
        rows, columns = matrices[0].shape
        names, k = [self.text.fresh("matrix") for _ in matrices], self.text.fresh("e")
        for name, m in zip(names, matrices, strict=True):
            self.text.line(f"float *const {name} = {self.matrix(m, warp)};")
        with self.text.block(f"for (int64_t {k} = 0; {k} < {rows * columns}; ++{k})"):
            yield [f"{name}[{k}]" for name in names]

    def multiply(self, s: MultiplyAdd, on: str | None) -> None:
        """Each element is the sum of exact products, in order, rounded once."""
        (rows, depth), (_, columns) = s.left.shape, s.right.shape
        with self.warps(on) as warp:
            names = [self.text.fresh(stem) for stem in ("sum", "left", "right")]
            for name, m in zip(names, (s.target, s.left, s.right), strict=True):
                self.text.line(f"float *const {name} = {self.matrix(m, warp)};")
            arguments = ", ".join([*names, str(rows), str(depth), str(columns)])
            self.text.line(f"multiply_add({arguments});")

    def box(self, s: MatrixBox, on: str | None) -> None:
        """Between a matrix and memory, one element after the other."""
        rank, t = len(s.index), self.block.number
        places = self.text.fresh("places")
        self.text.line(f"int64_t {places}[{self.block.size}][{rank}];")
        with self.block.threads(on):
            for d, e in enumerate(s.index):
                self.text.line(f"{places}[{t}][{d}] = {self.values.index(e)};")
        self.block.checks.places_agree(places, rank, on)
        rows, columns = s.matrix.shape
        with self.warps(on) as warp:
            name, i, j = self.text.fresh("matrix"), self.text.fresh("i"), self.text.fresh("j")
            self.text.line(f"float *const {name} = {self.matrix(s.matrix, warp)};")
            with (
                self.text.block(f"for (int64_t {i} = 0; {i} < {rows}; ++{i})"),
                self.text.block(f"for (int64_t {j} = 0; {j} < {columns}; ++{j})"),
            ):
                number = self.text.number
                index = [number(f"{places}[{warp} * {WARP}][{d}]") for d in range(rank)]
                index[s.dims[0]] += number(i)
                index[s.dims[1]] += number(j)
                self.block.number = self.holder(s, warp)
                self.element_of_box(s, index, f"{name}[{i} * {columns} + {j}]")
                self.block.number = t

    def holder(self, s: MatrixBox, warp: str) -> str:
        """The number by which the checker knows who touches memory: no thread, but a warp."""
        way = 2 * MATRICES.index(s.matrix.buffer.scope) + s.row_major
        return f"{MOST_THREADS} + {warp} * {HOLDERS} + {way}"

    def element_of_box(self, s: MatrixBox, index: Sequence[Expr], own: str) -> None:
        memory = s.memory
        if isinstance(s, StoreMatrix):
            stored = self.values.stored(memory.dtype, own)
            self.text.line(f"{self.block.element(memory, index, True)} = {stored};")
            return
        text = self.block.element(memory, index, False)
        if memory.dtype in HALVES:
            text = f"from_{memory.dtype}({text})"
        rounds = s.matrix.buffer.scope != "accumulator" and memory.dtype == "f32"
        self.text.line(f"{own} = {f'to_tf32({text})' if rounds else text};")


def _before(m: Matrix) -> Expr:
    """Elements before a matrix in its buffer."""
    zero = const(0)
    return flat_index(m.buffer, (*m.at, zero, zero))
