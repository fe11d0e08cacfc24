"""A product of two matrices of our own: loops around a tile of sums that stand in registers.

    y[m, n] = a[m, k] b[k, n]      for each strip of columns, for each tile of rows of it:
                                       for r: tile[i, :] += a[i, r] * b[r, strip]
                                       y[tile] = tile

A number of one operand, the *scalars*, meets vectors of the other, the *lanes*: vectors run along
n, or, where a is stored transposed and n is small, along m.  The schedule is that of
`docs/tensor-ir.md`.  Strips of the lanes' operand may be copied first, so that they are read from
front to back, padded to whole vectors; copies of constants are made once (`packing`).  So may the
scalars' rows, where they are columns in memory.

Halves are added up in f32, and i4 in i8.

After Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (2008).  There is
no block of k: a block of the scalars' rows fits the second cache up to k of some thousands.
"""

from __future__ import annotations

from byparts_kernels_native.tilings import (
    MOST_UNROLLED,
    SECOND_CACHE_BYTES,
    Matrices,
    Tiling,
    packed_bytes,
    width_of,
)
from byparts_op_loops.narrow import held, loaded, stored, wide
from byparts_tensor_ir import (
    Func,
    Schedule,
    compute,
    lower,
    minimum,
    placeholder,
    reduce_axis,
    select,
    sum as sum_over,
)
from byparts_tensor_ir.expression import Expr, const
from byparts_tensor_ir.statement import loops
from byparts_tensor_ir.tensor import Reduction, Tensor


def product(p: Matrices, t: Tiling, vector_bytes: int, packed_apart: bool = False) -> Func:
    """The scheduled loops: a function of (a, b, c, y); c is not read if nothing is added.

    Args:
        p: k may be 0.
        t: the tiling.
        vector_bytes: of a register.
        packed_apart: instead of b the function reads what `packing` makes of b, if that packs.
    """
    x = _Operands(p, t, width_of(p, t, vector_bytes))
    apart = packed_apart and packed_bytes(p, t, vector_bytes) > 0
    packed: Tensor = placeholder(x.packed_shape, "P", held(p.dtype)) if apart else x.strips()
    tile = x.tile(packed, p.dtype if apart else "")
    y = compute((p.m, p.n), lambda i, j: x.result(i, j, tile), "Y")
    s = Schedule(lower([x.a, packed if apart else x.b, x.c, y], "product"))
    return _scheduled(s, p, t, x.width).func if p.m * p.n * p.k else s.func


def packing(p: Matrices, t: Tiling, vector_bytes: int) -> Func:
    """A function of (b, packed b), for a tiling with `packed_bytes`."""
    x = _Operands(p, t, width_of(p, t, vector_bytes))
    return _copied(Schedule(lower([x.b, x.strips(p.dtype)], "pack")), p, t).func


