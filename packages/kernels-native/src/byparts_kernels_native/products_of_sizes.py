"""Products of matrices for all sizes: one function for each dtype and each way to store a and b.

b is copied into panels of two vectors' width, once where it is constant; then tiles of some rows of
y stand in registers.  Few rows read b in place.  Rows that fill no tile go in tiles of 4 rows, then
of 2 and 1 rows and four panels.  Extents are arguments, so the sums of long products are cut in
blocks whatever their length; they are added up in the same order for all sizes.

A template of C++, as `narrow.py`.  On AVX-512 it took 0.9 to 1.25 times as long as the products of
one size that `products.py` measures as the fastest (1 to 512 rows, 512 by 512).
"""

from __future__ import annotations

import ctypes
import hashlib
from typing import Any

from byparts_graph_ir import Refused
from byparts_kernels_native import code
from byparts_kernels_native.tilings import Matrices
from byparts_op_loops.narrow import held, wide
from byparts_tensor_ir.emit.source import Source
from byparts_tensor_ir.emit.vectors import C_TYPES, vector_name
from byparts_tensor_ir.expression import BYTES, HALVES
from byparts_tensor_ir.target import target

_DTYPES = ("f32", "f64", "i32", "i64", *HALVES)
_BLOCK = 1024  # additions to one number of a long sum


