"""Dropout with a mask that is given: one multiplication, one masked store."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.plain import plain
from byparts_kernels_numpy.table import kernels
from byparts_opset.dropout import Dropout
from byparts_opset.dtypes import Array


@kernels.on(Dropout, workspace=True)
@plain
def dropout(
    op: Dropout, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    (x, dropped), (y,) = inputs, outputs
    scale = y.dtype.type(1 / (1 - op.rate))

    def run() -> None:
        np.multiply(x, scale, y)
        np.copyto(y, 0, where=dropped)

    return run
