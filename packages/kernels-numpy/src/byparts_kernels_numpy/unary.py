"""One NumPy call for each op."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from byparts_graph_ir.backend import Run
from byparts_opset.dtypes import Array
from byparts_opset.unary import Neg

from byparts_kernels_numpy.table import kernels


@kernels.on(Neg)
def neg(op: Neg, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    (x,), (y,) = inputs, outputs
    return partial(np.negative, x, y)
