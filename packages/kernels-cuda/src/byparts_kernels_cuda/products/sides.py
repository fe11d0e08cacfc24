"""Work of a block in a product, and the tile of one operand in shared memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Union

from byparts_kernels_cuda.builder import Builder, all_of, needed
from byparts_kernels_cuda.products.contraction import (
    VECTOR_BYTES,
    Contraction,
    Extent,
    decoded,
    moved,
)
from byparts_kernels_cuda.products.reads import limits, read
from byparts_kernels_cuda.products.tiles import Tile, WarpTile
from byparts_tensor_ir.expression import BYTES, Expr
from byparts_tensor_ir.statement import Buffer
from byparts_tensor_ir.transfer import COPY_BYTES, CopyAsync

AnyTile = Union[Tile, WarpTile]
_SWIZZLE = (8, 4, 2, 1)  # tiles of a column that blocks which run together take


@dataclass(frozen=True)
class Job:
    """A contraction, cut into tiles.

    Attributes:
        c: the contraction.
        tile: of a block.
        splits: how many blocks share a sum.
        steps: of `tile.depth` summands that a block goes through.
        part: where blocks that share a sum write theirs, (split, batch, i, j); else `None`.
    """

    c: Contraction
    tile: AnyTile
    splits: int
    steps: int
    part: Buffer | None

    @property
    def tiles(self) -> tuple[Extent, int]:
        """Number of tiles along rows and along columns."""
        a, rows = self.c.a, self.tile.rows
        down = -(-a.extent // rows) if a.sized is None else (a.sized + (rows - 1)) // rows
        return down, -(-self.c.b.extent // self.tile.columns)

    @property
    def blocks(self) -> Extent:
        """Number of blocks of the launch."""
        down, across = self.tiles
        return self.c.batch * self.splits * down * across

    @property
    def whole(self) -> bool:
        """Whether all steps of all blocks have all their summands."""
        return self.splits * self.steps * self.tile.depth == self.c.sums


class Place:
    """Place in the product of a thread, from its number and that of its block.

    Attributes:
        thread: the number.
        batch, split: of the block.
        row, column: the first of its tile.
        begin: its first summand.
    """

    def __init__(self, job: Job, block: Expr, thread: Expr) -> None:
        self.job, self.thread = job, thread
        tile, (down, across) = job.tile, job.tiles
        self.batch, self.split, which = decoded(block, (job.c.batch, job.splits, down * across))
        # Blocks that run together take a few rows of tiles, so that they share what they read.
        tall = next(x for x in _SWIZZLE if down % x == 0) if isinstance(down, int) else 1
        group, column, row = decoded(which, (down // tall, across, tall))
        self.row, self.column = (group * tall + row) * tile.rows, column * tile.columns
        self.begin = self.split * (job.steps * tile.depth)

    def limits(self, row: Expr, column: Expr) -> list[Expr]:
        """Conditions for an element to be in the result."""
        c, tile = self.job.c, self.job.tile
        return [*limits(c.a, row, tile.rows), *limits(c.b, column, tile.columns)]


def copies_alone(job: Job, dtype: str) -> bool:
    """Whether both tiles can be copied to shared memory as they are, by whole accesses."""
    sides = (job.c.a, job.c.b)
    whole = all(x.lanes * BYTES[dtype] in COPY_BYTES for x in sides)
    return whole and all(x.buffer.dtype == dtype for x in sides) and job.steps > 1


class Side:
    """The tile of one operand: fetched into registers, then put into shared memory.

    Attributes:
        x: the operand.
        shared: elements (stage, summand, row or column), or where `by_rows` (stage, row, summand).
        by_rows: whether they stand as in global memory, if summands are neighbours there.
    """

    def __init__(
        self, build: Builder, at: Place, name: str, dtype: str, turns: bool, stages: int = 2
    ) -> None:
        """Make room for a tile.

        Args:
            build: where statements go.
            at: where the block and the thread stand.
            name: "a" or "b".
            dtype: of elements in shared memory.
            turns: whether summands come first even if they are neighbours in global memory.
            stages: how many steps there is room for.
        """
        job = at.job
        self.build, self.at = build, at
        self.x = x = job.c.a if name == "a" else job.c.b
        self.extent = job.tile.rows if name == "a" else job.tile.columns
        self.first = at.row if name == "a" else at.column
        depth, lanes = job.tile.depth, x.lanes
        assert depth % lanes == 0, f"{job.tile} has no whole accesses of {lanes} summands"
        self.by_rows = x.along == "sum" and not turns
        shape = (self.extent, depth) if self.by_rows else (depth, self.extent)
        pad = VECTOR_BYTES // BYTES[dtype] if x.along == "sum" or not turns else 0
        stages = min(stages, job.steps)
        self.shared = build.buffer("shared", f"{name}s", (stages, shape[0], shape[1] + pad), dtype)
        self.count = self.extent * depth // lanes  # accesses of the block
        self.each = -(-self.count // job.tile.threads)
        self.fetched = build.buffer("register", f"{name}f", (self.each, lanes), dtype)

    def fetch(self, step: Expr) -> None:
        """Read the tile of a step into registers; 0 where there is no element."""
        build, x, at, job = self.build, self.x, self.at, self.at.job
        with self._accesses() as (access, outer, summed):
            i, r = self.first + outer, at.begin + step * job.tile.depth + summed
            guards = [*limits(x, i, self.extent), *([] if job.whole else [r < job.c.sums])]
            read(build, x, (at.batch, i, r), (self.fetched, (access,)), x.lanes, guards)

    def begin_copy(self, step: Expr, stage: Expr) -> None:
        """Begin to copy the tile of a step into a stage; 0 where there is no element."""
        build, x, at, job = self.build, self.x, self.at, self.at.job
        with self._accesses() as (_, outer, summed):
            i, r = self.first + outer, at.begin + step * job.tile.depth + summed
            guards = [*limits(x, i, self.extent), *([] if job.whole else [r < job.c.sums])]
            inside = needed([*x.inside(at.batch, i, r), *guards])
            place = (stage, *((outer, summed) if self.by_rows else (summed, outer)))
            with build.when(*inside):
                source = x.index(at.batch, i, r)
                build.add(CopyAsync(self.shared, place, x.buffer, source, x.lanes))
            if inside:
                with build.when(~all_of(inside)), build.lanes(x.lanes) as lane:
                    build.store(self.shared, moved(place, lane), 0)

    def put(self, copy: Expr) -> None:
        """Write what was fetched into a copy of the tile in shared memory."""
        build, x = self.build, self.x
        kind = "unroll" if x.along == "sum" and not self.by_rows else "vectorize"
        with self._accesses() as (access, outer, summed), build.loop("lane", x.lanes, kind) as lane:
            i, r = (outer, summed + lane) if x.along == "sum" else (outer + lane, summed)
            at = (i, r) if self.by_rows else (r, i)
            build.store(self.shared, (copy, *at), self.fetched[access, lane])

    @contextmanager
    def _accesses(self) -> Iterator[tuple[Expr, Expr, Expr]]:
        """A loop over this thread's accesses: (its number, first outer index, first summand)."""
        build, x, tile = self.build, self.x, self.at.job.tile
        with build.unrolled(access=self.each) as (access,):
            number = access * tile.threads + self.at.thread
            full = [] if self.count % tile.threads == 0 else [number < self.count]
            with build.when(*full):
                if x.along == "sum":
                    steps = tile.depth // x.lanes
                    yield access, number // steps, number % steps * x.lanes
                else:
                    steps = self.extent // x.lanes
                    yield access, number % steps * x.lanes, number // steps
