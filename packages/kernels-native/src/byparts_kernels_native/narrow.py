"""Products of matrices whose result has fewer columns than a vector has lanes, as a classifier's.

Loops whose vectors run along those columns leave lanes empty: of 10 columns, 6 lanes of 16.  Here
all lanes work:

    a as it is      vectors run along k: y[i, j] is the sum of the lanes of one vector.  b is copied
                    first, transposed and padded with zeros, unless it is stored so
    a transposed    vectors run along m, where a is contiguous; each is y[i.., j] for some i, and
                    blocks of y are transposed in memory before they are stored

Both keep up to 20 sums in registers.  A template of C++ and no schedule of tensor-ir: lanes are
added up and vectors transposed across registers, which loops do not say.
"""

from __future__ import annotations

import hashlib

from byparts_kernels_native.tilings import Matrices
from byparts_tensor_ir.emit.source import Source
from byparts_tensor_ir.emit.vectors import C_TYPES, vector_name
from byparts_tensor_ir.expression import BYTES
from byparts_tensor_ir.target import target

_MOST_COLUMNS = 15
_LONGEST, _BLOCK = 4096, 256  # additions in turn, as in `byparts_tensor_ir.cascade`
_FEWEST_ROWS = 8


def wanted(p: Matrices) -> bool:
    """Whether the product has few columns, and enough vectors for the loops of this module."""
    if p.dtype not in ("f32", "f64") or _lanes(p) < 4:
        return False
    long, other = (p.m, p.k) if p.transpose_a else (p.k, p.m)
    few = 0 < p.n <= _MOST_COLUMNS and p.n % _lanes(p) > 0
    return few and long >= 2 * _lanes(p) and other >= _FEWEST_ROWS