class Sizes:
    """The functions of a product whose extents are arguments, and those of one size.

    Args:
        p: any extents; the other fields count.

    Raises:
        Refused: a dtype, or code is not made of C.
    """

    def __init__(self, p: Matrices) -> None:
        if p.dtype not in _DTYPES:
            raise Refused(f"products of {p.dtype} for all sizes")
        self.width = width(p)
        self.bytes = BYTES[wide(p.dtype)]
        source = _source(p)
        self.product = code.later(source)
        self.packing = code.later(_packing(p))
        self.source = source.body

    def packed_bytes(self, p: Matrices) -> int:
        """Bytes of the panels of b."""
        return -(-p.n // self.width) * self.width * p.k * self.bytes


def table(p: Matrices, packed: bool) -> Any:
    """The numbers that the functions take: m, n, k, and whether b is in panels already."""
    return (ctypes.c_int64 * 4)(p.m, p.n, p.k, int(packed))


def width(p: Matrices) -> int:
    """Columns of a panel."""
    return 2 * _lanes(p)


def _lanes(p: Matrices) -> int:
    """Numbers in a vector of those that are added up."""
    return target().vector_bytes // BYTES[wide(p.dtype)]


def _rows() -> int:
    """Rows of a tile: with two vectors of sums each, and three more, they fill the registers."""
    return 12 if target().vector_bytes == 64 else 6


def _source(p: Matrices) -> Source:
    """A function of (a, b, c, y, workspace, sizes)."""
    return filled("product", p, PACK + TILE + _PRODUCT)


def _packing(p: Matrices) -> Source:
    """A function of (b, panels, workspace, sizes)."""
    return filled("pack", p, PACK + _PACK_ALONE)


def filled(name: str, p: Matrices, text: str) -> Source:
    """The text for this product, in a namespace of its own."""
    stored, lanes = held(p.dtype), _lanes(p)
    half = stored in HALVES
    names = {
        **{"S": C_TYPES[stored], "T": C_TYPES[wide(p.dtype)], "L": lanes, "M": _rows()},
        **{"V": vector_name(wide(p.dtype), lanes), "X": vector_name(stored, lanes)},
        **{"from": f"from_{stored}" if half else "", "to": f"to_{stored}" if half else ""},
        **{"direct": int(not half and not p.transpose_b), "block": _BLOCK},
        **{"flip_a": int(p.transpose_a), "flip_b": int(p.transpose_b)},
        **{"added": int(p.added is not None), "scale": _scale(p)},
        **{"fused": "fma_@V@(a, b, c)" if p.dtype[0] in "fb" else "a * b + c"},
    }
    for _ in range(2):
        for key, value in names.items():
            text = text.replace(f"@{key}@", str(value))
    space = f"any_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    function = f'extern "C" void byparts_{name}(void **a) {{ {space}::run(a); }}\n'
    body = f"namespace {space} {{\n{text}}}\n{function}"
    vectors = frozenset({(stored, lanes), (wide(p.dtype), lanes)})
    return Source(f"byparts_{name}", body, vectors, 0)


def _scale(p: Matrices) -> str:
    scale = 1.0 if p.added is None else p.added
    return repr(float(scale)) if p.dtype[0] in "fb" else str(int(scale))


PACK = """typedef @S@ S;
typedef @T@ T;
typedef @V@ V;
enum { L = @L@, W = 2 * L, M = @M@, BLOCK = @block@ };
INLINE V spread(T x) { return x - (V){}; }
// Panel j / W holds b[r][j..j + W] for all r, with zeros beyond the last column.
__attribute__((unused)) static void pack(T *to, const S *b, int64_t begin, int64_t n, int64_t k) {
  for (int64_t j = begin; j < n; j += W)
    for (int64_t r = 0; r < k; ++r, to += W) {
      const S *from = @flip_b@ ? b + j * k + r : b + r * n + j;
      const int64_t step = @flip_b@ ? k : 1, count = least(W, n - j);
      if (@direct@ && count == W) {
        memcpy(to, from, W * sizeof(T));
        continue;
      }
      for (int64_t i = 0; i < count; ++i) to[i] = @from@(from[i * step]);
      for (int64_t i = count; i < W; ++i) to[i] = 0;
    }
}
"""

_PACK_ALONE = """static void run(void **all) {
  const int64_t *s = (const int64_t *)all[3];
  pack((T *)all[1], (const S *)all[0], 0, s[1], s[2]);
}
"""

TILE = """INLINE V multiply_add(V a, V b, V c) { return @fused@; }
INLINE void put(S *y, const S *c, V x, int64_t n) {
  if (n <= 0) return;
  if (@added@) x = (n < L ? load_part_@X@(c, n) : load_@X@(c)) + x * spread(@scale@);
  if (n < L) store_part_@X@(y, x, n);
  else store_@X@(y, x);
}
// R rows of y and P panels: element (r, k) of a at [r * down + k * along], row k of b `step` on,
// the next panel `next` on.
template <int R, int P>
static void tile(S *y, const S *c, int64_t n, const S *a, int64_t down, int64_t along,
                 const T *b, int64_t step, int64_t next, int64_t depth, int64_t columns) {
  V total[R][2 * P] = {};
  for (int64_t first = 0; first < depth; first += BLOCK) {
    V sum[R][2 * P] = {};
    const int64_t end = least(depth, first + BLOCK);
    for (int64_t k = first; k < end; ++k) {
      V row[2 * P];
#pragma GCC unroll 12
      for (int h = 0; h < 2 * P; ++h) row[h] = load_@V@(b + k * step + h / 2 * next + h % 2 * L);
#pragma GCC unroll 12
      for (int r = 0; r < R; ++r) {
        const V x = spread(@from@(a[r * down + k * along]));
#pragma GCC unroll 12
        for (int h = 0; h < 2 * P; ++h) sum[r][h] = multiply_add(x, row[h], sum[r][h]);
      }
    }
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 12
      for (int h = 0; h < 2 * P; ++h) total[r][h] = first ? total[r][h] + sum[r][h] : sum[r][h];
  }
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 12
    for (int h = 0; h < 2 * P; ++h)
      put(y + r * n + h * L, c + r * n + h * L, total[r][h], columns - h * L);
}
"""

_PRODUCT = """static void run(void **all) {
  const S *a = (const S *)all[0], *b = (const S *)all[1], *c = (const S *)all[2];
  S *y = (S *)all[3];
  T *work = (T *)all[4];
  const int64_t *s = (const int64_t *)all[5], m = s[0], n = s[1], k = s[2], apart = s[3];
  if (!m || !n) return;
  const bool direct = @direct@ && !apart && m <= 2 * M;
  const int64_t whole = n / W * W;  // columns that fill panels
  if (!apart) pack(work, b, direct ? whole : 0, n, k);
  const int64_t down = @flip_a@ ? 1 : k, along = @flip_a@ ? m : 1;
  const int64_t some = most(1, (1 << 17) / (M * most(k, 1) * (int64_t)sizeof(S))) * M;
  const T *panels = apart ? (const T *)all[1] : work;
#define ROWS(R, P)                                                                           \\
  for (; i + R <= end; i += R)                                                               \\
    tile<R, P>(y + i * n + j, c + i * n + j, n, a + i * down, down, along, panel, step, next, \\
               k, n - j);
  for (int64_t begin = 0; begin < m; begin += some) {  // rows of a that stay in a cache
    const int64_t stop = least(m, begin + some), few = begin + (stop - begin) / 4 * 4;
    for (int64_t part = 0; part < 2; ++part)  // rows by fours; one to three of several panels
      for (int64_t j = 0, wide; j < n; j += wide) {
        const bool in_place = direct && j < whole;
        const T *panel = in_place ? (const T *)b + j : panels + (direct ? 0 : j * k);
        const int64_t step = in_place ? n : W, next = in_place ? W : k * W;
        const int64_t end = part ? stop : few;
        int64_t i = part ? few : begin;
        wide = part && j + 4 * W <= whole ? 4 * W : W;
        if (wide > W) {
          ROWS(2, 4) ROWS(1, 4)
        } else {
          ROWS(M, 1) ROWS(4, 1) ROWS(2, 1) ROWS(1, 1)
        }
      }
  }
#undef ROWS
}
"""
