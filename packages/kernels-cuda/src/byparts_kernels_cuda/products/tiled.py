"""One kernel for all contractions: tiles in shared memory, sums in registers.

    for each step of `depth` summands:        fetch the next step's tiles into registers
                                              multiply the tiles that stand in shared memory
                                              put the fetched ones beside them
                                              barrier

Shared memory has room for two steps, so one barrier a step is enough: what is written in a step was
last read in the step before the barrier.  A thread reads quads of neighbours, some threads the same
ones: a warp of 4 x 8 threads reads 16 rows and 32 columns at a time, without bank conflicts.  An
operand whose neighbours in memory are summands is turned while it is put; a few elements between
its lines keep that from conflicts.

After Volkov and Demmel 2008 (https://doi.org/10.1145/1413370.1413402) and CUTLASS
(https://github.com/NVIDIA/cutlass, `efficient_gemm.md`).
"""

from __future__ import annotations

from byparts_kernels_cuda.builder import Builder, array
from byparts_kernels_cuda.products.contraction import (
    Contraction,
    Index,
    lanes_of,
    multiply_add,
)
from byparts_kernels_cuda.products.results import added, write
from byparts_kernels_cuda.products.sides import Place, Side
from byparts_kernels_cuda.products.tiles import Tile, parts
from byparts_tensor_ir.expression import Expr, as_expr
from byparts_tensor_ir.statement import Buffer, Func


def tiled(
    c: Contraction, tile: Tile, splits: int = 1
) -> tuple[tuple[Func, ...], tuple[Buffer, ...]]:
    """(kernels, workspace) that compute the contraction.

    Args:
        c: no extent but `sums` is 0.
        tile: whose threads a block has.
        splits: how many blocks share a sum, at most.
    """
    splits, steps = parts(c.sums, tile.depth, splits)
    if splits == 1:
        return (_Tiled(c, tile, 1, steps, None).function(),), ()
    part = array("parts", (splits, c.batch, c.a.extent, c.b.extent), c.dtype)
    return (_Tiled(c, tile, splits, steps, part).function(), added(c, part)), (part,)


class _Tiled:
    """The kernel of one tile size."""

    def __init__(
        self, c: Contraction, tile: Tile, splits: int, steps: int, part: Buffer | None
    ) -> None:
        self.c, self.tile, self.splits, self.steps, self.part = c, tile, splits, steps, part
        self.build = Builder()
        down, across = -(-c.a.extent // tile.rows), -(-c.b.extent // tile.columns)
        self.blocks = c.batch * splits * down * across

    def function(self) -> Func:
        c, build = self.c, self.build
        with build.grid(self.blocks, self.tile.threads) as (block, thread):
            self.at = Place((block, thread), c, self.tile, self.splits, self.steps)
            self.sums = self.registers("sums", self.tile.m, self.tile.n)
            with build.unrolled(i=self.tile.m, j=self.tile.n) as (i, j):
                build.store(self.sums, (i, j), 0)
            if self.steps and c.sums:
                self.multiply()
            self.finish()
        y = (c.y,) if self.part is None else (self.part,)
        reads = c.reads if self.part is None else ()
        return build.function("product", (c.a.buffer, c.b.buffer, *reads, *y), y)

    # -- sums ----------------------------------------------------------------------------------

    def multiply(self) -> None:
        """Add all products of the tile to `sums`."""
        build, steps = self.build, self.steps
        copies = min(2, steps)
        sides = (
            Side(build, self.at, self.c, self.c.a, copies, "a"),
            Side(build, self.at, self.c, self.c.b, copies, "b"),
        )
        for side in sides:
            side.fetch(as_expr(0))
            side.put(as_expr(0))
        build.barrier()
        with build.loop("step", steps) as step:
            with build.when(step < steps - 1):
                for side in sides:
                    side.fetch(step + 1)
            self.add_products(*sides, step % copies)
            with build.when(step < steps - 1):
                for side in sides:
                    side.put((step + 1) % copies)
                build.barrier()

    def add_products(self, a: Side, b: Side, copy: Expr) -> None:
        """Add the products of the tiles that stand in shared memory."""
        build, tile = self.build, self.tile
        with build.unrolled(depth=tile.depth) as (k,):
            left, right = a.held(copy, k), b.held(copy, k)
            with build.unrolled(i=tile.m, j=tile.n) as (i, j):
                total = multiply_add(left[i], right[j], self.sums[i, j])
                build.store(self.sums, (i, j), total)

    # -- results -------------------------------------------------------------------------------

    def finish(self) -> None:
        """Write the sums, or this block's part of them."""
        build, c, rows, columns = self.build, self.c, self.at.rows, self.at.columns
        most = c.lanes if self.part is None else lanes_of(c.dtype, c.b.extent)
        lanes = min(most, columns.group)
        with build.unrolled(
            down=rows.count // rows.group,
            row=rows.group,
            across=columns.count // columns.group,
            group=columns.group // lanes,
        ) as (down, i, across, group):
            row = rows.first + rows.inside(down, i)
            column = columns.first + columns.inside(across, group * lanes)
            own = (down * rows.group + i, across * columns.group + group * lanes)
            with build.when(*self.at.limits(row, column)):
                self.write_group(row, column, own, lanes)

    def write_group(self, row: Expr, first: Expr, own: Index, lanes: int) -> None:
        """Write `lanes` neighbours of a row of the result."""
        build, c, batch = self.build, self.c, self.at.batch
        i, j = own
        if self.part is not None:
            with build.lanes(lanes) as lane:
                at = (self.at.split, batch, row, first + lane)
                build.store(self.part, at, self.sums[i, j + lane])
            return
        write(build, c, lambda lane: self.sums[i, j + lane], (batch, row, first), lanes)

    # -- small things --------------------------------------------------------------------------

    def registers(self, name: str, *shape: int) -> Buffer:
        return self.build.buffer("register", name, shape, self.c.dtype)
