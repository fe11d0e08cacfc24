"""Products of matrices that are added to something: BLAS adds while it multiplies.

A sum of gradients over many products, and the step of gradient descent by one, pass over the sum
once a product instead of twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, Kernel, Node, Pass, Refused, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_native import code, walk
from byparts_kernels_native.products import gemm
from byparts_opset.accumulate import accumulate
from byparts_tensor_ir.emit.source import Source

_C = {"f32": "float", "f64": "double"}
RegionKernel = Callable[[Graph], Kernel]


def add_matmul(op: Any, types: Sequence[TensorType], of_region: RegionKernel) -> Kernel:
    """y = c + scale * a @ b, on the bytes of c where it is as large as y.

    Args:
        op: an `AddMatmul`.
        types: of c, a and b.
        of_region: compiles the copy of c.

    Raises:
        Refused: a dtype that BLAS does not have, no elements, or NumPy brings no OpenBLAS.
    """
    c, a, b = types
    (y,) = op.infer(*types)
    if a.dtype not in _C or gemm(a.dtype) is None or not a.size * b.size:
        given = ", ".join(map(str, types))
        raise Refused(f"add_matmul of ({given}): only f32 and f64 with elements, by OpenBLAS")
    name, pointer = code.later(_source(op, a, y)), gemm(a.dtype) or 0
    addend = Input(c)
    copy = of_region(Graph.of([addend], [ops.BroadcastTo(y.dims)(addend)]))

    def bind(inputs: Sequence[int], outputs: Sequence[int], workspace: Any, more: Any) -> Run:
        multiply = code.call(name, [*inputs[1:], *outputs, pointer])
        if inputs[0] == outputs[0]:
            return multiply
        first = copy.bind(inputs[:1], outputs, workspace, more)
        return walk.captured([first, multiply], False)

    inplace = ((0, 0),) if c == y else ()
    return Kernel(bind, copy.workspace_bytes, 0, inplace, True)


def _source(op: Any, a: TensorType, y: TensorType) -> Source:
    """The call; 101 and 111, 112 are CBLAS's row-major, plain and transposed."""
    c = _C[y.dtype]
    n, m = y.dims[-1], prod(y.dims[:-1])
    k = a.dims[0] if op.transpose_a else a.dims[-1]
    lda, ldb = (m if op.transpose_a else k), (k if op.transpose_b else n)
    flags = ", ".join("112" if t else "111" for t in (op.transpose_a, op.transpose_b))
    body = f"""extern "C" void byparts_add_gemm(void **a) {{
  typedef void (*product)(int, int, int, int64_t, int64_t, int64_t, {c}, const {c} *, int64_t,
                          const {c} *, int64_t, {c}, {c} *, int64_t);
  ((product)a[3])(101, {flags}, {m}, {n}, {k}, ({c}){float(op.scale)!r}, (const {c} *)a[0], {lda},
                  (const {c} *)a[1], {ldb}, 1, ({c} *)a[2], {n});
}}
"""
    return Source("byparts_add_gemm", body, frozenset(), 0)


def _adds(c: TensorType, product: Node) -> bool:
    """Whether the product is of two matrices, and c as large as it.

    A smaller c, such as a bias, is added in the region that follows: it passes over the product
    anyway.
    """
    a, b = (v.type for v in product.inputs)
    same = c == product.outputs[0].type and a.dtype == b.dtype
    if not same or a.rank != 2 or b.rank != 2 or not a.size * b.size:
        return False
    return a.dtype in _C and gemm(a.dtype) is not None


PASSES = (Pass("accumulate", partial(accumulate, fits=_adds), needs=("static",)),)
