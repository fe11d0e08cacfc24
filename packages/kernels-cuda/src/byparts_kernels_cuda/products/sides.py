"""Where a block and its threads stand in a product; the tile of an operand in shared memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from byparts_kernels_cuda.builder import Builder
from byparts_kernels_cuda.products.contraction import VECTOR_BYTES, Contraction, Operand, decoded
from byparts_kernels_cuda.products.reads import limits, read
from byparts_kernels_cuda.products.tiles import WARP, Tile
from byparts_tensor_ir.expression import BYTES, Expr
from byparts_tensor_ir.statement import Buffer

_SWIZZLE = (8, 4, 2, 1)  # tiles of a column that blocks which run together take


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


class Place:
    """What the numbers of a block and of a thread mean.

    Attributes:
        batch, split: of the block.
        rows, columns: of the thread.
        begin: the first summand of the block.
        whole: whether all steps of all blocks have all their summands.
    """

    def __init__(
        self, numbers: tuple[Expr, Expr], c: Contraction, tile: Tile, splits: int, steps: int
    ) -> None:
        self.c, self.tile = c, tile
        block, self.thread = numbers
        down, across = -(-c.a.extent // tile.rows), -(-c.b.extent // tile.columns)
        self.batch, self.split, which = decoded(block, (c.batch, splits, down * across))
        # Blocks that run together take a few rows of tiles, so that they share what they read.
        tall = next(x for x in _SWIZZLE if down % x == 0)
        group, column, row = decoded(which, (down // tall, across, tall))
        self.begin = self.split * (steps * tile.depth)
        self.whole = splits * steps * tile.depth == c.sums
        self.rows, self.columns = self._strips(
            (group * tall + row) * tile.rows, column * tile.columns
        )

    def _strips(self, first_row: Expr, first_column: Expr) -> tuple[Strip, Strip]:
        tile, quad = self.tile, VECTOR_BYTES // BYTES[self.c.dtype]
        tall, wide = tile.lanes
        across = tile.columns // tile.n // wide  # warps
        warp, lane = self.thread // WARP, self.thread % WARP
        found = []
        for first, count, threads, of_warp, of_lane in (
            (first_row, tile.m, tall, warp // across, lane // wide),
            (first_column, tile.n, wide, warp % across, lane % wide),
        ):
            group = min(quad, count)
            begin = of_warp * (threads * count) + of_lane * group
            found.append(Strip(first, begin, count, group, threads * group))
        return found[0], found[1]

    def limits(self, row: Expr, column: Expr) -> list[Expr]:
        """What holds where the element is one of the result."""
        c, tile = self.c, self.tile
        return [*limits(c.a, row, tile.rows), *limits(c.b, column, tile.columns)]


class Side:
    """The tile of one operand: fetched into registers, then put into shared memory.

    Attributes:
        strip: the rows or columns of a thread.
        shared: elements (copy, summand, row or column).
    """

    def __init__(
        self, build: Builder, at: Place, c: Contraction, x: Operand, copies: int, name: str
    ) -> None:
        self.build, self.at, self.x, self.name, self.dtype = build, at, x, name, c.dtype
        tile, self.sums = at.tile, c.sums
        self.extent = tile.rows if name == "a" else tile.columns
        self.strip = at.rows if name == "a" else at.columns
        assert tile.depth % x.lanes == 0, f"{tile} has no whole accesses of {x.lanes} summands"
        pad = VECTOR_BYTES // BYTES[c.dtype] if x.along == "sum" else 0
        self.shared = build.buffer(
            "shared", f"{name}s", (copies, tile.depth, self.extent + pad), c.dtype
        )
        self.count = self.extent * tile.depth // x.lanes  # accesses of the block
        self.each = -(-self.count // tile.threads)
        self.fetched = build.buffer("register", f"{name}f", (self.each, x.lanes), c.dtype)

    def fetch(self, step: Expr) -> None:
        """Read the tile of a step into registers; 0 where there is no element."""
        build, x, at = self.build, self.x, self.at
        with self._accesses() as (access, outer, summed):
            i, r = self.strip.first + outer, at.begin + step * at.tile.depth + summed
            guards = [*limits(x, i, self.extent), *([] if at.whole else [r < self.sums])]
            read(build, x, (at.batch, i, r), (self.fetched, (access,)), x.lanes, guards)

    def held(self, copy: Expr, k: Expr) -> Buffer:
        """The thread's elements of one summand, in registers."""
        build, strip = self.build, self.strip
        held = build.buffer("register", self.name, (strip.count,), self.dtype)
        groups = strip.count // strip.group
        with build.unrolled(group=groups) as (group,), build.lanes(strip.group) as lane:
            value = self.shared[copy, k, strip.inside(group, lane)]
            build.store(held, (group * strip.group + lane,), value)
        return held

    def put(self, copy: Expr) -> None:
        """Write what was fetched into a copy of the tile in shared memory."""
        build, x = self.build, self.x
        with self._accesses() as (access, outer, summed):
            kind = "unroll" if x.along == "sum" else "vectorize"
            with build.loop("lane", x.lanes, kind) as lane:
                moved = (summed + lane, outer) if x.along == "sum" else (summed, outer + lane)
                build.store(self.shared, (copy, *moved), self.fetched[access, lane])

    @contextmanager
    def _accesses(self) -> Iterator[tuple[Expr, Expr, Expr]]:
        """A loop over this thread's accesses: (its number, first outer index, first summand)."""
        build, x, threads, depth = self.build, self.x, self.at.tile.threads, self.at.tile.depth
        with build.unrolled(access=self.each) as (access,):
            number = access * threads + self.at.thread
            full = [] if self.count % threads == 0 else [number < self.count]
            with build.when(*full):
                if x.along == "sum":
                    steps = depth // x.lanes
                    yield access, number // steps, number % steps * x.lanes
                else:
                    steps = self.extent // x.lanes
                    yield access, number % steps * x.lanes, number // steps
