"""Products of the threads of a block: each has sums of some rows and columns in registers.

A thread reads quads of neighbours, some threads the same ones: a warp of 4 x 8 threads reads 16
rows and 32 columns at a time, without bank conflicts.
"""

from __future__ import annotations

from dataclasses import dataclass

from byparts_kernels_cuda.builder import Builder
from byparts_kernels_cuda.products.contraction import (
    VECTOR_BYTES,
    Index,
    lanes_of,
    multiply_add,
)
from byparts_kernels_cuda.products.results import write
from byparts_kernels_cuda.products.sides import Place, Side
from byparts_kernels_cuda.products.tiles import WARP, Tile
from byparts_tensor_ir.expression import BYTES, Expr
from byparts_tensor_ir.statement import Buffer


@dataclass(frozen=True)
class Strip:
    """The rows (or columns) of a tile that one thread has: `count` in groups of neighbours.

    Attributes:
        first: of the tile.
        begin: of the thread, within the tile.
        count: how many a thread has.
        group: how many are neighbours: one access of shared memory.
        step: from one group to the next; between them stand those of other threads of the warp.
    """

    first: Expr
    begin: Expr
    count: int
    group: int
    step: int

    def inside(self, group: Expr, lane: Expr) -> Expr:
        """The row within the tile of one of a group."""
        return self.begin + group * self.step + lane


class Threads:
    """Writes the sums of a tile.

    Attributes:
        dtype: of elements in shared memory.
        turns: summands come first there, so that a thread's rows of one summand are neighbours.
    """

    turns = True

    def __init__(self, build: Builder, at: Place, tile: Tile) -> None:
        self.build, self.at, self.tile = build, at, tile
        self.dtype = at.job.c.dtype
        self.rows, self.columns = self._strips()

    def begin(self) -> None:
        """All sums are 0."""
        shape = (self.tile.m, self.tile.n)
        self.sums = self.build.buffer("register", "sums", shape, self.dtype)
        with self.build.unrolled(i=self.tile.m, j=self.tile.n) as (i, j):
            self.build.store(self.sums, (i, j), 0)

    def add_products(self, a: Side, b: Side, copy: Expr) -> None:
        """Add the products of the tiles that stand in shared memory."""
        build, tile = self.build, self.tile
        with build.unrolled(depth=tile.depth) as (k,):
            left, right = (
                self._held(side.shared, strip, copy, k)
                for side, strip in ((a, self.rows), (b, self.columns))
            )
            with build.unrolled(i=tile.m, j=tile.n) as (i, j):
                total = multiply_add(left[i], right[j], self.sums[i, j])
                build.store(self.sums, (i, j), total)

    def _held(self, shared: Buffer, strip: Strip, copy: Expr, k: Expr) -> Buffer:
        """The thread's elements of one summand, in registers."""
        build = self.build
        held = build.buffer("register", "held", (strip.count,), self.dtype)
        groups = strip.count // strip.group
        with build.unrolled(group=groups) as (group,), build.lanes(strip.group) as lane:
            value = shared[copy, k, strip.inside(group, lane)]
            build.store(held, (group * strip.group + lane,), value)
        return held

    def _strips(self) -> tuple[Strip, Strip]:
        at, tile, quad = self.at, self.tile, VECTOR_BYTES // BYTES[self.dtype]
        tall, wide = tile.lanes
        across = tile.columns // tile.n // wide  # warps
        warp, lane = at.thread // WARP, at.thread % WARP
        strips = []
        for first, count, threads, of_warp, of_lane in (
            (at.row, tile.m, tall, warp // across, lane // wide),
            (at.column, tile.n, wide, warp % across, lane % wide),
        ):
            group = min(quad, count)
            begin = of_warp * (threads * count) + of_lane * group
            strips.append(Strip(first, begin, count, group, threads * group))
        return strips[0], strips[1]

    def finish(self) -> None:
        """Write the sums, or this block's part of them."""
        build, rows, columns, job = self.build, self.rows, self.columns, self.at.job
        most = job.c.lanes if job.part is None else lanes_of(self.dtype, job.c.b.extent)
        lanes = min(most, columns.group)
        # Two loops: of four, nvcc leaves some as they are, and then the sums are in memory.
        with build.unrolled(i=rows.count, j=columns.count // lanes) as (i, j):
            row = rows.first + rows.inside(i // rows.group, i % rows.group)
            part, accesses = j * lanes // columns.group, columns.group // lanes
            column = columns.first + columns.inside(part, j % accesses * lanes)
            with build.when(*self.at.limits(row, column)):
                self._write(row, column, (i, j * lanes), lanes)

    def _write(self, row: Expr, first: Expr, own: Index, lanes: int) -> None:
        """Write `lanes` neighbours of a row of the result."""
        build, at, job = self.build, self.at, self.at.job
        i, j = own
        if job.part is None:
            values = (at.batch, row, first)
            write(build, job.c, lambda lane: self.sums[i, j + lane], values, lanes)
            return
        with build.lanes(lanes) as lane:
            place = (at.split, at.batch, row, first + lane)
            build.store(job.part, place, self.sums[i, j + lane])
