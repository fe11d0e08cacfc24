"""C of the small products inside attention: tiles of M rows and two vectors of columns.

A tile is kept in registers while it goes along the depth of the product: an element of the left
matrix in all lanes, times two vectors of the right one, which was copied into panels W columns
wide (`pack`) with zeros behind the last column.  Rows beyond the last one are computed as that one
and not stored.
"""

from __future__ import annotations

from byparts_tensor_ir.target import target


def tile_rows() -> int:
    """M: with 2 M vectors of results, two of the right matrix and one of the left in registers."""
    return 8 if target().vector_bytes == 64 else 6


# Needs T, V, L, W, M, CAUSAL, load, store, load_part, store_part, multiply_add.
TILES = """
INLINE int64_t padded(int64_t n) { return (n + W - 1) / W * W; }
// Element (k, j) of x[depth][columns] comes to panel j / W, there to [k][j % W].
static void pack(T *to, const T *x, int64_t depth, int64_t columns) {
  for (int64_t j = 0; j < columns; j += W)
    for (int64_t k = 0; k < depth; ++k, to += W) {
      const T *from = x + k * columns + j;
      if (j + W <= columns) {
        store(to, load(from));
        store(to + L, load(from + L));
      } else
        for (int64_t i = 0; i < W; ++i) to[i] = j + i < columns ? from[i] : 0;
    }
}
// The same of x[columns][depth].
static void pack_transposed(T *to, const T *x, int64_t depth, int64_t columns) {
  for (int64_t j = 0; j < columns; j += W, to += depth * W)
    for (int64_t i = 0; i < W; ++i) {
      const T *from = x + (j + i) * depth;
      if (j + i < columns)
        for (int64_t k = 0; k < depth; ++k) to[k * W + i] = from[k];
      else
        for (int64_t k = 0; k < depth; ++k) to[k * W + i] = 0;
    }
}
// c[rows][columns] = a b, or more of it: element (r, k) of a at [r * down + k * along], b a panel.
INLINE void tile(T *c, int64_t c_step, const T *a, int64_t down, int64_t along, const T *b,
                 int64_t depth, int64_t rows, int64_t columns, bool more) {
  V sum[M][2] = {};
  const T *from[M];
  for (int r = 0; r < M; ++r) from[r] = a + least(r, rows - 1) * down;
  for (int64_t k = 0; k < depth; ++k) {
    const V left = load(b + k * W), right = load(b + k * W + L);
    for (int r = 0; r < M; ++r) {
      const V x = from[r][k * along] - (V){};
      sum[r][0] = multiply_add(x, left, sum[r][0]);
      sum[r][1] = multiply_add(x, right, sum[r][1]);
    }
  }
  for (int r = 0; r < M; ++r)  // unrolled whole: the sums stay in registers
    for (int h = 0; h < 2; ++h) {
      T *to = c + r * c_step + h * L;
      const int64_t n = r < rows ? columns - h * L : 0;
      if (n >= L)
        store(to, more ? load(to) + sum[r][h] : sum[r][h]);
      else if (n > 0)
        store_part(to, more ? load_part(to, n) + sum[r][h] : sum[r][h], n);
    }
}
// x[rows][most] = q kT, of the queries from the i-th on.
static void scores(T *x, const T *q, const T *keys, int64_t i, int64_t rows, int64_t most,
                   int64_t d, int64_t tp) {
  for (int64_t j = 0; j < most; j += W)
    for (int64_t r = 0; r < rows; r += M)
      if (!CAUSAL || j < i + r + M)
        tile(x + r * tp + j, tp, q + r * d, d, 1, keys + j * d, d, least(M, rows - r), W, false);
}
// y[rows][e] = p v, or more of it; a panel of v is used for all rows before the next part of it.
static void weighted(T *y, const T *p, const T *values, int64_t i, int64_t rows, int64_t most,
                     int64_t t, int64_t e, int64_t tp, bool more) {
  const int64_t part = 256;
  for (int64_t k = 0; k < most; k += part)
    for (int64_t j = 0; j < e; j += W)
      for (int64_t r = 0; r < rows; r += M) {
        const int64_t depth = least(part, (CAUSAL ? least(most, i + r + M) : most) - k);
        if (depth > 0)
          tile(y + r * e + j, e, p + r * tp + k, tp, 1, values + j * t + k * W, depth,
               least(M, rows - r), least(W, e - j), more || k > 0);
      }
}
// g[most][e] += pT dy.
static void gathered(T *g, const T *p, const T *dys, int64_t i, int64_t rows, int64_t most,
                     int64_t e, int64_t tp) {
  for (int64_t j = 0; j < e; j += W)
    for (int64_t r = 0; r < most; r += M) {
      const int64_t first = CAUSAL ? (r > i ? r - i : 0) : 0;
      tile(g + r * e + j, e, p + first * tp + r, 1, tp, dys + j * rows + first * W, rows - first,
           least(M, most - r), least(W, e - j), true);
    }
}
"""
