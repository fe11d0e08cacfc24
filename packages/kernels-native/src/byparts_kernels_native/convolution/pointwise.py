"""Convolution by filters of one pixel: a product of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from byparts_graph_ir import Kernel, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_graph_ir.model.frozen import replace
from byparts_kernels_native.products import matmul
from byparts_opset import Conv2dFilterGradient, Conv2dTranspose, MatMul
from byparts_opset.convolution import TO_OIHW, placed


def pointwise(op: Any, types: Sequence[TensorType], constant: bool) -> Kernel | None:
    """The kernel of a convolution by such filters, one for each place; `None` for others."""
    x, w = types[:2]
    o, i, *kernel = (w.dims[axis] for axis in TO_OIHW[op.layout])
    back = isinstance(op, Conv2dTranspose)
    if isinstance(op, Conv2dFilterGradient) or (*kernel, *op.strides, op.groups) != (1,) * 5:
        return None
    if (op.padding if back else placed(op, x, w)[1]) != ((0, 0), (0, 0)) or not x.size * w.size:
        return None
    if op.layout == "NHWC":
        rows = TensorType(x.dtype, (prod(x.dims[:3]), x.dims[3]))
        flat = TensorType(w.dtype, (i, o))
        return matmul(MatMul(transpose_b=back), (rows, flat), frozenset({1} if constant else ()))
    lead = x.dims[:1] if x.dims[0] > 1 else ()
    pixels = TensorType(x.dtype, (*lead, x.dims[1], prod(x.dims[2:])))
    product = matmul(MatMul(transpose_a=back), (TensorType(w.dtype, (o, i)), pixels), frozenset())

    def bind(inputs: Sequence[int], outputs: Sequence[int], memory: Any, kept: Any) -> Run:
        return product.bind([inputs[1], inputs[0]], outputs, memory, kept)

    return replace(product, bind=bind)
