"""A matrix times a narrow one: rows by columns, with the columns packed one behind the other.

The packed matrix is workspace; where the narrow one is a constant, it is packed once, when the
kernel is bound, into persistent memory.  Other products are better left to a BLAS.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from acme_byparts_c.compiler import call, later
from byparts_graph_ir import Kernel, Refused, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_opset import MatMul

MOST_COLUMNS = 16
_ARGUMENTS = """const float *x = a[0], *w = a[1]; float *y = a[2], *packed = a[3];
const long M = (long)a[4], K = (long)a[5], N = (long)a[6];
"""
_PACK = """for (long p = 0; p < K; p++)
  for (long j = 0; j < N; j++) packed[j * K + p] = w[p * N + j];
"""
# Four rows at a time: each element of the packed matrix is loaded once for them.  Behind the last
# row comes the last row again.
_MULTIPLY = """for (long i = 0; i < M; i += 4) {
  const float *x0 = x + i * K, *x1 = i + 1 < M ? x0 + K : x0;
  const float *x2 = i + 2 < M ? x1 + K : x1, *x3 = i + 3 < M ? x2 + K : x2;
  for (long j = 0; j < N; j++) {
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    _Pragma("omp simd reduction(+: s0, s1, s2, s3)")
    for (long p = 0; p < K; p++) {
      const float u = packed[j * K + p];
      s0 += x0[p] * u; s1 += x1[p] * u; s2 += x2[p] * u; s3 += x3[p] * u;
    }
    const float s[] = {s0, s1, s2, s3};
    for (long l = 0; l < 4 && i + l < M; l++) y[(i + l) * N + j] = s[l];
  }
}"""


def narrow_product(op: MatMul, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    """x: f32[m, k], w: f32[k, n] with n at most 16."""
    x, w = types
    if {x.dtype, w.dtype} != {"f32"} or len(x.dims) != 2 or len(w.dims) != 2:
        raise Refused("only products of two matrices of f32")
    if op.transpose_a or op.transpose_b or w.dims[1] > MOST_COLUMNS:
        raise Refused(f"only products with at most {MOST_COLUMNS} columns, without transposes")
    once = 1 in constants
    pack, multiply = later(_ARGUMENTS + _PACK), later(_ARGUMENTS + _MULTIPLY)
    both = later(_ARGUMENTS + _PACK + _MULTIPLY)

    def bind(inputs: Any, outputs: Any, workspace: Any, persistent: Any) -> Run:
        packed = persistent if once else workspace
        arguments = [*inputs, *outputs, packed, x.dims[0], *w.dims]
        if once:
            call(pack, arguments)()
        return call(multiply if once else both, arguments)

    return Kernel(
        bind,
        workspace_bytes=0 if once else w.size_bytes,
        persistent_bytes=w.size_bytes if once else 0,
        atomic=True,
    )
