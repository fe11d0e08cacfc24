"""Running sums and products: one accumulation, of views that are turned round or one step apart.

Long sums are accumulated in blocks, each of which begins at 0, and what stands before each block is
added in f64: the error is at most BLOCK roundings of the sum of sizes.  What is linear in the
element before takes two calls for each slice.
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
from byparts_opset.cumulative import CumProd, CumSum, LinearRecurrence
from byparts_opset.dtypes import Array


@kernels.on(CumSum, workspace=True)
@plain
def cumsum(
    op: CumSum, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    x, y = _from_the_start(op, *inputs, *outputs)
    if not op.exclusive:
        return _running(x, y, workspace)
    return in_turn([partial(np.copyto, y[:1], 0), _running(x[:-1], y[1:], workspace)])


@kernels.on(CumProd, workspace=True)
@plain
def cumprod(
    op: CumProd, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    x, y = _from_the_start(op, *inputs, *outputs)
    if not op.exclusive:
        return partial(np.multiply.accumulate, x, 0, None, y)
    products = partial(np.multiply.accumulate, x[:-1], 0, None, y[1:])
    return in_turn([partial(np.copyto, y[:1], 1), products])


@kernels.on(LinearRecurrence, workspace=True)
@plain
def linear_recurrence(
    op: LinearRecurrence, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    a, b, y = _from_the_start(op, *inputs, *outputs)
    if y.size == 0:
        return lambda: None
    if op.exclusive:
        return in_turn([partial(np.copyto, y[:1], 0), partial(_recur, a[:-1], b[:-1], y)])
    first = partial(np.multiply, a[:1], 0, y[:1]), partial(np.add, y[:1], b[:1], y[:1])
    return in_turn([*first, partial(_recur, a[1:], b[1:], y)])


def _recur(a: Array, b: Array, y: Array) -> None:
    """y[i] = a[i] * y[i - 1] + b[i] of what `linear_recurrence` has left to do."""
    for i in range(len(a)):
        here = y[i + 1 : i + 2]  # a view also of a line
        np.multiply(a[i : i + 1], y[i : i + 1], here)
        np.add(here, b[i : i + 1], here)


def _from_the_start(op: CumSum | CumProd | LinearRecurrence, *arrays: Array) -> tuple[Array, ...]:
    """Views with the axis in front, turned round where it starts at the end."""
    views = (np.moveaxis(a, op.axis, 0) for a in arrays)
    return tuple(v[::-1] if op.reverse else v for v in views)


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
