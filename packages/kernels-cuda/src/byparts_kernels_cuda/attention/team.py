"""A block of threads that multiplies tiles in shared memory, as attention needs it twice in a row.

Rows and columns are queries and keys, or keys and queries.  A warp has 4 x 8 threads; one of them
has the scores of some rows and some columns,

    row i of a thread     warp * 4 m + 4 i + (lane // 8)        i < m
    column j              8 j + lane % 8                        j < n

so that a row's maximum is found within 8 threads of one warp.  Tiles stand in shared memory as they
stand in global memory, with lines whose length is an odd number of quads: threads that read quads
of neighbouring lines have no bank conflicts, whichever way a tile is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from byparts_kernels_cuda.builder import Builder, needed
from byparts_kernels_cuda.products.contraction import (
    VECTOR_BYTES,
    lanes_of,
    multiply_add,
    sum_dtype,
)
from byparts_kernels_cuda.products.tiles import WARP
from byparts_tensor_ir.expression import BYTES, Expr
from byparts_tensor_ir.functions import cast
from byparts_tensor_ir.statement import Buffer, Exchange

DOWN, ACROSS = 4, 8  # threads of a warp along rows, and along columns
_MOST_UNROLLED = 16  # accesses of a thread that stand one after the other
Combine = Callable[[Expr, Expr], Expr]


@dataclass(frozen=True)
class Block:
    """Size of a block of threads, and of the share of each thread.

    Attributes:
        warps: of the block.
        m, n: rows and columns of a thread.
        matrices: whether matrix units multiply (`matrices.py`); then m is a multiple of 4, n of 2.
    """

    warps: int
    m: int
    n: int
    matrices: bool = False

    @property
    def rows(self) -> int:
        """Number of rows of the block."""
        return self.warps * DOWN * self.m

    @property
    def columns(self) -> int:
        """Number of columns that the block computes at a time."""
        return ACROSS * self.n

    @property
    def threads(self) -> int:
        """Number of threads of the block."""
        return self.warps * WARP

    def stored(self, dtype: str) -> str:
        """The dtype of numbers in shared memory."""
        return dtype if self.matrices else sum_dtype(dtype)

    def quad(self, dtype: str) -> int:
        """Numbers of shared memory in one access."""
        return VECTOR_BYTES // BYTES[self.stored(dtype)]

    def width_of_thread(self, width: int, dtype: str) -> int:
        """Columns of a product of this width that a thread has: whole quads, or less than one."""
        each, quad = -(-width // ACROSS), self.quad(dtype)
        if self.matrices or (each < quad and quad % each == 0):
            return each
        return -(-each // quad) * quad

    def filled_width(self, width: int, dtype: str) -> int:
        """Elements of a line that threads read: whole quads, the last ones of zeros."""
        quad = self.quad(dtype)
        return -(-max(width, ACROSS * self.width_of_thread(width, dtype)) // quad) * quad

    def stride(self, width: int, dtype: str) -> int:
        """Elements from one line of a tile to the next."""
        quad = self.quad(dtype)
        return (self.filled_width(width, dtype) // quad | 1) * quad

    def tile_bytes(self, lines: int, width: int, dtype: str) -> int:
        """Shared memory of a tile."""
        return lines * self.stride(width, dtype) * BYTES[self.stored(dtype)]


class Team:
    """Writes what the threads of a block do together.

    Attributes:
        build: where statements go.
        dtype: of the numbers in memory; sums are in `sum_dtype` of it.
    """

    def __init__(self, build: Builder, block: Block, thread: Expr, dtype: str) -> None:
        self.build, self.block, self.dtype = build, block, dtype
        self.sums, self.quad = sum_dtype(dtype), block.quad(dtype)
        self.thread, lane = thread, thread % WARP
        self.down, self.across = lane // ACROSS, lane % ACROSS

    def row(self, i: Expr) -> Expr:
        """The row of the block that is row i of the thread."""
        return self.thread // WARP * (DOWN * self.block.m) + i * DOWN + self.down

    def column(self, j: Expr) -> Expr:
        """The column of the block that is column j of the thread."""
        return j * ACROSS + self.across

    def registers(self, name: str, *shape: int) -> Buffer:
        """Numbers of a thread, in the dtype of sums."""
        return self.build.buffer("register", name, shape, self.sums)

    def filled(self, name: str, value: float, *shape: int) -> Buffer:
        """Numbers of a thread that begin with a value."""
        numbers = self.registers(name, *shape)
        with self.build.unrolled(**{f"i{d}": n for d, n in enumerate(shape)}) as index:
            self.build.store(numbers, index, value)
        return numbers

    # -- shared memory -------------------------------------------------------------------------

    def tile(self, name: str, lines: int, width: int) -> Buffer:
        """Shared memory for some lines of an array of this width."""
        shape = (lines, self.block.stride(width, self.dtype))
        return self.build.buffer("shared", name, shape, self.block.stored(self.dtype))

    def load(self, tile: Buffer, source: Buffer, batch: Expr, first: Expr) -> None:
        """Fill a tile from lines of (batch, line, element), from `first` on; 0 where none are."""
        build, lines, threads = self.build, int(tile.shape[0].attr), self.block.threads
        extent, width = (int(d.attr) for d in source.shape[1:])
        lanes = lanes_of(self.dtype, width)
        each = self.block.filled_width(width, self.dtype) // lanes
        count = lines * each
        rounds = -(-count // threads)
        kind = "unroll" if rounds <= _MOST_UNROLLED else "serial"
        with build.loop("access", rounds, kind) as access:
            number = access * threads + self.thread
            line, at = number // each, number % each * lanes
            held = build.buffer("register", "held", (lanes,), tile.dtype)
            with build.when(*[number < count] * (count % threads > 0)):
                inside = [first + line < extent] + [at < width] * (width < each * lanes)
                if needed(inside):
                    with build.unrolled(lane=lanes) as (lane,):
                        build.store(held, (lane,), 0)
                with build.when(*inside), build.lanes(lanes) as lane:
                    value = source[batch, first + line, at + lane]
                    build.store(held, (lane,), cast(value, tile.dtype))
                with build.lanes(lanes) as lane:
                    build.store(tile, (line, at + lane), held[lane])

    def spread(self, values: Buffer, tile: Buffer) -> None:
        """Write the thread's numbers of (row, column) into a tile of all rows and columns."""
        with self.build.unrolled(i=self.block.m, j=self.block.n) as (i, j):
            value = cast(values[i, j], tile.dtype)
            self.build.store(tile, (self.row(i), self.column(j)), value)

    # -- products ------------------------------------------------------------------------------

    def totals(self, width: int) -> Buffer:
        """Sums of products of this width, of the thread's rows; 0 at first."""
        each = self.block.width_of_thread(width, self.dtype)
        return self.filled("sums", 0, self.block.m, each)

    def scores(self, rows: Buffer, columns: Buffer, width: int) -> Buffer:
        """The products of the thread's rows of one tile and its columns of another one."""
        build, (m, n), quad = self.build, (self.block.m, self.block.n), self.quad
        products = self.filled("scores", 0, m, n)
        with build.loop("part", -(-width // quad)) as part:
            a, b = self.registers("a", m, quad), self.registers("b", n, quad)
            for held, tile, place, count in (
                (a, rows, self.row, m),
                (b, columns, self.column, n),
            ):
                with build.unrolled(i=count) as (i,), build.lanes(quad) as lane:
                    build.store(held, (i, lane), tile[place(i), part * quad + lane])
            with build.unrolled(lane=quad, i=m, j=n) as (lane, i, j):
                total = multiply_add(a[i, lane], b[j, lane], products[i, j])
                build.store(products, (i, j), total)
        return products

    def add_products(self, total: Buffer, weights: Buffer, values: Buffer) -> None:
        """total[i, x] += sum over columns of weights[row i, column] * values[column, x].

        Args:
            total: of `totals` of the width of values.
            weights: a tile of all rows and columns.
            values: a tile of all columns.
        """
        build, quad, m = self.build, self.quad, self.block.m
        width = int(total.shape[1].attr)
        group = min(width, quad)
        with build.loop("part", self.block.columns // quad) as part:
            a, b = self.registers("a", m, quad), self.registers("b", width)
            with build.unrolled(i=m) as (i,), build.lanes(quad) as lane:
                build.store(a, (i, lane), weights[self.row(i), part * quad + lane])
            with build.unrolled(k=quad) as (k,):
                with build.unrolled(group=width // group) as (g,), build.lanes(group) as lane:
                    value = values[part * quad + k, self._place(g, group) + lane]
                    build.store(b, (g * group + lane,), value)
                with build.unrolled(i=m, x=width) as (i, x):
                    build.store(total, (i, x), multiply_add(a[i, k], b[x], total[i, x]))

    def share(self, factors: Buffer) -> None:
        """Before a barrier: the thread's factors of rows are there for `scale`."""

    def scale(self, total: Buffer, factors: Buffer) -> None:
        """Multiply each row of a product by its factor."""
        m, width = (int(d.attr) for d in total.shape)
        with self.build.unrolled(i=m, x=width) as (i, x):
            self.build.store(total, (i, x), total[i, x] * factors[i])

    def _place(self, group: Expr, size: int) -> Expr:
        """The column of a product where the thread has a group of so many."""
        return (group * ACROSS + self.across) * size

    # -- results -------------------------------------------------------------------------------

    def over_row(self, own: Buffer, index: Sequence[Expr], combine: Combine) -> None:
        """Combine a number of each thread with those of all threads that have the same rows."""
        other = self.registers("other")
        for mask in (1, 2, 4):
            self.build.add(Exchange(other, own[tuple(index)], mask))
            self.build.store(own, index, combine(own[tuple(index)], other[()]))

    def write(
        self, total: Buffer, target: Buffer, batch: Expr, first: Expr, finish: Combine
    ) -> None:
        """Write a product of the thread's rows to lines of (batch, line, element).

        Args:
            total: as of `add_products`.
            target: where it goes.
            batch: the index.
            first: the line of row 0 of the block.
            finish: (row of the thread, sum) -> what is written.
        """
        build, held = self.build, int(total.shape[1].attr)
        extent, width = (int(d.attr) for d in target.shape[1:])
        group = min(held, self.quad)
        lanes = min(group, lanes_of(self.dtype, width))
        with build.unrolled(i=self.block.m, g=held // group, part=group // lanes) as (i, g, part):
            line = first + self.row(i)
            at = self._place(g, group) + part * lanes
            finished = build.buffer("register", "made", (lanes,), target.dtype)
            with build.when(line < extent, at < width):
                with build.unrolled(lane=lanes) as (lane,):
                    value = finish(i, total[i, g * group + part * lanes + lane])
                    build.store(finished, (lane,), cast(value, target.dtype))
                with build.lanes(lanes) as lane:
                    build.store(target, (batch, line, at + lane), finished[lane])
