"""Linear algebra of the array API standard: products of matrices and vectors."""

from __future__ import annotations

from typing import Any

import byparts_opset as ops
from byparts_eager.array import asarray
from byparts_eager.promotion import promoted
from byparts_graph_ir import ShapeError


def matmul(x1: Any, x2: Any, /) -> Any:
    """The product of matrices, or of a matrix and a vector, of which one has one axis.

    Raises:
        ShapeError: one has no axis, or the inner sizes differ.
    """
    x, y = asarray(x1), asarray(x2)
    if not (x.ndim and y.ndim):
        raise ShapeError(f"matmul: {x.type} and {y.type}: a 0-d array is no matrix; use x * y")
    dtype = promoted(str(x.type.dtype), str(y.type.dtype))
    x, y = (v if v.type.dtype == dtype else ops.cast(v, dtype) for v in (x, y))
    left = ops.expand_dims(x, 0) if x.ndim == 1 else x
    right = ops.expand_dims(y, 1) if y.ndim == 1 else y
    product = ops.matmul(left, right)
    if x.ndim == 1:
        product = ops.squeeze(product, -2)
    return ops.squeeze(product, -1) if y.ndim == 1 else product
