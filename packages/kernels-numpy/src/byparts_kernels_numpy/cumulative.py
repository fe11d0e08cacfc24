"""Running sums: one accumulation, from views that are turned round or one step apart."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.plain import in_turn, plain
from byparts_kernels_numpy.table import kernels
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
        return partial(np.add.accumulate, x, 0, None, y)
    return in_turn(
        [partial(np.copyto, y[:1], 0), partial(np.add.accumulate, x[:-1], 0, None, y[1:])]
    )
