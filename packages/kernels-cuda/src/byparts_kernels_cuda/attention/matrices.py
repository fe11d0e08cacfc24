"""A block of threads that multiplies tiles of halves by its warps' matrix units, summed in f32.

Which thread has which element of a matrix is not said.  So scores pass through shared memory to the
threads that weigh them, and the factors of rows come back as matrices of equal columns.
"""

from __future__ import annotations

from byparts_kernels_cuda.attention.team import ACROSS, DOWN, Block, Combine, Team
from byparts_kernels_cuda.builder import Builder
from byparts_kernels_cuda.products.contraction import Index
from byparts_kernels_cuda.products.tiles import WARP
from byparts_kernels_cuda.products.warps import matrices
from byparts_tensor_ir.expression import Expr, as_expr
from byparts_tensor_ir.functions import cast
from byparts_tensor_ir.matrix import (
    SIDE,
    FillMatrix,
    LoadMatrix,
    Matrix,
    MultiplyAdd,
    ScaleMatrix,
    StoreMatrix,
)
from byparts_tensor_ir.statement import Buffer

Pair = tuple[int, int]
_PAD = 8  # between rows of numbers in shared memory: the threads of a warp have no bank conflicts


def team_of(build: Builder, block: Block, thread: Expr, dtype: str) -> Team:
    """The team of a block."""
    return (MatrixTeam if block.matrices else Team)(build, block, thread, dtype)


