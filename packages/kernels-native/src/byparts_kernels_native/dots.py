"""Products of matrices of bf16 by instructions that multiply pairs and add both to an f32.

Twice as many multiplications a second as in f32.  What they compute is not what `evaluate` says in
two points: the two products of a pair are added before they are added to the sum, and subnormal
numbers count as 0.  So they are used only where `BYPARTS_BF16_DOTS=1` asks for them, on a CPU with
AVX512_BF16 and on the target avx512.

Both operands are copied first, so that the numbers r and r + 1 of the dimension that vanishes stand
side by side: a in tiles of 12 rows, b in panels of 32 columns.
"""

from __future__ import annotations

import hashlib
import os

from byparts_kernels_native.tilings import Matrices
from byparts_tensor_ir.emit.source import Source
from byparts_tensor_ir.target import has, target

ROWS, COLUMNS = 12, 32
FEW_ROWS = 8  # fewer are not worth a copy of b
MOST_PRODUCTS = 1 << 14  # in a sum: of more, to add them in turn loses what a bf16 shows


def wanted(p: Matrices) -> bool:
    """Whether a product is asked for by these instructions, and there are such."""
    asked = p.dtype == "bf16" and os.environ.get("BYPARTS_BF16_DOTS") == "1"
    here = target().name == "avx512" and has("avx512_bf16")
    return asked and here and p.m >= FEW_ROWS and p.n > 0 and 0 < p.k <= MOST_PRODUCTS


def a_bytes(p: Matrices) -> int:
    """Bytes of the copy of a."""
    return -(-p.m // ROWS) * ROWS * -(-p.k // 2) * 4


def b_bytes(p: Matrices) -> int:
    """Bytes of the copy of b."""
    return -(-p.n // COLUMNS) * COLUMNS * -(-p.k // 2) * 4


def product(p: Matrices, apart: bool) -> Source:
    """A function of (a, b, c, y, workspace); of the copy of b in place of b, if that is `apart`."""
    return _source("product", p, _PRODUCT.replace("@apart@", str(int(apart))))


def packing(p: Matrices) -> Source:
    """A function of (b, its copy)."""
    return _source("pack", p, _PACK)


def _source(name: str, p: Matrices, text: str) -> Source:
    """The text for this product, in a namespace of its own."""
    added, scale = int(p.added is not None), float(p.added or 0)
    names = {"m": p.m, "n": p.n, "k": p.k, "added": added, "scale": f"{scale!r}f"}
    names |= {"flip_a": int(p.transpose_a), "flip_b": int(p.transpose_b)}
    names |= {"rows": ROWS, "columns": COLUMNS, "b_at": a_bytes(p)}
    text = _COPIES + text
    for key, value in names.items():
        text = text.replace(f"@{key}@", str(value))
    space = f"bf16_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    function = f'extern "C" void byparts_{name}(void **a) {{ {space}::run(a); }}\n'
    body = f"namespace {space} {{\n{text}}}\n{function}"
    return Source(f"byparts_{name}", body, frozenset({("bf16", 16)}), 0)


_COPIES = """enum : int64_t { M = @m@, N = @n@, K = @k@, PAIRS = (K + 1) / 2 };
enum : int64_t { R = @rows@, C = @columns@ };
// The numbers 2 r and 2 r + 1 of one row or column: x[2 r * step] and behind it; 0 beyond the last.
INLINE uint32_t pair(const uint16_t *x, int64_t r, int64_t step) {
  const uint32_t second = 2 * r + 1 < K ? x[(2 * r + 1) * step] : 0;
  return x[2 * r * step] | second << 16;
}
INLINE void copy(const uint16_t *x, uint32_t *to, int64_t n, int64_t width, bool side_by_side,
                 int64_t all) {
  for (int64_t r = 0; r < PAIRS; r++, to += width)
    for (int64_t j = 0; j < width; j++)
      to[j] = j >= n ? 0 : side_by_side ? pair(x + j, r, all) : pair(x + j * K, r, 1);
}
__attribute__((unused)) static void pack_b(const uint16_t *b, uint32_t *to) {
  for (int64_t j = 0; j < N; j += C, to += C * PAIRS)
    copy(b + (@flip_b@ ? j * K : j), to, least(C, N - j), C, !@flip_b@, N);
}
"""

_PACK = """static void run(void **a) { pack_b((const uint16_t *)a[0], (uint32_t *)a[1]); }
"""

_PRODUCT = """#define DOTS __attribute__((target("avx512f,avx512vl,avx512bw,avx512bf16")))
INLINE void put(uint16_t *y, const uint16_t *c, f32x16 x, int64_t n) {
  if (@added@) x = x * @scale@ + (n < 16 ? load_part_bf16x16(c, n) : load_bf16x16(c));
  if (n < 16) store_part_bf16x16(y, x, n);
  else store_bf16x16(y, x);
}
template <int L>
DOTS __attribute__((noinline)) static void tile(const uint32_t *a, const uint32_t *b,
                                                const uint16_t *c, uint16_t *y, int64_t n) {
  __m512 sum[L][2];
#pragma GCC unroll 12
  for (int i = 0; i < L; i++) sum[i][0] = sum[i][1] = _mm512_setzero_ps();
  for (int64_t r = 0; r < PAIRS; r++, a += R, b += C) {
    const __m512bh left = (__m512bh)_mm512_loadu_si512(b);
    const __m512bh right = (__m512bh)_mm512_loadu_si512(b + 16);
#pragma GCC unroll 12
    for (int i = 0; i < L; i++) {
      const __m512bh x = (__m512bh)_mm512_set1_epi32(a[i]);
      sum[i][0] = _mm512_dpbf16_ps(sum[i][0], x, left);
      sum[i][1] = _mm512_dpbf16_ps(sum[i][1], x, right);
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < L; i++) {
    put(y + i * N, c + i * N, (f32x16)sum[i][0], least(16, n));
    if (n > 16) put(y + i * N + 16, c + i * N + 16, (f32x16)sum[i][1], n - 16);
  }
}
static void run(void **all) {
  const uint16_t *x = (const uint16_t *)all[0], *c = (const uint16_t *)all[2];
  uint16_t *y = (uint16_t *)all[3];
  uint32_t *a = (uint32_t *)all[4], *b = (uint32_t *)all[1];
  if (!@apart@) {
    b = (uint32_t *)((char *)all[4] + @b_at@);
    pack_b((const uint16_t *)all[1], b);
  }
  for (int64_t i = 0; i < M; i += R)
    copy(x + (@flip_a@ ? i : i * K), a + i * PAIRS, least(R, M - i), R, @flip_a@, M);
  for (int64_t j = 0; j < N; j += C)
    for (int64_t i = 0; i < M; i += R) {
      const uint32_t *left = a + i * PAIRS, *right = b + j * PAIRS;
      const int64_t at = i * N + j, n = least(C, N - j);
      if (M % R == 0 || i + R <= M) tile<R>(left, right, c + at, y + at, n);
      else tile<M % R ? M % R : 1>(left, right, c + at, y + at, n);
    }
}
"""
