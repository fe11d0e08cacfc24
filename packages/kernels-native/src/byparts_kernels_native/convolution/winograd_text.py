"""C of convolutions by Winograd's method: `winograd.py` fills it in."""

from __future__ import annotations

PRODUCTS = """typedef float T;
typedef @V@ V;
enum : int64_t { VL = @lanes@, ROWS = @rows@, SQUARE = @square@ };
INLINE V load(const T *p) { return load_@V@(p); }
INLINE void store(T *p, V x) { store_@V@(p, x); }
INLINE V multiply_add(V a, V b, V c) { return fma_@V@(a, b, c); }
template <int J> struct Number { static constexpr int value = J; };
// As many elements or more: an odd number of lines of the cache, so that not all begin in one set.
INLINE int64_t apart(int64_t n) { return ((n + 15) / 16 | 1) * 16; }
INLINE int64_t fewer(int64_t a, int64_t b) { return a < b ? a : b; }
@transpose@
// d[a][b][lane] = x[at[lane] + a * line + b], of N by N; a line is read to its 8th element.
template <int N> INLINE void squares(const T *x, const int32_t *at, int64_t line, T *d) {
#ifdef __AVX__
  if constexpr (VL % 8 == 0) {
    for (int l = 0; l < VL; l += 8)
#pragma GCC unroll 1
      for (int a = 0; a < N; a++) {
        __m256 r[8];
        for (int i = 0; i < 8; i++) r[i] = _mm256_loadu_ps(x + at[l + i] + a * line);
        transpose(r);
        for (int b = 0; b < N; b++) _mm256_storeu_ps(d + (a * N + b) * VL + l, r[b]);
      }
    return;
  }
#endif
  for (int l = 0; l < VL; l++)
    for (int a = 0; a < N; a++)
      for (int b = 0; b < N; b++) d[(a * N + b) * VL + l] = x[at[l] + a * line + b];
}
// y[at[lane] + a * line + b] = d[a][b][lane], of M by M, for the first lanes.
template <int M>
INLINE void spread(const T *d, T *y, const int32_t *at, int64_t line, int64_t valid) {
  int64_t l = 0;
#ifdef __SSE__
  if constexpr (M == 4)
    for (; l + 4 <= valid; l += 4)
      for (int a = 0; a < M; a++) {
        __m128 r[4];
        for (int b = 0; b < 4; b++) r[b] = _mm_loadu_ps(d + (a * M + b) * VL + l);
        _MM_TRANSPOSE4_PS(r[0], r[1], r[2], r[3]);
        for (int i = 0; i < 4; i++) _mm_storeu_ps(y + at[l + i] + a * line, r[i]);
      }
  if constexpr (M == 2)
    for (; l + 4 <= valid; l += 4)
      for (int a = 0; a < M; a++) {
        const __m128 p = _mm_loadu_ps(d + a * M * VL + l);
        const __m128 q = _mm_loadu_ps(d + (a * M + 1) * VL + l);
        const __m128 r[2] = {_mm_unpacklo_ps(p, q), _mm_unpackhi_ps(p, q)};
        for (int i = 0; i < 4; i += 2) {
          _mm_storel_pi((__m64 *)(y + at[l + i] + a * line), r[i / 2]);
          _mm_storeh_pi((__m64 *)(y + at[l + i + 1] + a * line), r[i / 2]);
        }
      }
#endif
  for (; l < valid; l++)
    for (int a = 0; a < M; a++)
      for (int b = 0; b < M; b++) y[at[l] + a * line + b] = d[(a * M + b) * VL + l];
}
// y[i][j] (+)= sum over k of p[k][i] * q[j][k]: R rows, J vectors; panels of q are `depth` vectors.
// Each sum begins at 0: the gradient of a filter adds up blocks, not millions of products in turn.
template <int R, int J>
static __attribute__((noinline)) void tile(const T *p, const T *q, int64_t depth, T *y, int64_t row,
                                           bool more) {
  V a[R][J] = {};
#pragma GCC unroll 4
  for (int64_t k = 0; k < depth; k++) {
    V w[J];
#pragma GCC unroll 4
    for (int j = 0; j < J; j++) w[j] = load(q + (j * depth + k) * VL);
#pragma GCC unroll 8
    for (int i = 0; i < R; i++) {
      const V x = p[k * VL + i] - V{};
#pragma GCC unroll 4
      for (int j = 0; j < J; j++) a[i][j] = multiply_add(x, w[j], a[i][j]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < R; i++)
#pragma GCC unroll 4
    for (int j = 0; j < J; j++) {
      T *at = y + i * row + j * VL;
      store(at, more ? load(at) + a[i][j] : a[i][j]);
    }
}
template <int M, int J>
INLINE void rows(const T *p, const T *q, int64_t depth, T *y, int64_t row, bool more) {
  constexpr int64_t rest = M % ROWS;
  int64_t i = 0;
  for (; i + ROWS <= M; i += ROWS)
    tile<ROWS, J>(p + i / VL * VL * depth + i % VL, q, depth, y + i * row, row, more);
  if constexpr (rest != 0)
    tile<rest, J>(p + i / VL * VL * depth + i % VL, q, depth, y + i * row, row, more);
}
// Of M rows and so many vectors of columns: y[M][row].
template <int M>
static void product(const T *p, const T *q, int64_t depth, T *y, int64_t row, int64_t vectors,
                    bool more) {
  int64_t j = 0;
  const auto panel = [&](auto width) {
    constexpr int J = decltype(width)::value;
    rows<M, J>(p, q + j * depth * VL, depth, y + j * VL, row, more);
    j += J;
  };
  while (vectors - j > 4 || vectors - j == 3) panel(Number<3>{});
  while (vectors - j >= 2) panel(Number<2>{});
  if (j < vectors) panel(Number<1>{});
}
"""

