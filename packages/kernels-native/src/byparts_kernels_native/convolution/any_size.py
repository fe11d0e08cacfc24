"""Convolutions for all sizes of a batch and of images: one function, which gets the sizes.

Windows of x become panels of two vectors' width of pixels, some that stay in a cache at a time;
each panel is multiplied by all filters with the tiles of `products_of_sizes.py`.  Filters, and so
channels, are numbers of known size; images are stored by channels (NCHW).

f32, filters of 3x3, one thread on AVX-512: 63 GF/s with 3 channels, 99 to 120 with 32 to 512; that
is 1.05 to 1.25 times the time of the kernels of one size that do as many multiplications, and 1.8
to 2.5 times that of those by Winograd's method, which a size that is called often changes to.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from byparts_graph_ir import Kernel, KernelFamily, Refused, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_native import code
from byparts_kernels_native.products_of_sizes import PACK, TILE, filled, width
from byparts_kernels_native.tilings import Matrices
from byparts_opset import Conv2d
from byparts_opset.convolution import placed
from byparts_tensor_ir.expression import BYTES

_CACHE_BYTES = 1 << 18  # of the panels of some pixels


def family(op: Any, types: Sequence[TensorType]) -> KernelFamily:
    """The kernels of a convolution for all sizes of its images.

    Raises:
        Refused: another op or layout, a dtype, filters of unknown size, or code is not made of C.
    """
    dtype = types[0].dtype
    fits = isinstance(op, Conv2d) and op.layout == "NCHW" and dtype in ("f32", "f64")
    if not (fits and types[1].static):
        raise Refused(f"{op.name} on {types[0]}, {types[1]} is compiled for each size")
    one = Matrices(1, 1, 1, dtype)
    source = filled("convolution", one, PACK + TILE + _WINDOWS)
    name, lanes = code.later(source), width(one)

    def at(sized: Any, numbers: Sequence[TensorType]) -> Kernel:
        table, space = _numbers(sized, numbers, lanes)

        def bind(inputs: Sequence[int], outputs: Sequence[int], memory: Any, _: Any) -> Run:
            arguments = [*inputs, *outputs, memory or 0, ctypes.addressof(table)]
            return code.call(name, arguments, table)

        return Kernel(bind, space, 0, (), True, source.body)

    return KernelFamily(at, source=source.body)


def _numbers(op: Any, types: Sequence[TensorType], lanes: int) -> tuple[Any, int]:
    """The numbers of `_WINDOWS`, and the bytes of its panels."""
    x, w = types
    (n, _, *image), (o, i, *kernel), (y,) = x.dims, w.dims, op.infer(x, w)
    (top, _), (left, _) = placed(op, x, w)[1]
    sums = i * kernel[0] * kernel[1]
    panel_bytes = max(1, sums * lanes * BYTES[x.dtype])
    count = max(1, min(-(-y.dims[2] * y.dims[3] // lanes), _CACHE_BYTES // panel_bytes))
    sizes = (n, op.groups, i, *image, o // op.groups, *y.dims[2:], *kernel)
    table = (*sizes, *op.strides, *op.dilations, top, left, count)
    return (ctypes.c_int64 * len(table))(*table), count * panel_bytes


# Arguments: x, filters, y, panels, and the numbers of `run` in their order.
_WINDOWS = """struct Sizes {
  int64_t images, groups, channels, height, width, filters, rows, columns, kernel_h, kernel_w;
  int64_t stride_h, stride_w, dilation_h, dilation_w, top, left, panels;
};
// Pixels j..j + W of y: the elements that each of them is a sum of, pixels side by side.
static void windows(T *to, const T *x, int64_t j, const Sizes &s) {
  for (int64_t i = 0, count; i < W; i += count, to += count) {
    const int64_t row = (j + i) / s.columns, column = (j + i) % s.columns;
    count = row < s.rows ? least(W - i, s.columns - column) : W - i;
    T *t = to;
    for (int64_t c = 0; c < s.channels; ++c)
      for (int64_t u = 0; u < s.kernel_h; ++u)
        for (int64_t v = 0; v < s.kernel_w; ++v, t += W) {
          const int64_t r = row * s.stride_h - s.top + u * s.dilation_h;
          const int64_t q = column * s.stride_w - s.left + v * s.dilation_w;
          const bool inside = row < s.rows && r >= 0 && r < s.height;
          // pixels before `begin` and from `end` on are beyond an edge
          const int64_t end = inside && q < s.width
              ? least(count, (s.width - q + s.stride_w - 1) / s.stride_w) : 0;
          const int64_t begin = q < 0 ? least(end, (s.stride_w - 1 - q) / s.stride_w) : 0;
          const T *from = x + (c * s.height + r) * s.width + q;
          if (s.stride_w == 1 && !begin && end == W) {
            memcpy(t, from, W * sizeof(T));
            continue;
          }
          for (int64_t e = 0; e < begin; ++e) t[e] = 0;
          if (s.stride_w == 1) for (int64_t e = begin; e < end; ++e) t[e] = from[e];
          else for (int64_t e = begin; e < end; ++e) t[e] = from[e * s.stride_w];
          for (int64_t e = end; e < count; ++e) t[e] = 0;
        }
  }
}
static void run(void **all) {
  const Sizes &s = *(const Sizes *)all[4];
  const int64_t n = s.rows * s.columns, k = s.channels * s.kernel_h * s.kernel_w, m = s.filters;
  const int64_t some = most(1, (1 << 17) / (M * most(k, 1) * (int64_t)sizeof(T))) * M;
  T *panels = (T *)all[3];
  for (int64_t g = 0; g < s.images * s.groups; ++g) {
    const T *x = (const T *)all[0] + g * s.channels * s.height * s.width;
    const T *a = (const T *)all[1] + g % s.groups * m * k;
    T *y = (T *)all[2] + g * m * n;
    for (int64_t first = 0; first < n; first += s.panels * W) {
      const int64_t last = least(n, first + s.panels * W);
      for (int64_t j = first; j < last; j += W) windows(panels + (j - first) * k, x, j, s);
      for (int64_t begin = 0; begin < m; begin += some)
        for (int64_t j = first; j < last; j += W) {
          const T *panel = panels + (j - first) * k;
          const int64_t end = least(m, begin + some);
          int64_t i = begin;
#define ROWS(R)               \\
  for (; i + R <= end; i += R) \\
    tile<R, 1>(y + i * n + j, y, n, a + i * k, k, 1, panel, W, 0, k, n - j);
          ROWS(M) ROWS(4) ROWS(2) ROWS(1)
#undef ROWS
        }
    }
  }
}
"""
