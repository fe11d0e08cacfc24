"""Tiles of a product: which part of the result a block computes, and how many blocks share a sum.

A block of threads computes `rows` x `columns` elements, `depth` summands at a time; a thread those
of `m` x `n` of them.  Large tiles read less memory and small tiles fill all processors, so the
choice is the one with the least time by a small model: waves of blocks times the work of a block.
Where even small tiles are too few, blocks share the sum of one tile (`splits`), and a second launch
adds their parts, in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from byparts_tensor_ir.expression import BYTES, HALVES

PROCESSORS = 132  # of an H100; others have some 40 to 150, and the choice does not hang on it
WARP = 32
MATRIX = 16  # rows and columns of what a warp multiplies at once


@dataclass(frozen=True)
class Tile:
    """Sizes of the parts of the result that a block and a thread compute.

    Attributes:
        rows, columns, depth: of a block.
        m, n: rows and columns of a thread.
        speed: multiplications at a time on one processor, relative to its best.
    """

    rows: int
    columns: int
    depth: int
    m: int
    n: int
    speed: float = 1.0

    @property
    def threads(self) -> int:
        """Number of threads of a block: whole warps."""
        return (self.rows // self.m) * (self.columns // self.n)

    @property
    def lanes(self) -> tuple[int, int]:
        """Shape of a warp on the tile: its threads along rows, and along columns."""
        tall, wide = self.rows // self.m, self.columns // self.n
        fits = [(x, WARP // x) for x in (4, 2, 8, 1, 16) if not tall % x and not wide % (WARP // x)]
        assert fits, f"{self} has no room for a warp"
        return fits[0]


@dataclass(frozen=True)
class WarpTile:
    """Sizes of the parts that a block and a warp compute, by matrices of 16 x 16.

    Attributes:
        rows, columns, depth: of a block.
        m, n: matrices of a warp, along rows and columns.
        speed: as of a `Tile`.
    """

    rows: int
    columns: int
    depth: int
    m: int
    n: int
    speed: float = 1.0

    @property
    def across(self) -> int:
        """Warps along the columns."""
        return self.columns // (self.n * MATRIX)

    @property
    def threads(self) -> int:
        """Number of threads of a block."""
        return self.rows // (self.m * MATRIX) * self.across * WARP


# Speeds: a thread of 8 x 8 reads 16 numbers for 64 multiplications, one of 4 x 4 8 for 16.
TILES = (
    Tile(128, 128, 8, 8, 8, 1.0),
    Tile(128, 64, 8, 8, 8, 0.9),
    Tile(64, 128, 8, 8, 8, 0.9),
    Tile(64, 64, 16, 8, 4, 0.75),
    Tile(64, 32, 16, 4, 4, 0.55),
    Tile(32, 64, 16, 4, 4, 0.55),
    Tile(32, 32, 32, 4, 2, 0.35),
    Tile(16, 16, 32, 4, 2, 0.15),
)
TILES_OF_8_BYTES = (
    Tile(64, 64, 8, 4, 4, 1.0),
    Tile(64, 32, 8, 4, 4, 0.9),
    Tile(32, 64, 8, 4, 4, 0.9),
    Tile(32, 32, 16, 2, 4, 0.6),
    Tile(16, 16, 16, 2, 4, 0.3),
)
# The matrix units of an H100 multiply some ten times as fast, if memory keeps up.
TILES_OF_HALVES = (
    WarpTile(128, 128, 32, 2, 4, 8.0),
    WarpTile(128, 64, 32, 2, 2, 6.0),
    WarpTile(64, 128, 32, 2, 2, 6.0),
    WarpTile(64, 64, 32, 2, 2, 5.0),
    WarpTile(32, 64, 32, 1, 2, 3.0),
    WarpTile(64, 32, 32, 2, 1, 3.0),
    WarpTile(32, 32, 32, 1, 1, 2.0),
)
_SPLITS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
_LEAST_DEPTH = 128  # summands of a block that shares a sum
# Of the model, in multiplications that one processor does in that time:
_STEP = 80_000  # from a read of memory to its use: a step takes no less
_BEGIN = 200_000  # to begin and to end a block
_LAUNCH = 600_000  # a second launch
_ELEMENT = 0.6  # an element written and read again, by all processors
_RESIDENT_THREADS = 640  # of one processor, whose waiting overlaps


def tile_of(
    rows: int, columns: int, sums: int, batch: int, dtype: str
) -> tuple[Tile | WarpTile, int]:
    """The tile for these extents, and how many blocks share one."""
    extents = (rows, columns, sums, batch)
    return min(_choices(sums, dtype), key=lambda c: (_time(extents, c, BYTES[dtype]), c[1]))


def parts(sums: int, depth: int, splits: int) -> tuple[int, int]:
    """(how many parts of a sum there are, steps of `depth` in each); at most `splits`."""
    steps = -(-sums // depth)
    each = max(1, -(-steps // splits))
    return max(1, -(-steps // each)), each


def _choices(sums: int, dtype: str) -> Iterator[tuple[Tile | WarpTile, int]]:
    for tile in _tiles(dtype):
        for splits in _SPLITS:
            if splits == 1 or sums >= splits * _LEAST_DEPTH:
                yield tile, splits


def _tiles(dtype: str) -> Sequence[Tile | WarpTile]:
    if dtype in HALVES:
        return TILES_OF_HALVES
    return TILES_OF_8_BYTES if BYTES[dtype] == 8 else TILES


def _time(
    extents: tuple[int, int, int, int], choice: tuple[Tile | WarpTile, int], size_bytes: int
) -> float:
    """Estimate the time of one processor's share of the blocks, and of a second launch."""
    (rows, columns, sums, batch), (tile, splits) = extents, choice
    splits, steps = parts(sums, tile.depth, splits)
    blocks = -(-rows // tile.rows) * -(-columns // tile.columns) * batch * splits
    resident = max(1, _RESIDENT_THREADS // tile.threads)
    work = tile.rows * tile.columns * tile.depth / tile.speed * max(1, size_bytes // 4)
    rounds, rest = divmod(-(-blocks // PROCESSORS), resident)
    time = rounds * (steps * max(_STEP, resident * work) + _BEGIN)
    time += (steps * max(_STEP, rest * work) + _BEGIN) if rest else 0
    return time + (_LAUNCH + rows * columns * batch * splits * _ELEMENT if splits > 1 else 0)