# Between images at steps n, c, h, w and planes with zeros around them.
FRAMED = """
INLINE void framed_NAME(const T *x, T *y, int64_t images) {
  for (int64_t n = 0; n < images; n++)
    for (int64_t c = 0; c < @channels@; c++) {
      T *to = y + (n * @channels@ + c) * INT64_C(@plane@) + @top@ * @line@ + @left@;
      const T *from = x + n * INT64_C(@xn@) + c * INT64_C(@xc@);
      if (@bordered@) memset(to - @top@ * @line@ - @left@, 0, @plane@ * sizeof(T));
      for (int64_t h = 0; h < @height@; h++, to += @line@, from += @xh@)
        if (@xw@ == 1)
          memcpy(to, from, @width@ * sizeof(T));
        else
          for (int64_t w = 0; w < @width@; w++) to[w] = from[w * INT64_C(@xw@)];
    }
}
"""
UNFRAMED = """
INLINE void unframed_NAME(const T *x, T *y, int64_t images) {
  for (int64_t n = 0; n < images; n++)
    for (int64_t c = 0; c < @channels@; c++) {
      const T *from = x + (n * @channels@ + c) * INT64_C(@plane@);
      T *to = y + n * INT64_C(@xn@) + c * INT64_C(@xc@);
      for (int64_t h = 0; h < @height@; h++, from += @line@, to += @xh@)
        if (@xw@ == 1)
          memcpy(to, from, @width@ * sizeof(T));
        else
          for (int64_t w = 0; w < @width@; w++) to[w * INT64_C(@xw@)] = from[w];
    }
}
"""

FILTERS = """
// u[xi][panel of filters][c][lane]
static void filters(const T *w, T *u) {
  for (int64_t k = 0; k < @wide@; k += VL)
    for (int64_t c = 0; c < @channels@; c++) {
      alignas(64) T d[@r@ * @r@ * VL];
      for (int l = 0; l < VL; l++)
        for (int a = 0; a < @r@; a++)
          for (int b = 0; b < @r@; b++)
            d[(a * @r@ + b) * VL + l] =
                w[@first@ + fewer(k + l, @filters@ - 1) * INT64_C(@wo@) + c * INT64_C(@wi@) +
                  a * INT64_C(@wu@) + b * INT64_C(@wv@)];
      of_filter(d, VL, u + k * @channels@ + c * VL, @of_filters@);
    }
}
"""

FORWARD = """
INLINE void places(int32_t *at, int32_t *to) {  // of tiles: in the frame, and in y
  for (int64_t t = 0; t < @tiles@ + VL; t++) {
    const int64_t i = fewer(t, @tiles@ - 1), image = i / @per@, row = i % @per@ / @across@;
    const int64_t column = i % @across@;
    at[t] = image * @channels@ * @plane@ + row * @m@ * @line@ + column * @m@;
    to[t] = image * INT64_C(@on@) + row * @m@ * INT64_C(@oh@) + column * @m@;
  }
}
static void convolved(const T *x, const T *u, T *y, T *frame, T *v, T *z, T *planes,
                      const int32_t *at, const int32_t *to) {
  framed_x(x, frame, @group@);
  T *out = @planar@ ? planes : y;
  for (int64_t t = 0; t < @tiles@; t += @block@ * VL) {
    const int64_t vectors = fewer(@block@, (@tiles@ - t + VL - 1) / VL), wide = vectors * VL;
    const int64_t step = apart(wide * @channels@);
    for (int64_t j = 0; j < vectors; j++)
      for (int64_t c = 0; c < @channels@; c++) {
        alignas(64) T d[@n@ * @n@ * VL];
        squares<@n@>(frame + c * @plane@, at + t + j * VL, @line@, d);
        of_image(d, VL, v + (j * @channels@ + c) * VL, step);
      }
    for (int64_t xi = 0; xi < @square@; xi++)
      product<@filters@>(u + xi * INT64_C(@of_filters@), v + xi * step, @channels@,
                         z + xi * @results@, wide, vectors, false);
    for (int64_t k = 0; k < @filters@; k++)
      for (int64_t j = 0; j < vectors; j++) {
        alignas(64) T d[@m@ * @m@ * VL];
        of_result(z + k * wide + j * VL, @results@, d, VL);
        spread<@m@>(d, out + k * INT64_C(@oc@), to + t + j * VL, @oh@,
                    fewer(VL, @tiles@ - t - j * VL));
      }
  }
  if (@planar@) unframed_y(planes, y, @group@);
}
static void run(void **a) {
  char *memory = (char *)a[3];
  T *u = (T *)@kept@;
  int32_t *at = (int32_t *)(memory + @of_places@), *to = at + @tiles@ + VL;
@filter@
  places(at, to);
  const auto part = [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; p++) {
      char *own = memory + @of_parts@ + p * INT64_C(@part_bytes@);
      T *frame = (T *)(own + @of_frame@), *v = (T *)(own + @of_v@), *z = (T *)(own + @of_z@);
      T *planes = (T *)(own + @of_planes@);
      for (int64_t g = @groups@ * p / @parts@; g < @groups@ * (p + 1) / @parts@; g++)
        convolved((const T *)a[0] + g * INT64_C(@xg@), u, (T *)a[2] + g * INT64_C(@yg@), frame, v,
                  z, planes, at, to);
    }
  };
  @parallel@
}
"""

