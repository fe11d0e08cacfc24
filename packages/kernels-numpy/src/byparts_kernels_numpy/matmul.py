"""Products of matrices: BLAS, which reads transposed operands where they stand.

Large products it adds up in blocks of some hundred.  Small results of long sums it may add up in
turn, so those are cut along the sum, and parts are summed as `reduce.py` sums.
Integers have no BLAS: NumPy's own loops, some hundred times slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.plain import LONGEST, in_turn, plain
from byparts_kernels_numpy.table import kernels
from byparts_kernels_numpy.workspace import empty
from byparts_opset.dtypes import Array
from byparts_opset.matmul import MatMul

_LONG, _SMALL = 4 * LONGEST, 1 << 12  # products in a sum; elements of a result


@kernels.on(MatMul, workspace=True)
@plain
def matmul(
    op: MatMul, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    """Multiply in one call of NumPy."""
    (a, b), (y,) = inputs, outputs
    if y.size == 0 or a.size == 0:
        return partial(y.fill, 0)
    if b.ndim == 2 and not op.transpose_a:
        a, y = a.reshape(-1, a.shape[-1]), y.reshape(-1, y.shape[-1])  # one product, not many
    left = np.swapaxes(a, -1, -2) if op.transpose_a else a
    right = np.swapaxes(b, -1, -2) if op.transpose_b else b
    if y.dtype.kind == "f" and left.shape[-1] > _LONG and prod(y.shape[-2:]) <= _SMALL:
        return _product_of_blocks(left, right, y, workspace)
    return partial(np.matmul, left, right, y)


def _product_of_blocks(a: Array, b: Array, y: Array, workspace: Workspace) -> Run:
    """[..., m, k] times [..., k, n]."""
    count, rest = divmod(a.shape[-1], LONGEST)
    end, (*lead, m, n) = count * LONGEST, y.shape
    parts = empty(workspace, (*lead, count + (rest > 0), m, n), y.dtype)
    left = np.moveaxis(a[..., :end].reshape(*a.shape[:-1], count, LONGEST), -2, -3)
    right = b[..., :end, :].reshape(*b.shape[:-2], count, LONGEST, n)
    steps: list[Run] = [partial(np.matmul, left, right, parts[..., :count, :, :])]
    if rest:
        steps.append(partial(np.matmul, a[..., end:], b[..., end:, :], parts[..., count, :, :]))
    from byparts_kernels_numpy.reduce import merged, sum_along  # brings ops that most do not need

    return in_turn([*steps, sum_along(*merged((len(lead),), parts, y), workspace)])
