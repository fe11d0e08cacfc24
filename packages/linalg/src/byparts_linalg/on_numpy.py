"""Kernels on the NumPy backend: LAPACK and pocketfft in the dtype of the arrays, then one copy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_numpy.table import allocates, kernels
from byparts_linalg.matrices import OfMatrices, checked
from byparts_linalg.registry import OPS
from byparts_opset.dtypes import Array

allocates.update(dict.fromkeys(OPS.values(), "NumPy has no out= for it"))


@kernels.on(*OPS.values())
def rule(op: Any, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    """The op's own `compute`, and a copy."""
    compute = partial(checked, op) if isinstance(op, OfMatrices) else op.compute
    return partial(_run, partial(compute, *inputs), tuple(outputs))


def _run(compute: Any, outputs: tuple[Array, ...]) -> None:
    for y, result in zip(outputs, compute(), strict=True):
        np.copyto(y, result, casting="same_kind")