PACK = """
static void run(void **a) { filters((const T *)a[1], (T *)a[4]); }
"""

GRADIENT = """
INLINE void places(int32_t *x, int32_t *w, int32_t *c, int32_t *k) {  // of tiles, and of lanes
  for (int64_t t = 0; t < @tiles@; t++) {
    const int64_t image = t / @per@, row = t % @per@ / @across@ * @m@, column = t % @across@ * @m@;
    x[t] = image * @channels@ * @plane@ + row * @line@ + column;
    w[t] = image * @filters@ * @of_w_plane@ + row * @of_w_line@ + column;
  }
  for (int64_t l = 0; l < @wide_c@; l++) c[l] = fewer(l, @channels@ - 1) * @plane@;
  for (int64_t l = 0; l < @wide_k@; l++) k[l] = fewer(l, @filters@ - 1) * @of_w_plane@;
}
static void run(void **a) {
  char *memory = (char *)a[3];
  T *frame_x = (T *)(memory + @of_x@), *frame_w = (T *)(memory + @of_w@);
  T *v = (T *)(memory + @of_v@), *z = (T *)(memory + @of_z@), *s = (T *)(memory + @of_s@);
  int32_t *at_x = (int32_t *)(memory + @of_places@), *at_w = at_x + @tiles@;
  int32_t *at_c = at_w + @tiles@, *at_k = at_c + @wide_c@;
  places(at_x, at_w, at_c, at_k);
  for (int64_t g = 0; g < @groups@; g++) {
    framed_x((const T *)a[0] + g * INT64_C(@xg@), frame_x, @group@);
    framed_w((const T *)a[1] + g * INT64_C(@wg@), frame_w, @group@);
    for (int64_t t = 0; t < @tiles@; t += @block@) {
      const int64_t depth = fewer(@block@, @tiles@ - t);
      const int64_t of_v = apart(@wide_c@ * depth), of_z = apart(@wide_k@ * depth);
      const auto transforms = [&](int64_t first, int64_t last) {
        for (int64_t p = first; p < last; p++) {
          alignas(64) T d[@square@ * VL];
          for (int64_t c = 0; c < @wide_c@; c += VL) {
            squares<@n@>(frame_x + at_x[t + p], at_c + c, @line@, d);
            of_image(d, VL, v + c * depth + p * VL, of_v);
          }
          for (int64_t k = 0; k < @wide_k@; k += VL) {
            squares<@m@>(frame_w + at_w[t + p], at_k + k, @of_w_line@, d);
            of_filter(d, VL, z + k * depth + p * VL, of_z);
          }
        }
      };
      const auto products = [&](int64_t first, int64_t last) {
        for (int64_t xi = first; xi < last; xi++)
          product<@channels@>(v + xi * of_v, z + xi * of_z, depth,
                              s + xi * INT64_C(@of_filters@), @wide_k@, @wide_k@ / VL,
                              g + t > 0);
      };
      @transforms@
      @products@
    }
  }
  T *y = (T *)a[2];
  for (int64_t c = 0; c < @channels@; c++)
    for (int64_t k = 0; k < @wide_k@; k += VL) {
      alignas(64) T d[@r@ * @r@ * VL];
      of_result(s + c * @wide_k@ + k, @of_filters@, d, VL);
      for (int64_t l = 0; l < fewer(VL, @filters@ - k); l++)
        for (int64_t a = 0; a < @r@; a++)
          for (int64_t b = 0; b < @r@; b++)
            y[(k + l) * INT64_C(@wo@) + c * INT64_C(@wi@) + a * INT64_C(@wu@) + b * INT64_C(@wv@)] =
                d[(a * @r@ + b) * VL + l];
    }
}
"""
