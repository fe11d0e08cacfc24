"""Products of halves by the units that multiply matrices of a warp (tensor cores), summed in f32.

A warp has sums of some rows and columns, as matrices of 16 x 16 whose elements are spread over its
threads nobody says how.  So they are written to shared memory first, and read there by the threads
that finish them.
"""

from __future__ import annotations

from byparts_kernels_cuda.builder import Builder
from byparts_kernels_cuda.products.contraction import lanes_of
from byparts_kernels_cuda.products.results import write
from byparts_kernels_cuda.products.sides import Place, Side
from byparts_kernels_cuda.products.tiles import WARP, WarpTile
from byparts_tensor_ir.expression import Expr, as_expr
from byparts_tensor_ir.matrix import (
    SIDE,
    FillMatrix,
    LoadMatrix,
    Matrix,
    MultiplyAdd,
    StoreMatrix,
)
from byparts_tensor_ir.statement import Buffer

_PAD = 4  # between rows of 16 sums in shared memory: fewer bank conflicts
_OF_LANE = SIDE * SIDE // WARP  # elements of a matrix that a thread finishes: half a row


class Warps:
    """Writes the sums of a tile.

    Attributes:
        dtype: of elements in shared memory, a half.
        turns: not: elements stand there as in global memory.
    """

    turns = False

    def __init__(self, build: Builder, at: Place, tile: WarpTile) -> None:
        self.build, self.at, self.tile = build, at, tile
        self.dtype = at.job.c.a.buffer.dtype
        warp = at.thread // WARP
        self.row = warp // tile.across * (tile.m * SIDE)
        self.column = warp % tile.across * (tile.n * SIDE)

    def begin(self) -> None:
        """All sums are 0."""
        self.sums = matrices(self.build, "accumulator", "f32", self.tile.m, self.tile.n)
        with self.build.unrolled(i=self.tile.m, j=self.tile.n) as (i, j):
            self.build.add(FillMatrix(Matrix(self.sums, (i, j)), 0.0))

    def add_products(self, a: Side, b: Side, copy: Expr) -> None:
        """Add the products of the tiles that stand in shared memory."""
        build, tile = self.build, self.tile
        left = matrices(build, "matrix_a", self.dtype, tile.m)
        right = matrices(build, "matrix_b", self.dtype, tile.n)
        with build.unrolled(depth=tile.depth // SIDE) as (k,):
            with build.unrolled(i=tile.m) as (i,):
                self._load(a, Matrix(left, (i,)), copy, self.row + i * SIDE, k * SIDE)
            with build.unrolled(j=tile.n) as (j,):
                self._load(b, Matrix(right, (j,)), copy, self.column + j * SIDE, k * SIDE)
            with build.unrolled(i=tile.m, j=tile.n) as (i, j):
                sides = (Matrix(left, (i,)), Matrix(right, (j,)))
                build.add(MultiplyAdd(Matrix(self.sums, (i, j)), *sides))

    def _load(self, side: Side, matrix: Matrix, copy: Expr, outer: Expr, summed: Expr) -> None:
        """Load rows of a, or columns of b, from their tile."""
        at = (copy, outer, summed) if side.by_rows else (copy, summed, outer)
        rows_first = side.by_rows == (matrix.buffer.scope == "matrix_a")
        dims = (1, 2) if rows_first else (2, 1)
        self.build.add(LoadMatrix(matrix, side.shared, at, dims))

    def finish(self) -> None:
        """Write the sums, or this block's part of them: one matrix of each warp at a time."""
        build, tile, at, job = self.build, self.tile, self.at, self.at.job
        shape = (tile.threads // WARP, SIDE, SIDE + _PAD)
        shared = build.buffer("shared", "finished", shape, "f32")
        warp, lane = at.thread // WARP, at.thread % WARP
        part, c = job.part, job.c
        lanes = min(4, c.lanes if part is None else lanes_of("f32", c.b.extent))
        with build.unrolled(i=tile.m, j=tile.n) as (i, j):
            matrix = Matrix(self.sums, (i, j))
            build.add(StoreMatrix(matrix, shared, (warp, as_expr(0), as_expr(0)), (1, 2)))
            build.barrier()
            half = lane // (SIDE // _OF_LANE)
            first = lane % (SIDE // _OF_LANE) * _OF_LANE
            row = at.row + self.row + i * SIDE + half
            with build.unrolled(group=_OF_LANE // lanes) as (group,):
                own = first + group * lanes
                column = at.column + self.column + j * SIDE + own
                held = build.buffer("register", "held", (lanes,), "f32")
                with build.lanes(lanes) as x:
                    build.store(held, (x,), shared[warp, half, own + x])
                with build.when(*at.limits(row, column)):
                    self._write(held, row, column, lanes)
            build.barrier()

    def _write(self, held: Buffer, row: Expr, column: Expr, lanes: int) -> None:
        """Write neighbours of a row."""
        build, at, job = self.build, self.at, self.at.job
        if job.part is None:
            write(build, job.c, lambda lane: held[lane], (at.batch, row, column), lanes)
            return
        with build.lanes(lanes) as lane:
            build.store(job.part, (at.split, at.batch, row, column + lane), held[lane])


def matrices(build: Builder, scope: str, dtype: str, *counts: int) -> Buffer:
    """Matrices of each warp, of halves or accumulators."""
    return build.buffer(scope, scope, (*counts, SIDE, SIDE), dtype)
