"""Contractions of which one side is narrow: a matrix times a few vectors.

The time goes to reading the wide operand once, so what counts is that neighbouring threads read
neighbouring memory, and that enough of them do.  Where its summands are neighbours, a warp adds up
one row; where its rows are, a thread takes some neighbours of them.  Many blocks share a sum if
there are few rows; a second launch adds their parts, in order.
"""

from __future__ import annotations

from byparts_kernels_cuda.builder import Builder, array, needed
from byparts_kernels_cuda.products.contraction import (
    Contraction,
    Index,
    Operand,
    decoded,
    multiply_add,
)
from byparts_kernels_cuda.products.reads import read
from byparts_kernels_cuda.products.results import added, write
from byparts_kernels_cuda.products.tiles import PROCESSORS, WARP, parts
from byparts_tensor_ir.expression import Expr
from byparts_tensor_ir.statement import Buffer, Func

MOST_NARROW = 8  # rows of the narrow side
_THREADS = 256  # of a block
_WARPS = _THREADS // WARP
_LEAST_SUMS = 256  # of a block that shares a sum
_AHEAD = 4  # reads of memory that a thread has under way
_WANTED = PROCESSORS * 512  # threads that keep the memory busy


def narrow(c: Contraction, most_splits: int = 64) -> tuple[tuple[Func, ...], tuple[Buffer, ...]]:
    """(kernels, workspace) that compute a contraction with a side of at most `MOST_NARROW`.

    Args:
        c: no extent but `sums` is 0, and its operands have all elements: no `inside`.
        most_splits: how many blocks share a sum, at most.
    """
    wide = c.a if c.a.extent > c.b.extent else c.b
    sums = wide.along == "sum"
    threads = c.batch * (wide.extent * WARP if sums else -(-wide.extent // wide.lanes) * _WARPS)
    step = _AHEAD * (WARP * wide.lanes if sums else _WARPS)
    most = max(1, min(most_splits, -(-_WANTED // threads), c.sums // _LEAST_SUMS))
    splits, steps = parts(c.sums, step, most)
    part = array("parts", (splits, c.batch, c.a.extent, c.b.extent), c.dtype)
    n = _Narrow(c, wide, splits, steps, part if splits > 1 else None)
    kernel = _along_sums(n) if sums else _across(n)
    return ((kernel, added(c, part)), (part,)) if splits > 1 else ((kernel,), ())


def _along_sums(n: _Narrow) -> Func:
    """A warp adds up one row of the wide side: its lanes take neighbouring summands."""
    build, c, lanes = n.build, n.c, n.wide.lanes
    count = c.batch * n.splits * n.wide.extent  # warps
    with build.grid(-(-count // _WARPS), _THREADS) as (block, thread):
        warp, lane = block * _WARPS + thread // WARP, thread % WARP
        with build.when(warp < count):
            batch, split, row = decoded(warp, (c.batch, n.splits, n.wide.extent))
            sums = n.zeros(1)
            with build.loop("step", n.steps) as step, build.unrolled(ahead=_AHEAD) as (ahead,):
                r = ((split * n.steps + step) * _AHEAD + ahead) * (WARP * lanes)
                n.add(sums, (batch, row, r + lane * lanes), deep=lanes)
            with build.unrolled(few=n.few.extent) as (few,):
                build.add_over_warp(sums, (few, 0))
            with build.when(lane < 1), build.unrolled(few=n.few.extent) as (few,):
                n.write((batch, split, few, row), sums[few, 0])
    return n.function()


def _across(n: _Narrow) -> Func:
    """A thread adds up a few neighbouring rows; the warps of a block take summands in turn."""
    build, c, few, lanes = n.build, n.c, n.few.extent, n.wide.lanes
    width = WARP * lanes
    groups = -(-n.wide.extent // width)
    shared = build.buffer("shared", "partial", (_WARPS, few, width), c.dtype)
    with build.grid(c.batch * n.splits * groups, _THREADS) as (block, thread):
        batch, split, group = decoded(block, (c.batch, n.splits, groups))
        warp, own = thread // WARP, thread % WARP * lanes
        sums = n.zeros(lanes)
        with build.loop("step", n.steps) as step, build.unrolled(ahead=_AHEAD) as (ahead,):
            r = ((split * n.steps + step) * _AHEAD + ahead) * _WARPS + warp
            n.add(sums, (batch, group * width + own, r), across=lanes)
        with build.unrolled(few=few) as (i,), build.lanes(lanes) as lane:
            build.store(shared, (warp, i, own + lane), sums[i, lane])
        build.barrier()
        with build.unrolled(more=-(-few * width // _THREADS)) as (more,):
            number = more * _THREADS + thread
            i, j = decoded(number, (few, width))
            column = group * width + j
            with build.when(number < few * width, column < n.wide.extent):
                total = build.buffer("register", "total", (), c.dtype)
                build.store(total, (), shared[0, i, j])
                with build.unrolled(deep=_WARPS - 1) as (deep,):
                    build.store(total, (), total[()] + shared[deep + 1, i, j])
                n.write((batch, split, i, column), total[()])
    return n.function()


class _Narrow:
    """Operands, loop and builder, which both kernels of this module have in common.

    Attributes:
        wide, few: the operands.
        splits: how many warps or blocks share a sum.
        steps: of a thread's loop over its summands.
    """

    def __init__(
        self, c: Contraction, wide: Operand, splits: int, steps: int, part: Buffer | None
    ) -> None:
        self.c, self.wide, self.few = c, wide, c.b if wide is c.a else c.a
        self.splits, self.steps, self.part = splits, steps, part
        self.build = Builder()

    def function(self) -> Func:
        """The function, after its statements were added."""
        c = self.c
        y = (c.y,) if self.part is None else (self.part,)
        reads = c.reads if self.part is None else ()
        return self.build.function("narrow", (c.a.buffer, c.b.buffer, *reads, *y), y)

    def zeros(self, across: int) -> Buffer:
        """Sums of a thread, (row of the narrow side, row of the wide side)."""
        build = self.build
        sums = build.buffer("register", "sums", (self.few.extent, across), self.c.dtype)
        with build.unrolled(few=self.few.extent, lane=across) as (i, j):
            build.store(sums, (i, j), 0)
        return sums

    def add(self, sums: Buffer, at: Index, deep: int = 1, across: int = 1) -> None:
        """Add the products of neighbours of the wide side.

        Args:
            sums: of `zeros`.
            at: (batch, row, summand) of the first neighbour.
            deep: how many neighbours there are along summands.
            across: and along rows.
        """
        build, c, (batch, row, r) = self.build, self.c, at
        held = build.buffer("register", "w", (deep * across,), c.dtype)
        own = build.buffer("register", "x", (deep,), c.dtype)
        inside = needed([r < c.sums])
        read(build, self.wide, at, (held, ()), deep * across, [*inside, row < self.wide.extent])
        with build.unrolled(few=self.few.extent) as (i,):
            read(build, self.few, (batch, i, r), (own, ()), deep, inside, "sum")
            with build.unrolled(k=deep, lane=across) as (k, j):
                total = multiply_add(own[k], held[k + j], sums[i, j])
                build.store(sums, (i, j), total)

    def write(self, at: Index, value: Expr) -> None:
        """Write a sum, or a part of one, at (batch, split, row of few, row of wide)."""
        batch, split, few, wide = at
        i, j = (wide, few) if self.wide is self.c.a else (few, wide)
        if self.part is None:
            write(self.build, self.c, lambda lane: value, (batch, i, j), 1)
        else:
            self.build.store(self.part, (split, batch, i, j), value)
