"""Running sums: one accumulation, from views that are turned round or one step apart.

Long ones are accumulated in blocks, each of which begins at 0, and what stands before each block is
added in f64: the error is at most BLOCK roundings of the sum of sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.plain import LONGEST, in_turn, plain
from byparts_kernels_numpy.reduce import BLOCK
from byparts_kernels_numpy.table import kernels
from byparts_kernels_numpy.workspace import empty
from byparts_opset.cumulative import CumSum
from byparts_opset.dtypes import Array


@kernels.on(CumSum, workspace=True)
@plain
def cumsum(
    op: CumSum, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    x, y = (np.moveaxis(a, op.axis, 0) for a in (*inputs, *outputs))
    if op.reverse:
        x, y = x[::-1], y[::-1]
    if not op.exclusive:
        return _running(x, y, workspace)
    return in_turn([partial(np.copyto, y[:1], 0), _running(x[:-1], y[1:], workspace)])


def _running(x: Array, y: Array, workspace: Workspace) -> Run:
    """Running sums along axis 0."""
    if x.dtype.kind != "f" or len(x) <= LONGEST or x.size == 0:
        return partial(np.add.accumulate, x, 0, None, y)
    count = -(-len(x) // BLOCK) - 1  # blocks, but for the last one
    end, shape = count * BLOCK, (count, BLOCK, *x.shape[1:])
    before = empty(workspace, (count, 1, *x.shape[1:]), np.float64)
    parts, sums = x[:end].reshape(shape), y[:end].reshape(shape)
    steps: list[Run] = [
        partial(np.add.accumulate, parts, 1, None, sums),
        partial(np.add.accumulate, x[end:], 0, None, y[end:]),
        partial(np.copyto, before, sums[:, -1:]),
        partial(np.add.accumulate, before, 0, None, before),
        partial(np.add, sums[1:], before[:-1], sums[1:], casting="same_kind"),
        partial(np.add, y[end:], before[-1], y[end:], casting="same_kind"),
    ]
    return in_turn(steps)
