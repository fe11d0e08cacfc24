"""Several NumPy calls for one op, block by block, so that what lies between them stays in cache.

`in_blocks(step, inputs, y, workspace, scratch)` calls `step(*inputs, y, *scratch)` on pieces of the
arrays.  All views are made once, when the kernel is bound; a run allocates nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.plain import in_turn
from byparts_kernels_numpy.workspace import empty
from byparts_opset.dtypes import Array, wide_dtype

BLOCK = 32768  # elements: 128 KiB of f32, so a few arrays fit a level 2 cache

Step = Callable[..., object]


def in_blocks(
    step: Step,
    inputs: Sequence[Array],
    y: Array,
    workspace: Workspace,
    scratch: Sequence[Any] = (),
) -> Run:
    """Bind an elementwise `step`; `scratch` has the dtype of each array of scratch.

    The inputs broadcast to y.  Size-1 inputs come whole to each step.
    """
    if y.size == 0:
        return in_turn([])
    pieces = _flat(inputs, y) or _by_rows(inputs, y)
    shape = max((p[-1].shape for p in pieces), key=_elements)
    spare = [empty(workspace, shape, dtype) for dtype in scratch]
    calls = [partial(step, *p, *(s[: len(p[-1])] for s in spare)) for p in pieces]
    return in_turn(calls)


def in_wide_blocks(
    step: Step, inputs: Sequence[Array], y: Array, workspace: Workspace, scratch: int = 0
) -> Run:
    """`in_blocks` with scratch of y's dtype; narrow types are computed wide, and converted once."""
    dtype = wide_dtype(y.dtype)
    if dtype == y.dtype:
        return in_blocks(step, inputs, y, workspace, [dtype] * scratch)
    count = len(inputs)
    dtypes = [dtype] * (count + 1 + scratch)
    return in_blocks(partial(_widened, step, count), inputs, y, workspace, dtypes)


def in_double_blocks(
    step: Step, inputs: Sequence[Array], y: Array, workspace: Workspace, scratch: int = 0
) -> Run:
    """`in_blocks` on f64 copies, whatever the dtype: for steps written for 16 digits."""
    count = len(inputs)
    dtypes = [np.float64] * (count + 1 + scratch)
    return in_blocks(partial(_widened, step, count), inputs, y, workspace, dtypes)


def _flat(inputs: Sequence[Array], y: Array) -> list[tuple[Array, ...]] | None:
    """Pieces of the arrays as lines, if all that are not of size 1 are contiguous in y's shape."""
    if not y.flags.c_contiguous:
        return None
    if not all(x.size == 1 or (x.shape == y.shape and x.flags.c_contiguous) for x in inputs):
        return None
    lines = [x.reshape(() if x.size == 1 and y.size > 1 else -1) for x in (*inputs, y)]
    starts = range(0, y.size, BLOCK)
    return [tuple(x[i : i + BLOCK] if x.ndim else x for x in lines) for i in starts]


def _by_rows(inputs: Sequence[Array], y: Array) -> list[tuple[Array, ...]]:
    """Pieces along the first axis, of any strides."""
    arrays = [*(np.broadcast_to(x, y.shape) for x in inputs), y]
    if y.ndim == 0:
        return [tuple(x[None] for x in arrays)]
    rows = max(1, BLOCK * len(y) // y.size)
    return [tuple(x[i : i + rows] for x in arrays) for i in range(0, len(y), rows)]


def _widened(step: Step, count: int, *arrays: Array) -> None:
    inputs, y, wide = arrays[:count], arrays[count], arrays[count + 1 :]
    for x, into in zip(inputs, wide, strict=False):
        np.copyto(into, x)
    step(*wide)
    np.copyto(y, wide[count], casting="unsafe")


def _elements(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape))
