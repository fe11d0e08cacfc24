"""Products of matrices: BLAS, which reads transposed operands where they stand.

Integers have no BLAS: NumPy's own loops, some hundred times slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.plain import plain
from byparts_kernels_numpy.table import kernels
from byparts_opset.dtypes import Array
from byparts_opset.matmul import MatMul


@kernels.on(MatMul, workspace=True)
@plain
def matmul(
    op: MatMul, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    """One call."""
    (a, b), (y,) = inputs, outputs
    if y.size == 0 or a.size == 0:
        return partial(y.fill, 0)
    if b.ndim == 2 and not op.transpose_a:
        a, y = a.reshape(-1, a.shape[-1]), y.reshape(-1, y.shape[-1])  # one product, not many
    left = np.swapaxes(a, -1, -2) if op.transpose_a else a
    right = np.swapaxes(b, -1, -2) if op.transpose_b else b
    return partial(np.matmul, left, right, y)
