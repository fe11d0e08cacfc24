"""Emulation of what the threads of a warp do together: shuffles, and matrices."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from byparts_gpu_ir.emit.shadow import HOLDERS
from byparts_gpu_ir.emit.thread import ThreadCode
from byparts_tensor_ir.emit.strategy import EmitError, elements_of, flat_index
from byparts_tensor_ir.expression import BYTES, INDEX, Expr, const, make
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


class WarpCode(ThreadCode):
    """Writes collectives, each as loops over the threads or over the warps of a block.

    Attributes:
        size: threads of a block.
        thread: the name of the number of a thread, in its loop.
        backwards: whether loops run in the opposite order.
        differing: variables that are not the same for all threads.
    """

    size: int
    thread: str
    backwards: bool
    differing: set[Expr]

    def threads(self, on: str | None) -> AbstractContextManager[None]:
        """The loop over the threads of a block."""
        raise NotImplementedError

    def warps_agree(self, on: str | None) -> None:
        """All threads of each warp are there, or none."""

    def places_agree(self, places: str, rank: int, on: str | None) -> None:
        """All threads of each warp have the same numbers in their rows of this array."""

    def collective_of_block(self, s: Collective, on: str | None) -> None:
        """The collective in all warps; `on` names a flag for each thread that takes part."""
        self.warps_agree(on)
        if isinstance(s, (Shuffle, Exchange)):
            self.shuffle(s, on)
        elif isinstance(s, FillMatrix):
            with self.warps(on) as warp, self.each_element(s.target, warp=warp) as texts:
                self.line(f"{texts[0]} = {s.value!r};")
        elif isinstance(s, MultiplyAdd):
            self.multiply(s, on)
        elif isinstance(s, ScaleMatrix):
            with self.warps(on) as warp, self.each_element(s.target, s.factor, warp=warp) as texts:
                self.line(f"{texts[0]} *= {texts[1]};")
        elif isinstance(s, MatrixBox):
            self.box(s, on)
        else:
            raise EmitError(f"{statement_lines([s])[0]} has no emulation")

    def shuffle(self, s: Shuffle | Exchange, on: str | None) -> None:
        values, t = self.fresh("lane"), self.thread
        self.line(f"{self.type_of(s.value, None)} {values}[{self.size}];")
        with self.threads(on):
            self.line(f"{values}[{t}] = {self.deep_value(s.value, None)};")
        with self.threads(on):
            if isinstance(s, Exchange):
                there = f"{t} ^ {s.mask}"
            else:
                there = f"{t} % {WARP} + {s.delta} < {WARP} ? {t} + {s.delta} : {t}"
            self.write(s.target, (), f"{values}[{there}]", s.value)

    # -- matrices: arrays of f32 for each warp --------------------------------------------------

    @contextmanager
    def warps(self, on: str | None) -> Any:
        """The loop over the warps of a block."""
        count, warp = self.size // WARP, self.fresh("warp")
        with self.block(f"for (int64_t {warp}_ = 0; {warp}_ < {count}; ++{warp}_)"):
            at = f"{count - 1} - {warp}_" if self.backwards else f"{warp}_"
            self.line(f"const int64_t {warp} = {at};")
            if on:
                self.line(f"if (!{on}[{warp} * {WARP}]) continue;")
            yield warp

    def matrix(self, m: Matrix, warp: str) -> str:
        """C for the address of the first element of a matrix of this warp."""
        for e in m.at:
            if loads(e) or variables(e) & self.differing:
                raise EmitError(f"{m}: which matrix is not the same for all threads of a warp")
        n, flat = elements_of(m.buffer), _before(m)
        return f"{self.names[m.buffer]} + {warp} * {n} + {self.index(flat)}"

    @contextmanager
    def each_element(self, *matrices: Matrix, warp: str) -> Any:
        """A loop over the elements; C for that of each matrix."""
        rows, columns = matrices[0].shape
        names, k = [self.fresh("matrix") for _ in matrices], self.fresh("e")
        for name, m in zip(names, matrices, strict=True):
            self.line(f"float *const {name} = {self.matrix(m, warp)};")
        with self.block(f"for (int64_t {k} = 0; {k} < {rows * columns}; ++{k})"):
            yield [f"{name}[{k}]" for name in names]

    def multiply(self, s: MultiplyAdd, on: str | None) -> None:
        """Each element is the sum of exact products, in order, rounded once."""
        (rows, depth), (_, columns) = s.left.shape, s.right.shape
        with self.warps(on) as warp:
            names = [self.fresh(stem) for stem in ("sum", "left", "right")]
            for name, m in zip(names, (s.target, s.left, s.right), strict=True):
                self.line(f"float *const {name} = {self.matrix(m, warp)};")
            arguments = ", ".join([*names, str(rows), str(depth), str(columns)])
            self.line(f"multiply_add({arguments});")

    def box(self, s: MatrixBox, on: str | None) -> None:
        """Between a matrix and memory, one element after the other."""
        rank, t = len(s.index), self.thread
        places = self.fresh("places")
        self.line(f"int64_t {places}[{self.size}][{rank}];")
        with self.threads(on):
            for d, e in enumerate(s.index):
                self.line(f"{places}[{t}][{d}] = {self.index(e)};")
        self.places_agree(places, rank, on)
        rows, columns = s.matrix.shape
        with self.warps(on) as warp:
            name, i, j = self.fresh("matrix"), self.fresh("i"), self.fresh("j")
            self.line(f"float *const {name} = {self.matrix(s.matrix, warp)};")
            with (
                self.block(f"for (int64_t {i} = 0; {i} < {rows}; ++{i})"),
                self.block(f"for (int64_t {j} = 0; {j} < {columns}; ++{j})"),
            ):
                index = [_name(f"{places}[{warp} * {WARP}][{d}]") for d in range(rank)]
                index[s.dims[0]] += _name(i)
                index[s.dims[1]] += _name(j)
                self.thread = f"{self.holder(s, warp)}"
                self.element_of_box(s, index, f"{name}[{i} * {columns} + {j}]")
                self.thread = t

    def holder(self, s: MatrixBox, warp: str) -> str:
        """The number by which the checker knows who touches memory: no thread, but a warp."""
        way = 2 * MATRICES.index(s.matrix.buffer.scope) + s.row_major
        return f"{MOST_THREADS} + {warp} * {HOLDERS} + {way}"

    def element_of_box(self, s: MatrixBox, index: Sequence[Expr], own: str) -> None:
        memory = s.memory
        if isinstance(s, StoreMatrix):
            self.line(f"{self.element(memory, index, True)} = {self.as_stored(memory, own)};")
            return
        text = self.as_value(memory.dtype, self.element(memory, index, False))
        rounds = s.matrix.buffer.scope != "accumulator" and memory.dtype == "f32"
        self.line(f"{own} = {f'to_tf32({text})' if rounds else text};")


def _before(m: Matrix) -> Expr:
    """Elements before a matrix in its buffer."""
    zero = const(0)
    return flat_index(m.buffer, (*m.at, zero, zero))


def _name(text: str) -> Expr:
    """An index that stands in C under this name."""
    return make("name", (), INDEX, (text, 0))


def item_bytes(b: Buffer) -> int:
    """Bytes of an element in memory; a matrix is stored as f32 values."""
    return 4 if b.scope in MATRICES else BYTES[b.dtype]


def copies_of(b: Buffer, size: int, kept: set[Buffer]) -> int:
    """The number of copies of a local buffer for `size` threads; 0 if it is inside a stretch."""
    if b.scope in MATRICES:
        return size // WARP
    return 1 if b.scope == "shared" else size if b in kept else 0
