"""Products with a column: each element is a sum along a row of the matrix, read as it lies.

A product of two matrices, BLAS's say, copies the matrix into panels first, which takes several
times as long as to read it once.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import byparts_opset as ops
from byparts_graph_ir import FLOATS, Graph, Input, TensorType
from byparts_opset.half import widened

_LEAST = 128  # multiplications


def sums_of_rows(op: Any, types: Sequence[TensorType]) -> Graph | None:
    """A `MatMul` as sums along contiguous rows, where a or b is a column; else `None`.

    y[..., m, 1] = sum_k a[..., m, k] * b[k]
    y[1, n] = sum_k b[n, k] * a[k]            with transpose_b
    """
    a, b = (Input(t) for t in types)
    (y,) = op.infer(*types)
    if a.type.dtype not in FLOATS or a.type.size * b.type.size < _LEAST:
        return None
    if y.dims[-1] == 1 and not op.transpose_a and prod(b.type.dims[:-2]) == 1:
        matrix, column = a, b
    elif y.rank == 2 and y.dims[-2] == 1 and op.transpose_b:
        matrix, column = b, a
    else:
        return None
    row = ops.reshape(column, (column.type.size,))
    total = ops.sum(widened(matrix) * widened(row), -1)
    return Graph.of((a, b), (ops.cast(ops.reshape(total, y.dims), y.dtype),))
