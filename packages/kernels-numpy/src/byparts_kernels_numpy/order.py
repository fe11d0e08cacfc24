"""Sorting, and searching what is sorted: NumPy's own, along the last axis of contiguous rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Union

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.plain import in_turn, plain
from byparts_kernels_numpy.table import allocates, kernels
from byparts_kernels_numpy.workspace import empty
from byparts_opset.dtypes import Array
from byparts_opset.order import ArgSort, SearchSorted, Sort

allocates[ArgSort] = "NumPy's sort gives a new array"
allocates[SearchSorted] = "NumPy's search gives a new array"


@kernels.on(Sort, workspace=True)
@plain
def sort(op: Sort, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    """In y itself where its lines are contiguous, else in the workspace: NumPy would copy each."""
    x, y = (np.moveaxis(a, op.axis, -1) for a in (*inputs, *outputs))
    if not op.descending and y.flags.c_contiguous:
        return in_turn([partial(np.copyto, y, x), partial(y.sort, -1)])
    rows = empty(workspace, x.shape, x.dtype)
    turned = rows[..., ::-1] if op.descending else rows
    return in_turn(
        [partial(np.copyto, rows, x), partial(rows.sort, -1), partial(np.copyto, y, turned)]
    )


@kernels.on(ArgSort, SearchSorted)
def places(
    op: Union[ArgSort, SearchSorted], inputs: Sequence[Array], outputs: Sequence[Array]
) -> Run:
    return partial(_evaluated, op, tuple(inputs), outputs[0])


def _evaluated(op: Union[ArgSort, SearchSorted], inputs: tuple[Array, ...], y: Array) -> None:
    np.copyto(y, op.evaluate(*inputs)[0])
