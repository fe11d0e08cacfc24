"""Tilings of a product of two matrices, chosen by an estimate; nothing is run.

A tile has some rows, one number each, and some vectors; its sums stand in registers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product as pairs
from math import gcd

from byparts_graph_ir import Refused, TensorType
from byparts_op_loops.narrow import held, wide
from byparts_tensor_ir.expression import BYTES, FLOATS

_LINE_BYTES = 64
_FIRST_CACHE_BYTES = 1 << 15
SECOND_CACHE_BYTES = 1 << 19
_WAY_BYTES, _WAYS = 1 << 12, 8  # of the first cache: see `_crowded`
_FEW_USES = 4  # rows of a tile for which GCC 12 reads a vector in each multiplication
_LATENCY = 11  # multiplications that are begun before the first is done
_NEAR = 64  # elements: stores that are closer are cheap
MOST_UNROLLED = 64  # multiplications of vectors in a product that is written without a loop


@dataclass(frozen=True)
class Matrices:
    """A product of matrices: y[m, n] = a[m, k] b[k, n], either operand stored transposed.

    With `added`, y = c + added * a b.
    """

    m: int
    n: int
    k: int
    dtype: str
    transpose_a: bool = False
    transpose_b: bool = False
    added: float | None = None

    @property
    def y_bytes(self) -> int:
        """Bytes of the result."""
        return self.m * self.n * BYTES[held(self.dtype)]

    @property
    def converts(self) -> bool:
        """Whether numbers are converted when they are read."""
        return wide(self.dtype) != held(self.dtype)

    @property
    def wide_bytes(self) -> int:
        """Bytes of a number of the dtype that products are added up in."""
        return BYTES[wide(self.dtype)]


@dataclass(frozen=True)
class Tiling:
    """A way to cut a product into tiles of y.

    One operand is read in vectors (the lanes: b, or a if swapped), the other one number at a time
    (the scalars).

    Attributes:
        rows: of a tile.
        vectors: in each row of a tile.
        swapped: vectors run along m, and the rows of a tile along n.
        packed: the operand of the lanes is copied into strips before.
        gathered: the rows of each tile are copied from the operand of the scalars before.
    """

    rows: int
    vectors: int
    swapped: bool = False
    packed: bool = False
    gathered: bool = False


def are_matrices_of_floats(a: TensorType, b: TensorType) -> bool:
    """Whether a and b are two matrices of floats, not empty, of one dtype."""
    alike = a.rank == b.rank == 2 and a.dtype == b.dtype
    return alike and a.dtype in FLOATS and a.static and b.static and a.size * b.size > 0


@lru_cache(maxsize=1024)  # an unrolled loop has the same product in each round
def tiling_of(p: Matrices, vector_bytes: int, constant_b: bool = False, width: int = 0) -> Tiling:
    """The tiling whose estimated time is least.  O(1): some dozens of tilings are compared.

    Args:
        p: not empty.
        vector_bytes: of a register.
        constant_b: b is packed once, so that it costs nothing.
        width: of the panels that b is packed in; 0: any.

    Raises:
        Refused: no tiling has panels of this width.
    """
    lanes, registers = vector_bytes // p.wide_bytes, 32 if vector_bytes == 64 else 16
    known = list(_tilings(p, registers))
    if width:
        known = [t for t in known if t.packed and not t.swapped and t.vectors * lanes == width]
    if not known:
        raise Refused(f"panels of {width} {p.dtype}: vectors have {lanes}")
    return min(known, key=lambda t: _estimate(p, t, lanes, constant_b and not t.swapped))


def _tilings(p: Matrices, registers: int) -> Iterator[Tiling]:
    for vectors, rows in pairs(range(1, 9), range(1, 17)):
        if rows * vectors + (vectors if rows > 1 else 1) + 2 <= registers:
            for swapped, packed, gathered in pairs(*[(False, True)] * 3):
                transposing = not p.transpose_a if swapped else p.transpose_b
                strided = not p.transpose_b if swapped else p.transpose_a
                if packed >= transposing and gathered <= (strided or p.converts):
                    yield Tiling(rows, vectors, swapped, packed, gathered)


def _estimate(p: Matrices, t: Tiling, lanes: int, free_packing: bool) -> float:
    """Time in multiplications of vectors, of which two begin in a cycle."""
    rows, columns = (p.n, p.m) if t.swapped else (p.m, p.n)
    whole, rest = divmod(rows, t.rows)
    strips, last = divmod(-(-columns // lanes), t.vectors)
    strided = not p.transpose_b if t.swapped else p.transpose_a
    crowded = not (t.gathered or strided) and _crowded(t.rows, p.k * p.wide_bytes)
    time = 0.0
    for r, tiles in ((t.rows, whole), (rest, 1)):
        for v, times in ((t.vectors, strips), (last, 1)):
            masks = v if not t.packed and columns % (lanes * t.vectors) else 0
            if r and v:
                round = max(r * v, _loads(r, v), _LATENCY) + masks + crowded * r / 2
                time += tiles * times * (p.k * round + 2 * r * v + 8)
    visits = p.k * (strips + bool(last)) * (whole + bool(rest))
    transposing = not p.transpose_a if t.swapped else p.transpose_b
    if t.packed and not free_packing:
        time += columns * p.k * (3 if transposing else 6 / lanes)
    elif not t.packed and columns > lanes * t.vectors:  # rows of other strips lie between
        time += visits * _far(columns * p.k * p.wide_bytes)
    if p.converts:  # numbers one by one, and vectors, each time that they are read
        time += 0 if t.gathered else visits * t.rows
        time += 0 if t.packed else p.k * (whole + bool(rest)) * columns / lanes
    if t.gathered:
        time += 3 * rows * p.k
    elif rows > t.rows and strided:
        near = p.k * _LINE_BYTES <= _FIRST_CACHE_BYTES // 2  # a line for each of a tile's columns
        time += visits * (0.5 if near else 4)
    return time + (rows * columns * (2 if rows < _NEAR else 8) if t.swapped else 0)


def _loads(rows: int, vectors: int) -> float:
    """Time of the loads in a round; GCC repeats those of vectors that are used a few times."""
    return 1.2 * (rows + vectors) if rows > _FEW_USES else rows + rows * vectors


def _crowded(rows: int, row_bytes: int) -> bool:
    """Whether lines of a tile's rows drive each other out of the first cache.

    It has `_WAYS` places for lines whose addresses differ by multiples of `_WAY_BYTES`.
    """
    places = _WAY_BYTES // gcd(row_bytes, _WAY_BYTES)
    return row_bytes % _LINE_BYTES == 0 and rows >= places * _WAYS


def _far(bytes: int) -> int:
    """Time to read a line of an operand of so many bytes that does not follow the last one."""
    return 8 if bytes > SECOND_CACHE_BYTES else 1


def width_of(p: Matrices, t: Tiling, vector_bytes: int) -> int:
    """Elements of a strip."""
    return t.vectors * vector_bytes // p.wide_bytes


def packed_bytes(p: Matrices, t: Tiling, vector_bytes: int) -> int:
    """Bytes of the packed copy of b; 0 where the tiling packs none, or nothing is to pack."""
    if not t.packed or t.swapped or not p.m * p.n * p.k:
        return 0
    width = width_of(p, t, vector_bytes)
    return -(-p.n // width) * width * p.k * BYTES[held(p.dtype)]