class _Operands:
    """The tensors of a product, and elements of them by where they meet."""

    def __init__(self, p: Matrices, t: Tiling, width: int) -> None:
        self.p, self.t, self.width = p, t, width
        self.rows, self.columns = (p.n, p.m) if t.swapped else (p.m, p.n)
        self.packed_shape = (-(-self.columns // width), p.k, width)
        shapes = ((p.m, p.k), (p.k, p.n))
        flips = (p.transpose_a, p.transpose_b)
        a, b = (s[::-1] if flip else s for s, flip in zip(shapes, flips, strict=True))
        dtype = held(p.dtype)
        self.a, self.b = placeholder(a, "A", dtype), placeholder(b, "B", dtype)
        self.c = placeholder((p.m, p.n), "C", dtype)

    def _of_a(self, i: Expr, r: Expr) -> Expr:
        return loaded(self.a[r, i] if self.p.transpose_a else self.a[i, r], self.p.dtype)

    def _of_b(self, r: Expr, j: Expr) -> Expr:
        return loaded(self.b[j, r] if self.p.transpose_b else self.b[r, j], self.p.dtype)

    def scalar(self, i: Expr, r: Expr) -> Expr:
        """Element of the operand that is read one number at a time: b if swapped, else a."""
        return self._of_b(r, i) if self.t.swapped else self._of_a(i, r)

    def lane(self, r: Expr, j: Expr) -> Expr:
        """Element of the operand that is read in vectors: 0 beyond the last column."""
        value = self._of_a(j, r) if self.t.swapped else self._of_b(r, j)
        whole = self.columns % self.width == 0
        return value if whole else select(j < self.columns, value, const(0, value.dtype))

    def strips(self, dtype: str = "") -> Tensor:
        """The copy of what is read in vectors: strip o holds the lanes from o * width on.

        Of this dtype, by default that in which is added up.
        """

        def element(o: Expr, r: Expr, j: Expr) -> Expr:
            return stored(self.lane(r, o * self.width + j), dtype)

        return compute(self.packed_shape, element, "P")

    def tile(self, packed: Tensor, apart: str) -> Tensor:
        """All sums, of which the schedule computes a tile at a time.

        Args:
            packed: what `strips` says.
            apart: its dtype, where that is not the one in which is added up.
        """
        r, width, height = reduce_axis(self.p.k, "k"), self.width, self.t.rows
        tiles = (-(-self.rows // height), self.p.k, height)
        last = max(0, self.rows - 1)  # of a tile that has fewer rows: nobody uses the others
        gathered = compute(
            tiles, lambda o, r, i: self.scalar(minimum(o * height + i, const(last)), r), "Q"
        )

        def sums(i: Expr, j: Expr) -> Reduction:
            at = (j // width, r, j % width)
            read = loaded(packed[at], apart) if self.t.packed else self.lane(r, j)
            own = gathered[i // height, r, i % height] if self.t.gathered else self.scalar(i, r)
            return sum_over(own * read, axis=r)

        return compute((self.rows, self.packed_shape[0] * width), sums, "T")

    def result(self, i: Expr, j: Expr, tile: Tensor) -> Expr:
        """An element of y."""
        p = self.p
        if not p.m * p.n * p.k:
            value = const(0, wide(p.dtype))
        else:
            value = tile[j, i] if self.t.swapped else tile[i, j]
        if p.added is not None:
            c = loaded(self.c[i, j], p.dtype)
            value = c + value * const(p.added, value.dtype)
        return stored(value, p.dtype)


def _scheduled(s: Schedule, p: Matrices, t: Tiling, width: int) -> Schedule:
    row, column = ("Y_j", "Y_i") if t.swapped else ("Y_i", "Y_j")
    s.split(row, t.rows)
    rounds, block = _blocks(-(-(p.n if t.swapped else p.m) // t.rows), t.rows * p.k * p.wide_bytes)
    order = [f"{row}_o"]
    if rounds > 1:
        s.split(f"{row}_o", block)
        order = [f"{row}_o_o", f"{row}_o_i"]
    s.split(column, width)  # last, so that its condition is the outermost
    s.reorder(*order[:-1], f"{column}_o", order[-1], f"{row}_i", f"{column}_i")
    s.unroll(f"{row}_i").vectorize(f"{column}_i")
    s.compute_at("T", order[-1]).set_scope("T", "register")
    inner = [x for x in ("T_k", "T_i", "T_j") if _has(s, x)]
    s.reorder(*inner).vectorize("T_j")
    if "T_i" in inner:
        s.unroll("T_i")
    if p.k * t.rows * t.vectors <= MOST_UNROLLED and "T_k" in inner:
        s.unroll("T_k")
    return _copied(s, p, t)


def _copied(s: Schedule, p: Matrices, t: Tiling) -> Schedule:
    """With copies along what is contiguous in the operand."""
    if _has(s, "Q_o") and _has(s, "Q_r"):
        s.reorder("Q_r", "Q_o")
    if not _has(s, "P_j"):
        return s
    if not p.transpose_a if t.swapped else p.transpose_b:
        return s.reorder("P_o", "P_j", "P_r")
    return s.reorder("P_r", "P_o", "P_j").vectorize("P_j")  # rows from front to back


def _blocks(tiles: int, tile_bytes: int) -> tuple[int, int]:
    """Divide tiles of rows into blocks: (blocks, tiles in each); equal ones where possible."""
    most = max(1, SECOND_CACHE_BYTES // 4 // max(1, tile_bytes))
    if tiles <= most:
        return 1, tiles
    block = next((x for x in range(most, most // 2, -1) if tiles % x == 0), most)
    return -(-tiles // block), block


def _has(s: Schedule, loop: str) -> bool:
    return any(x.name == loop for x in loops(s.func))