class MatrixTeam(Team):
    """A team whose sums are matrices; all widths are multiples of 16."""

    def __init__(self, build: Builder, block: Block, thread: Expr, dtype: str) -> None:
        super().__init__(build, block, thread, dtype)
        self.down_matrices, self.across_matrices = block.m * DOWN // SIDE, block.columns // SIDE
        self.warp_row = thread // WARP * (DOWN * block.m)
        self.written = False

    def totals(self, width: int) -> Buffer:
        totals = self.matrices("accumulator", self.down_matrices, width // SIDE)
        self.fill(totals)
        return totals

    def scores(self, rows: Buffer, columns: Buffer, width: int) -> Buffer:
        build, counts = self.build, (self.down_matrices, self.across_matrices)
        sums = self.matrices("accumulator", *counts)
        left, right = self.matrices("matrix_a", counts[0]), self.matrices("matrix_b", counts[1])
        self.fill(sums)
        with build.loop("part", width // SIDE, "unroll") as part:
            at = part * SIDE
            with build.unrolled(i=counts[0]) as (i,):
                self.load_matrix(left, (i,), rows, (self.row_of(i), at))
            with build.unrolled(j=counts[1]) as (j,):
                self.load_matrix(right, (j,), columns, (j * SIDE, at), (1, 0))
            with build.unrolled(i=counts[0], j=counts[1]) as (i, j):
                sides = Matrix(left, (i,)), Matrix(right, (j,))
                build.add(MultiplyAdd(Matrix(sums, (i, j)), *sides))
        return self.held(sums)

    def held(self, sums: Buffer) -> Buffer:
        """The thread's rows and columns of a matrix of scores."""
        build = self.build
        self.finished = self.numbers("finished", self.block.columns)
        self.store(sums, 0, self.across_matrices)
        build.barrier()
        scores = self.registers("scores", self.block.m, self.block.n)
        with build.unrolled(i=self.block.m, j=self.block.n) as (i, j):
            build.store(scores, (i, j), self.finished[self.row(i), self.column(j)])
        return scores

    def add_products(self, total: Buffer, weights: Buffer, values: Buffer) -> None:
        build, (down, across) = self.build, (int(d.attr) for d in total.shape[:2])
        left, right = self.matrices("matrix_a", down), self.matrices("matrix_b")
        with build.unrolled(part=self.across_matrices) as (part,):
            at = part * SIDE
            with build.unrolled(i=down) as (i,):
                self.load_matrix(left, (i,), weights, (self.row_of(i), at))
            with build.unrolled(x=across) as (x,):
                self.load_matrix(right, (), values, (at, x * SIDE))
                with build.unrolled(i=down) as (i,):
                    sides = Matrix(left, (i,)), Matrix(right)
                    build.add(MultiplyAdd(Matrix(total, (i, x)), *sides))

    def share(self, factors: Buffer) -> None:
        self.of_rows = self.numbers("of_rows", SIDE)
        with self.build.unrolled(i=self.block.m, part=SIDE // ACROSS) as (i, part):
            at = (self.row(i), part * ACROSS + self.across)
            self.build.store(self.of_rows, at, factors[i])

    def scale(self, total: Buffer, factors: Buffer) -> None:
        build, (down, across) = self.build, (int(d.attr) for d in total.shape[:2])
        held = self.matrices("accumulator")
        with build.unrolled(i=down) as (i,):
            self.load_matrix(held, (), self.of_rows, (self.row_of(i), as_expr(0)))
            with build.unrolled(x=across) as (x,):
                build.add(ScaleMatrix(Matrix(total, (i, x)), Matrix(held)))

    def write(
        self, total: Buffer, target: Buffer, batch: Expr, first: Expr, finish: Combine
    ) -> None:
        """Write the finished sums to `target`, as many columns at a time as there are scores."""
        build, lanes, columns = self.build, self.block.n, self.block.columns
        extent, width = (int(d.attr) for d in target.shape[1:])
        for begin in range(0, width, columns):
            if self.written:
                build.barrier()
            self.written = True
            self.store(total, begin // SIDE, min(columns, width - begin) // SIDE)
            build.barrier()
            with build.unrolled(i=self.block.m) as (i,):
                line, own = first + self.row(i), self.across * lanes
                held = self.registers("held", lanes)
                finished = build.buffer("register", "made", (lanes,), target.dtype)
                with build.when(line < extent, own + begin < width):
                    with build.lanes(lanes) as lane:
                        build.store(held, (lane,), self.finished[self.row(i), own + lane])
                    with build.unrolled(lane=lanes) as (lane,):
                        build.store(finished, (lane,), cast(finish(i, held[lane]), target.dtype))
                    with build.lanes(lanes) as lane:
                        build.store(target, (batch, line, own + begin + lane), finished[lane])

    # -- matrices ------------------------------------------------------------------------------

    def matrices(self, scope: str, *counts: int) -> Buffer:
        """Matrices of each warp."""
        dtype = "f32" if scope == "accumulator" else self.dtype
        return matrices(self.build, scope, dtype, *counts)

    def row_of(self, i: Expr) -> Expr:
        """The row of the block where matrix i of the warp begins."""
        return self.warp_row + i * SIDE

    def numbers(self, name: str, columns: int) -> Buffer:
        """Numbers of all rows, in shared memory."""
        return self.build.buffer("shared", name, (self.block.rows, columns + _PAD), self.sums)

    def fill(self, sums: Buffer) -> None:
        """All elements are 0."""
        down, across = (int(d.attr) for d in sums.shape[:2])
        with self.build.unrolled(i=down, j=across) as at:
            self.build.add(FillMatrix(Matrix(sums, at), 0.0))

    def load_matrix(
        self, target: Buffer, at: tuple[Expr, ...], tile: Buffer, place: Index, dims: Pair = (0, 1)
    ) -> None:
        """Load a matrix from a tile."""
        self.build.add(LoadMatrix(Matrix(target, at), tile, place, dims))

    def store(self, sums: Buffer, begin: int, count: int) -> None:
        """Write columns of matrices where threads find them."""
        with self.build.unrolled(i=self.down_matrices, j=count) as (i, j):
            matrix = Matrix(sums, (i, begin + j))
            self.build.add(StoreMatrix(matrix, self.finished, (self.row_of(i), j * SIDE), (0, 1)))
