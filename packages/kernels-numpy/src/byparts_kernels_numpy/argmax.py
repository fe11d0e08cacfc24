"""Kernel of argmax: NumPy's own search, which writes i64 directly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.plain import in_turn, plain
from byparts_kernels_numpy.table import kernels
from byparts_kernels_numpy.workspace import empty
from byparts_opset.argmax import ArgMax, ArgMin
from byparts_opset.dtypes import Array


@kernels.on(ArgMax, workspace=True)
@plain
def argmax(
    op: ArgMax, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    return _search(np.argmax, op, inputs[0], outputs[0], workspace)


@kernels.on(ArgMin, workspace=True)
@plain
def argmin(
    op: ArgMin, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    return _search(np.argmin, op, inputs[0], outputs[0], workspace)


def _search(
    f: Callable[..., Any], op: ArgMax | ArgMin, x: Array, y: Array, workspace: Workspace
) -> Run:
    """Along the last axis of a contiguous array, for any other NumPy copies all of it each time.

    So do we, into the workspace.
    """
    if y.size == 0:
        return lambda: None
    if op.axis is None:
        return partial(f, x.reshape(-1), 0, y.reshape(()))
    moved = np.moveaxis(x, op.axis, -1)
    rows = moved if moved.flags.c_contiguous else empty(workspace, moved.shape, x.dtype)
    search = partial(f, rows, -1, y.reshape(moved.shape[:-1]))
    return search if rows is moved else in_turn([partial(np.copyto, rows, moved), search])
