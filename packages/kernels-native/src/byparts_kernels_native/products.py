"""Products of matrices by the OpenBLAS that NumPy brings, called from C so that a step stays there.

A wheel of NumPy contains OpenBLAS with the CBLAS interface, 64-bit integers and names of its own.
Where it is not found (NumPy built on another BLAS), products are left to the next backend.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from byparts_graph_ir import Kernel, Refused, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_native import code
from byparts_tensor_ir.emit.source import Source

_FUNCTIONS = {"f32": "scipy_cblas_sgemm64_", "f64": "scipy_cblas_dgemm64_"}
_C = {"f32": "float", "f64": "double"}


@lru_cache(maxsize=2)
def gemm(dtype: str) -> int | None:
    """The address of CBLAS's product of this dtype; `None` where NumPy brings none."""
    folder = Path(np.__file__).parent.parent / "numpy.libs"
    for path in sorted(folder.glob("libscipy_openblas64_*")):
        function = getattr(ctypes.CDLL(str(path)), _FUNCTIONS[dtype], None)
        if function is not None:
            return ctypes.cast(function, ctypes.c_void_p).value
    return None


@dataclass(frozen=True)
class _Product:
    """`batch` products of an (m, k) and a (k, n) matrix; a step of 0 repeats an operand."""

    batch: int
    m: int
    n: int
    k: int
    step_a: int
    step_b: int


def _product(op: Any, types: Sequence[TensorType]) -> _Product | None:
    a, b = types
    if a.dtype not in _FUNCTIONS or gemm(a.dtype) is None or not a.size * b.size:
        return None
    m, k = a.dims[-2:][:: -1 if op.transpose_a else 1]
    n = b.dims[-2] if op.transpose_b else b.dims[-1]
    lead_a, lead_b = a.dims[:-2], b.dims[:-2]
    if prod(lead_b) == 1 and not op.transpose_a:  # all rows of a at once
        return _Product(1, prod(lead_a) * m, n, k, 0, 0)
    if lead_a == lead_b or 1 in (prod(lead_a), prod(lead_b)):
        batch = max(prod(lead_a), prod(lead_b))
        steps = (m * k if prod(lead_a) > 1 else 0), (k * n if prod(lead_b) > 1 else 0)
        return _Product(batch, m, n, k, *steps)
    return None


def matmul(op: Any, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    """Products by BLAS, one call for each index of the leading axes."""
    p = _product(op, types)
    if p is None:
        given = ", ".join(map(str, types))
        raise Refused(f"matmul of ({given}): only floats with equal leading axes, by OpenBLAS")
    dtype = types[0].dtype
    name, pointer = code.later(_source(op, p, _C[dtype])), gemm(dtype) or 0

    def bind(inputs: Sequence[int], outputs: Sequence[int], workspace: Any, _: Any) -> Run:
        return code.call(name, [*inputs, *outputs, pointer])

    return Kernel(bind, 0, 0, (), True)


def _source(op: Any, p: _Product, c: str) -> Source:
    """The call, or the calls; 101 and 111, 112 are CBLAS's row-major, plain and transposed."""
    lda, ldb = (p.m if op.transpose_a else p.k), (p.k if op.transpose_b else p.n)
    flags = ", ".join("112" if t else "111" for t in (op.transpose_a, op.transpose_b))
    body = f"""extern "C" void byparts_gemm(void **a) {{
  typedef void (*product)(int, int, int, int64_t, int64_t, int64_t, {c}, const {c} *, int64_t,
                          const {c} *, int64_t, {c}, {c} *, int64_t);
  const {c} *x = (const {c} *)a[0], *w = (const {c} *)a[1];
  {c} *y = ({c} *)a[2];
  for (int64_t i = 0; i < {p.batch}; ++i)
    ((product)a[3])(101, {flags}, {p.m}, {p.n}, {p.k}, 1, x + i * {p.step_a}, {lda},
                    w + i * {p.step_b}, {ldb}, 0, y + i * {p.m * p.n}, {p.n});
}}
"""
    return Source("byparts_gemm", body, frozenset(), 0)