def b_bytes(p: Matrices) -> int:
    """Bytes of the copy of b; 0 where b is read in place."""
    if p.transpose_a or p.transpose_b:
        return 0
    return -(-p.k // _lanes(p)) * _lanes(p) * p.n * BYTES[p.dtype]


def product(p: Matrices, apart: bool) -> Source:
    """A function of (a, b, c, y, workspace); of the copy of b in place of b, if that is `apart`."""
    return _source("product", p, _PRODUCT.replace("@apart@", str(int(apart or not b_bytes(p)))))


def packing(p: Matrices) -> Source:
    """A function of (b, its copy)."""
    return _source("pack", p, _PACK)


def _lanes(p: Matrices) -> int:
    """Number of elements of a vector."""
    return target().vector_bytes // BYTES[p.dtype]


def _source(name: str, p: Matrices, text: str) -> Source:
    """The text for this product, in a namespace of its own."""
    lanes, registers = _lanes(p), 32 if target().vector_bytes == 64 else 16
    columns = _columns(p.n, 5 if lanes == 16 else 2)
    wide = max(1, min(2, (registers - 4) // p.n))  # vectors of rows of y at once
    names = {
        **{"T": C_TYPES[p.dtype], "V": vector_name(p.dtype, lanes), "L": lanes},
        **{
            "m": p.m,
            "n": p.n,
            "k": p.k,
            "flip_a": int(p.transpose_a),
            "flip_b": int(p.transpose_b),
        },
        **{"added": int(p.added is not None), "scale": repr(float(p.added or 0))},
        **{"columns": columns, "wide": wide, "low": _interleaved(lanes, 0)},
        **{"high": _interleaved(lanes, lanes // 2), "longest": _LONGEST, "block": _BLOCK},
    }
    text = _COMMON + text
    for key, value in names.items():
        text = text.replace(f"@{key}@", str(value))
    space = f"narrow_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    function = f'extern "C" void byparts_{name}(void **a) {{ {space}::run(a); }}\n'
    body = f"namespace {space} {{\n{text}}}\n{function}"
    return Source(f"byparts_{name}", body, frozenset({(p.dtype, lanes)}), 0)


def _columns(n: int, most: int) -> str:
    """Calls of `columns` for all columns, of up to `most` at once and of one size if possible."""
    count = -(-n // most)
    sizes = [n // count + (i < n % count) for i in range(count)]
    calls = [f"columns<{size}>(a, b, c, y, {sum(sizes[:i])});" for i, size in enumerate(sizes)]
    return " ".join(calls)


def _interleaved(lanes: int, first: int) -> str:
    """Half the lanes of two vectors from a lane on, by turns."""
    return ", ".join(f"{first + i}, {lanes + first + i}" for i in range(lanes // 2))


_COMMON = """typedef @T@ T;
typedef @V@ V;
// A register holds it: else GCC loads it again in each multiplication, of which it begins two in a
// cycle, but loads of 64 bytes only one.
INLINE V held(V x) {
#if defined(__x86_64__)
  asm("" : "+v"(x));
#elif defined(__aarch64__)
  asm("" : "+w"(x));
#endif
  return x;
}
enum : int64_t { L = @L@, M = @m@, N = @n@, K = @k@, PADDED = (K + L - 1) / L * L };
INLINE V low(V a, V b) { return __builtin_shufflevector(a, b, @low@); }
INLINE V high(V a, V b) { return __builtin_shufflevector(a, b, @high@); }
// x[i][j] becomes x[j][i].
INLINE void transpose(V *x) {
#pragma GCC unroll 4
  for (int round = 1; round < L; round *= 2) {
    V y[L];
#pragma GCC unroll 8
    for (int i = 0; i < L / 2; i++) {
      y[2 * i] = low(x[i], x[i + L / 2]);
      y[2 * i + 1] = high(x[i], x[i + L / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < L; i++) x[i] = y[i];
  }
}
// Row j of `to` is column j of b, with zeros behind it.
__attribute__((unused)) static void pack_b(const T *b, T *to) {
  for (int64_t k = 0; k < PADDED; k += L)
    for (int64_t j = 0; j < N; j += L) {
      const int64_t columns = least(L, N - j);
      V x[L];
#pragma GCC unroll 16
      for (int i = 0; i < L; i++)
        x[i] = K % L && k + i >= K ? V{} : load_part_@V@(b + (k + i) * N + j, columns);
      transpose(x);
#pragma GCC unroll 16
      for (int i = 0; i < L; i++)
        if (i < columns) store_@V@(to + (j + i) * PADDED + k, x[i]);
    }
}
"""

_PACK = """static void run(void **a) { pack_b((const T *)a[0], (T *)a[1]); }
"""

_PRODUCT = """// `add(first, end, sum)` adds rounds to sums: many by blocks, and blocks of blocks.
template <int64_t ROUNDS, int COUNT, class F>
INLINE void add_up(V *sum, F add) {
  constexpr int64_t FEW = @block@, MANY = FEW * FEW;
  if constexpr (ROUNDS <= @longest@) {
    add(0, ROUNDS, sum);
  } else {
    for (int64_t i = 0; i < ROUNDS; i += MANY) {
      V many[COUNT] = {};
      for (int64_t j = i; j < least(ROUNDS, i + MANY); j += FEW) {
        V few[COUNT] = {};
        add(j, least(ROUNDS, j + FEW), few);
#pragma GCC unroll 32
        for (int c = 0; c < COUNT; c++) many[c] += few[c];
      }
#pragma GCC unroll 32
      for (int c = 0; c < COUNT; c++) sum[c] += many[c];
    }
  }
}
// Lane i is the sum of the lanes of x[i].
INLINE V totals(V *x) {
#pragma GCC unroll 4
  for (int count = L / 2; count; count /= 2)
#pragma GCC unroll 8
    for (int i = 0; i < count; i++) x[i] = low(x[i], x[i + count]) + high(x[i], x[i + count]);
  return x[0];
}
INLINE T result(T sum, const T *c) { return @added@ ? *c + (T)@scale@ * sum : sum; }
INLINE V result(V sum, V c) { return @added@ ? c + (T)@scale@ * sum : sum; }
// R rows and C columns of y.
template <int R, int C>
INLINE void along(const T *a, const T *b, const T *c, T *y) {
  constexpr int64_t step = @flip_b@ ? K : PADDED;
  V sum[L] = {};
  add_up<K / L, R * C>(sum, [&](int64_t first, int64_t end, V *sum) __attribute__((always_inline)) {
    for (int64_t k = first * L; k < end * L; k += L) {
      V x[C];
#pragma GCC unroll 16
      for (int j = 0; j < C; j++) x[j] = held(load_@V@(b + j * step + k));
#pragma GCC unroll 16
      for (int i = 0; i < R; i++) {
        const V row = held(load_@V@(a + i * K + k));
#pragma GCC unroll 16
        for (int j = 0; j < C; j++) sum[i * C + j] = fma_@V@(row, x[j], sum[i * C + j]);
      }
    }
  });
  if constexpr (K % L != 0) {
    constexpr int64_t k = K / L * L;
#pragma GCC unroll 16
    for (int i = 0; i < R; i++) {
      const V row = load_part_@V@(a + i * K + k, K % L);
#pragma GCC unroll 16
      for (int j = 0; j < C; j++)
        sum[i * C + j] = fma_@V@(row, load_part_@V@(b + j * step + k, K % L), sum[i * C + j]);
    }
  }
  T all[L] __attribute__((aligned(64)));
  store_@V@(all, totals(sum));
#pragma GCC unroll 16
  for (int i = 0; i < R; i++)
#pragma GCC unroll 16
    for (int j = 0; j < C; j++) y[i * N + j] = result(all[i * C + j], c + i * N + j);
}
template <int C>
__attribute__((unused)) static void columns(const T *a, const T *b, const T *c, T *y, int64_t j) {
  constexpr int R = L / C;
  b += j * (@flip_b@ ? K : PADDED);
  for (int64_t i = 0; i + R <= M; i += R) along<R, C>(a + i * K, b, c + i * N + j, y + i * N + j);
  constexpr int64_t i = M / R * R;
  if constexpr (M % R != 0) along<M % R, C>(a + i * K, b, c + i * N + j, y + i * N + j);
}
// All columns of J vectors of rows of y, the last one with so many rows: a is stored transposed.
template <int J>
INLINE void across(const T *a, const T *b, const T *c, T *y, int64_t last) {
  V sum[N * J] = {};
  add_up<K, N * J>(sum, [&](int64_t first, int64_t end, V *sum) __attribute__((always_inline)) {
    for (int64_t k = first; k < end; k++) {
      V x[J];
#pragma GCC unroll 2
      for (int j = 0; j < J; j++)
        x[j] = j == J - 1 && last < L ? load_part_@V@(a + k * M + j * L, last)
                                      : load_@V@(a + k * M + j * L);
#pragma GCC unroll 16
      for (int n = 0; n < N; n++) {
        const V number = b[@flip_b@ ? n * K + k : k * N + n] - V{};
#pragma GCC unroll 2
        for (int j = 0; j < J; j++) sum[n * J + j] = fma_@V@(number, x[j], sum[n * J + j]);
      }
    }
  });
  constexpr int64_t most = N < L ? L : N;
  T rows[L * N + most] __attribute__((aligned(64)));
#pragma GCC unroll 2
  for (int j = 0; j < J; j++, c += L * N, y += L * N) {
#pragma GCC unroll 4
    for (int64_t n = 0; n < N; n += L) {
      V x[L];
#pragma GCC unroll 16
      for (int i = 0; i < L; i++) x[i] = n + i < N ? sum[(n + i) * J + j] : V{};
      transpose(x);
#pragma GCC unroll 16
      for (int i = 0; i < L; i++)  // the next row overwrites what is too much
        if (n + L <= N || n == 0) store_@V@(rows + i * N + n, x[i]);
        else store_part_@V@(rows + i * N + n, x[i], N - n);
    }
    const int64_t valid = (j < J - 1 ? L : last) * N;
    int64_t i = 0;
    for (; i + L <= valid; i += L)
      store_@V@(y + i, result(load_@V@(rows + i), @added@ ? load_@V@(c + i) : V{}));
    for (; i < valid; i++) y[i] = result(rows[i], c + i);
  }
}
static void run(void **all) {
  const T *a = (const T *)all[0], *b = (const T *)all[1], *c = (const T *)all[2];
  T *y = (T *)all[3];
  if constexpr (@flip_a@) {
    constexpr int64_t step = @wide@ * L;
    int64_t i = 0;
    for (; i + step <= M; i += step) across<@wide@>(a + i, b, c + i * N, y + i * N, L);
    for (; i < M; i += L) across<1>(a + i, b, c + i * N, y + i * N, least(L, M - i));
  } else {
    if (!@apart@) pack_b((const T *)all[1], (T *)all[4]), b = (const T *)all[4];
    @columns@
  }
}
"""
