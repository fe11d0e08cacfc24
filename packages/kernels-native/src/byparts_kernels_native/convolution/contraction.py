"""Sums of products of two strided arrays: y[r, l] = sum over k of s[r, k] q[l, k].

Rows r, lanes l and sums k are each one index or several (`Level`), and s, q, y lie in memory with a
stride for each of them.  So a convolution is one of these in three ways, without patches in memory:

    y    rows: pixels of y          lanes: channels of y   sums: i, u, v    s: image   q: filter
    y    rows: channels of y        lanes: pixels of y     sums: i, u, v    s: filter  q: image
    dw   rows: i, u, v              lanes: channels of y   sums: pixels     s: image   q: dy

The scheme is that of Goto and van de Geijn (ACM TOMS 34(3), 2008): q is packed into panels of one
to four vectors of lanes; a tile of up to eight rows by one panel stays in registers while a block
of sums is added that keeps its part of the panel in the first cache.  Sums of blocks, of some
hundred products each, are added up apart, which bounds the error of long ones.  Other than there,
s is not packed: each row is a pointer, and the sums are steps from it, which is what spares the
patches.

It is a template of C++ and no schedule of tensor-ir, for three reasons: rows of a tile start at
arbitrary pointers (pixels of two lines of an image), tiles are of two sizes so that none is left
over, and packing transposes in registers.  Instructions: 2 loads for 3 multiplications of vectors.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import gcd, prod

from byparts_tensor_ir.emit.source import Source
from byparts_tensor_ir.emit.vectors import C_TYPES, vector_name
from byparts_tensor_ir.expression import BYTES

_ROWS = {32: {1: 8, 2: 6, 3: 4}, 64: {1: 8, 2: 8, 3: 8, 4: 6}, 16: {1: 8, 2: 6, 3: 4}}
_FIRST_CACHE = {16: 16 << 10, 32: 16 << 10, 64: 32 << 10}  # bytes of a panel's block


@dataclass(frozen=True)
class Level:
    """An index of a contraction: its extent, and its step in each of s, q and y."""

    extent: int
    s: int = 0
    q: int = 0
    y: int = 0


@dataclass(frozen=True)
class Contraction:
    """The sum of products over `sums`, for all `rows` and `lanes`; the last level is innermost.

    With `adds` results are added to y, where several may belong to one element.
    """

    rows: tuple[Level, ...]
    lanes: tuple[Level, ...]
    sums: tuple[Level, ...]
    adds: bool = False

    @property
    def m(self) -> int:
        """Rows."""
        return prod(level.extent for level in self.rows)

    @property
    def n(self) -> int:
        """Lanes."""
        return prod(level.extent for level in self.lanes)

    @property
    def k(self) -> int:
        """Products in a sum."""
        return prod(level.extent for level in self.sums)

    def permuted(self, change: Callable[[Level], Level]) -> Contraction:
        """The contraction with each level changed: other steps are those in s, q and y."""
        rows, lanes, sums = (tuple(map(change, x)) for x in (self.rows, self.lanes, self.sums))
        return Contraction(rows, lanes, sums, self.adds)

    def panels(self, width: int, lanes: int) -> list[int]:
        """Count the vectors of `lanes` in each panel; panels are as wide as registers allow."""
        most, vectors = (4 if width == 64 else 2), -(-self.n // lanes)
        count = max(
            1, vectors // most if vectors % most == 1 and most == 2 else -(-vectors // most)
        )
        return [vectors // count + (i < vectors % count) for i in range(count)]


def merged(levels: Sequence[Level]) -> tuple[Level, ...]:
    """The same indices in fewer levels: two are one where the outer one continues the inner."""
    out: list[Level] = []
    for level in levels:
        if level.extent == 1:
            continue
        n, last = level.extent, out[-1] if out else None
        if last and (last.s, last.q, last.y) == (n * level.s, n * level.q, n * level.y):
            out[-1] = Level(last.extent * n, level.s, level.q, level.y)
        else:
            out.append(level)
    return tuple(out) or (Level(1),)


def namespace(c: Contraction, dtype: str, vector_bytes: int) -> tuple[str, str]:
    """A name, and a namespace of C++ of that name: `pack`, `product`, `unpack`, `prepare`.

    - `prepare(int32_t *tables)` fills `tables_size(c)` numbers: where rows and lanes are.
    - `pack<J>(q, tables, first lane, panel)`: the panel of J vectors from a lane on.
    - `product<J>(s, tables, panel, y, begin)`: y is (rows, J vectors); added to, or begun.
    - `unpack<J>(y, tables, first lane, to)`: a panel of results to its place.
    """
    text = _text(c, dtype, vector_bytes)
    name = f"contraction_{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    return name, f"namespace {name} {{\n{text}}}\n"


def tables_size(c: Contraction) -> int:
    """Numbers in the tables of `prepare`."""
    return 2 * c.m + 2 * (c.n + 64)


def source(
    name: str, body: str, dtype: str, vector_bytes: int, workspace: int, parallel: bool
) -> Source:
    """A function of C from text that uses a namespace."""
    lanes = vector_bytes // BYTES[dtype]
    used = frozenset({(dtype, lanes >> i) for i in range(3) if lanes >> i >= 2})  # `added_lanes`
    return Source(name, body, used, workspace, parallel)


def _text(c: Contraction, dtype: str, vector_bytes: int) -> str:
    lanes = vector_bytes // BYTES[dtype]
    sums = merged(c.sums)
    k3 = (*([Level(1)] * (3 - len(sums))), *sums)
    if len(k3) > 3:
        raise AssertionError(f"sums over {len(k3)} levels; a convolution has three")
    used = sorted(set(c.panels(vector_bytes, lanes)))
    most = _FIRST_CACHE[vector_bytes] // (BYTES[dtype] * lanes * max(used))
    block = next(i for i in range(3) if prod(x.extent for x in k3[i + 1 :]) <= most)
    inner = k3[block + 1 :]
    per = min(k3[block].extent, max(1, most // prod(x.extent for x in inner)))
    e1, e2 = ([Level(1), Level(1), *inner])[-2:]
    rows = "".join(f"  if (J == {j}) return {_ROWS[vector_bytes][j]};\n" for j in used)
    outer = "".join(
        f"  for (int64_t o{i} = 0; o{i} < {k3[i].extent}; o{i}++)\n" for i in range(block)
    )
    at = " + ".join(
        [*(f"o{i} * INT64_C({k3[i].s})" for i in range(block)), f"b * INT64_C({k3[block].s})"]
    )
    v = vector_name(dtype, lanes)
    names = {
        **{"T": C_TYPES[dtype], "V": v, "lanes": lanes, "m": c.m, "n": c.n, "rows": rows},
        **{"outer": outer, "extent": k3[block].extent, "per": per, "at": at},
        **{"s0": k3[block].s, "e1": e1.extent, "s1": e1.s, "e2": e2.extent, "s2": e2.s},
        **{"unroll": e2.extent if e2.extent <= 8 else 4, "inner": prod(x.extent for x in inner)},
        **{"row_table": _table("rs", c.rows, "s") + _table("ry", c.rows, "y")},
        **{"lane_table": _table("lq", c.lanes, "q") + _table("ly", c.lanes, "y")},
        **{"run": run_of_lanes(c, lanes), "pack": _pack(c), "unpack": _unpack(c, v, lanes)},
        **{"transpose": TRANSPOSE if dtype == "f32" else ""},
        **{"pack_squares": _PACK_SQUARES if dtype == "f32" else ""},
        **{"spread_squares": _SPREAD_SQUARES if dtype == "f32" else ""},
    }
    text = _TEXT
    for key, value in names.items():
        text = text.replace(f"@{key}@", str(value))
    return text


def _table(name: str, levels: Sequence[Level], of: str) -> str:
    """Loops that write the offset of each index in order."""
    loops = "".join(
        f"  for (int32_t i{d} = 0; i{d} < {x.extent}; i{d}++)\n" for d, x in enumerate(levels)
    )
    at = " + ".join(f"i{d} * {getattr(x, of)}" for d, x in enumerate(levels))
    return f"{loops}    *{name}++ = {at};\n"


def _pack(c: Contraction) -> str:
    """Statements of `pack`: all k in order, by whole vectors where memory allows."""
    sums = merged([Level(x.extent, q=x.q) for x in c.sums])
    *outer, last = sums
    loops = "".join(
        f"  for (int64_t k{d} = 0; k{d} < {x.extent}; k{d}++)\n" for d, x in enumerate(outer)
    )
    at = " + ".join([f"k{d} * INT64_C({x.q})" for d, x in enumerate(outer)] or ["0"])
    kind = "transposed" if last.q == 1 and c.lanes[-1].q != 1 else "gathered"
    return f"{loops}    p = {kind}<J>(q + {at}, lq, p, {last.extent}, {last.q});\n"


def run_of_lanes(c: Contraction, lanes: int) -> int:
    """Length of the runs of lanes, each from a multiple of it on, that are neighbours in q."""
    last = merged([Level(x.extent, q=x.q) for x in c.lanes])[-1]
    return gcd(last.extent, lanes) if last.q == 1 else 1


def _unpack(c: Contraction, vector: str, width: int) -> str:
    if c.adds:
        piece = added_lanes(c, width)
        vector = vector.replace(f"x{width}", f"x{piece}")
        return (
            "  for (int64_t m = 0; m < M; m++)\n"
            f"    for (int64_t l = 0; l < valid; l += {piece}) {{\n"
            "      T *at = to + ry[m] + ly[l];\n"
            f"      store_{vector}(at, load_{vector}(at) + load_{vector}(y + m * J * VL + l));\n"
            "    }\n"
        )
    lanes, rows = (
        merged([Level(x.extent, y=x.y) for x in c.lanes]),
        merged([Level(x.extent, y=x.y) for x in c.rows]),
    )
    if len(lanes) == 1 and lanes[0].y == 1:
        return (
            f"  for (int64_t m = 0; m < {c.m}; m++)\n"
            "    memcpy(to + ry[m] + ly[0], y + m * J * VL, valid * sizeof(T));\n"
        )
    if rows[-1].y == 1:
        run = rows[-1].extent
        return (
            f"  for (int64_t m = 0; m < {c.m}; m += {run})\n"
            f"    spread<J>(y + m * J * VL, to + ry[m], ly, {run}, valid);\n"
        )
    if lanes[-1].y == 1 and (run := gcd(lanes[-1].extent, width)) > 1:
        return (
            f"  for (int64_t m = 0; m < {c.m}; m++)\n"
            f"    for (int64_t l = 0; l < valid; l += {run})\n"
            f"      memcpy(to + ry[m] + ly[l], y + m * J * VL + l, {run} * sizeof(T));\n"
        )
    return (
        f"  for (int64_t l = 0; l < valid; l++)\n    for (int64_t m = 0; m < {c.m}; m++)\n"
        "      to[ry[m] + ly[l]] = y[m * J * VL + l];\n"
    )


def added_lanes(c: Contraction, width: int) -> int:
    """Number of neighbours in y that are added to y at once: `width`, or a whole line of y."""
    line = min(c.lanes[-1].extent, width)
    assert c.lanes[-1].y == 1 and c.lanes[-1].extent % line == 0 == width % line, "whole lines"
    return line


TRANSPOSE = """#ifdef __AVX__
INLINE void transpose(__m256 *r) {
  __m256 t[8], u[8];
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    u[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
    u[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xEE);
    u[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
    u[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xEE);
  }
  for (int i = 0; i < 4; i++) {
    r[i] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x20);
    r[i + 4] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x31);
  }
}
#endif
"""

# Squares of 8 by 8 first; the text of `transposed` and of `spread` goes on from there.
_PACK_SQUARES = """#ifdef __AVX__
  if constexpr ((J * VL) % 8 == 0)
    for (; k + 8 <= n; k += 8)
      for (int j = 0; j < J * VL; j += 8) {
        __m256 r[8];
        for (int i = 0; i < 8; i++) r[i] = _mm256_loadu_ps(q + k + lq[j + i]);
        transpose(r);
        for (int i = 0; i < 8; i++) _mm256_storeu_ps(p + (k + i) * J * VL + j, r[i]);
      }
#endif
"""
_SPREAD_SQUARES = """#ifdef __AVX__
  for (; l + 8 <= valid && n >= 8; l += 8) {
    int64_t m = 0;
    for (; m + 8 <= n; m += 8) {
      __m256 r[8];
      for (int i = 0; i < 8; i++) r[i] = _mm256_loadu_ps(y + (m + i) * J * VL + l);
      transpose(r);
      for (int i = 0; i < 8; i++) _mm256_storeu_ps(to + ly[l + i] + m, r[i]);
    }
    for (int i = 0; i < 8; i++)
      for (int64_t e = m; e < n; e++) to[ly[l + i] + e] = y[e * J * VL + l + i];
  }
#endif
"""

_TEXT = """typedef @T@ T;
typedef @V@ V;
enum : int64_t { VL = @lanes@, M = @m@, N = @n@ };
@transpose@
constexpr int most_rows(int J) {
@rows@  return 1;
}
INLINE int64_t fewer(int64_t a, int64_t b) { return a < b ? a : b; }
static __attribute__((unused)) void prepare(int32_t *tables) {
  int32_t *rs = tables, *ry = rs + M, *lq = ry + M, *ly = lq + N + 64;
@row_table@@lane_table@  for (int i = 0; i < 64; i++) lq[i] = ly[i] = 0;  // of no lane
}
template <int J>
INLINE T *gathered(const T *q, const int32_t *lq, T *p, int64_t n, int64_t step) {
  const bool side_by_side = lq[J * VL - 1] - lq[0] == J * VL - 1;  // lq ascends
  for (int64_t k = 0; k < n; k++, p += J * VL, q += step)
    if (side_by_side)
      memcpy(p, q + lq[0], J * VL * sizeof(T));
    else
#pragma GCC unroll 64
      for (int j = 0; j < J * VL; j += @run@) memcpy(p + j, q + lq[j], @run@ * sizeof(T));
  return p;
}
template <int J>
INLINE T *transposed(const T *q, const int32_t *lq, T *p, int64_t n, int64_t step) {
  int64_t k = 0;
@pack_squares@  for (; k < n; k++)
    for (int j = 0; j < J * VL; j++) p[k * J * VL + j] = q[k + lq[j]];
  return p + n * J * VL;
}
template <int J> static void pack(const T *q, const int32_t *tables, int64_t lane, T *p) {
  const int32_t *lq = tables + 2 * M + lane;
@pack@}
template <int J>
INLINE void spread(const T *y, T *to, const int32_t *ly, int64_t n, int64_t valid) {
  int64_t l = 0;
@spread_squares@  for (; l < valid; l++)
    for (int64_t m = 0; m < n; m++) to[ly[l] + m] = y[m * J * VL + l];
}
template <int J> static void unpack(const T *y, const int32_t *tables, int64_t lane, T *to) {
  const int32_t *ry = tables + M, *ly = tables + 2 * M + N + 64 + lane;
  const int64_t valid = fewer(J * VL, N - lane);
@unpack@}
template <int R, int J>
static __attribute__((noinline)) void tile(const T *s, const int32_t *rs, const T *p, T *y,
                                           int64_t n, bool begin) {
  const T *r[R];
  V a[R][J] = {};
#pragma GCC unroll 8
  for (int i = 0; i < R; i++) r[i] = s + rs[i];
  for (int64_t k0 = 0; k0 < n; k0++)
    for (int64_t k1 = 0; k1 < @e1@; k1++)
#pragma GCC unroll @unroll@
      for (int64_t k2 = 0; k2 < @e2@; k2++) {
        const int64_t o = k0 * INT64_C(@s0@) + k1 * INT64_C(@s1@) + k2 * INT64_C(@s2@);
        V w[J];
#pragma GCC unroll 4
        for (int j = 0; j < J; j++) w[j] = load_@V@(p + j * VL);
        p += J * VL;
#pragma GCC unroll 8
        for (int i = 0; i < R; i++) {
          const V x = r[i][o] - V{};
#pragma GCC unroll 4
          for (int j = 0; j < J; j++) a[i][j] = fma_@V@(x, w[j], a[i][j]);
        }
      }
#pragma GCC unroll 8
  for (int i = 0; i < R; i++)
#pragma GCC unroll 4
    for (int j = 0; j < J; j++) {
      T *at = y + (i * J + j) * VL;
      store_@V@(at, begin ? a[i][j] : load_@V@(at) + a[i][j]);
    }
}
template <int J>
static void product(const T *s, const int32_t *tables, const T *p, T *y, bool begin) {
  constexpr int64_t count = (M + most_rows(J) - 1) / most_rows(J);
  constexpr int64_t low = M / count, more = M % count;  // tiles of low rows, and of one more
@outer@  for (int64_t b = 0; b < @extent@; b += @per@) {
    const int64_t n = fewer(@per@, @extent@ - b);
    const T *from = s + @at@;
    int64_t m = 0;
    if constexpr (more != 0)
      for (int64_t t = 0; t < more; t++, m += low + 1)
        tile<low + 1, J>(from, tables + m, p, y + m * J * VL, n, begin);
    for (; m < M; m += low) tile<low, J>(from, tables + m, p, y + m * J * VL, n, begin);
    p += n * INT64_C(@inner@) * J * VL;
    begin = false;
  }
}
"""
