"""Softmax along any axis, in blocks that stay in cache.

NumPy reduces along short rows slowly (8 us for the maximum of 100 rows of 10, 2 us for that of 10
rows of 100), so short rows are worked on in scratch memory that is laid out column by column: that
halves the time of the softmax of 100 rows of 10, and is five times faster for 6000.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.plain import LONGEST, blocks, in_turn, plain
from byparts_kernels_numpy.table import kernels
from byparts_kernels_numpy.workspace import Shared
from byparts_opset.dtypes import Array
from byparts_opset.softmax import LogSoftmax, LogSoftmaxGradient, Softmax, SoftmaxGradient

SHORT_ROW = 64

# (x, axis, dtype, out, keepdims); positions are faster than keywords, and unknown to the stubs
largest: Callable[..., Any] = np.maximum.reduce
summed: Callable[..., Any] = np.add.reduce


def is_short(block: Array) -> bool:
    """Whether a block is many short rows."""
    return block.ndim == 2 and block.shape[1] <= SHORT_ROW and block.shape[0] > 1


def scratch(block: Array, shared: Shared, name: str) -> Array:
    """Memory for a block; column by column if its rows are short."""
    return shared.take(name, block.shape, block.dtype, "F" if is_short(block) else "C")


def line(block: Array, shared: Shared, name: str) -> Array:
    """Memory for one number of each line of a block, which broadcasts to it."""
    return shared.take(name, (block.shape[0], 1, *block.shape[2:]), block.dtype)


def summing(block: Array, out: Array, ones: Array) -> Run:
    """The run that sums the lines of a block into `out`; BLAS is four times faster for long rows.

    Very long ones by NumPy's pairwise sum, or in f64, so that their error does not grow with them.
    """
    long = block.shape[1] > LONGEST
    if block.ndim == 2 and block.flags.c_contiguous and not long:
        return partial(np.dot, block, ones[: block.shape[1]], out.reshape(-1))
    dtype = np.float64 if long and block.ndim == 3 else None
    lines = out.reshape(len(block), 1, *block.shape[2:])
    return partial(summed, block, 1, dtype, lines, True)


@kernels.on(Softmax, workspace=True)
@plain
def softmax(
    op: Softmax, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    shared = Shared(workspace)
    return in_turn([_softmax(x, y, shared) for x, y in blocks(op.axis, *inputs, *outputs)])


@kernels.on(LogSoftmax, workspace=True)
@plain
def log_softmax(
    op: LogSoftmax, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    shared = Shared(workspace)
    return in_turn([_log_softmax(x, y, shared) for x, y in blocks(op.axis, *inputs, *outputs)])


@kernels.on(SoftmaxGradient, workspace=True)
@plain
def softmax_gradient(
    op: SoftmaxGradient, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    shared = Shared(workspace)
    cut = blocks(op.axis, *inputs, *outputs)
    return in_turn([_softmax_gradient(dy, y, dx, shared) for dy, y, dx in cut])


@kernels.on(LogSoftmaxGradient, workspace=True)
@plain
def log_softmax_gradient(
    op: LogSoftmaxGradient, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    shared = Shared(workspace)
    cut = blocks(op.axis, *inputs, *outputs)
    return in_turn([_log_softmax_gradient(dy, y, dx, shared) for dy, y, dx in cut])


def _softmax(x: Array, y: Array, shared: Shared) -> Run:
    m, columns = line(x, shared, "m"), scratch(x, shared, "columns") if is_short(x) else None
    start, e = (x, y) if columns is None else (columns, columns)
    total = summing(e, m, shared.ones(x.shape[1], x.dtype))

    def run() -> None:
        if columns is not None:
            np.copyto(columns, x)
        largest(start, 1, None, m, True)
        np.subtract(start, m, e)
        np.exp(e, e)
        total()
        np.divide(e, m, y)

    return run


def _log_softmax(x: Array, y: Array, shared: Shared) -> Run:
    below, e, m = scratch(x, shared, "below"), scratch(x, shared, "e"), line(x, shared, "m")
    total = summing(e, m, shared.ones(x.shape[1], x.dtype))

    def run() -> None:
        np.copyto(below, x)
        largest(below, 1, None, m, True)
        np.subtract(below, m, below)
        np.exp(below, e)
        total()
        np.log(m, m)
        np.subtract(below, m, y)

    return run


def _softmax_gradient(dy: Array, y: Array, dx: Array, shared: Shared) -> Run:
    m, weighed = line(y, shared, "m"), shared.take("weighed", y.shape, y.dtype)
    total = summing(weighed, m, shared.ones(y.shape[1], y.dtype))

    def run() -> None:
        np.multiply(dy, y, weighed)
        total()
        np.subtract(dy, m, dx)
        np.multiply(dx, y, dx)

    return run


def _log_softmax_gradient(dy: Array, y: Array, dx: Array, shared: Shared) -> Run:
    m, share = line(y, shared, "m"), shared.take("share", y.shape, y.dtype)
    total = summing(dy, m, shared.ones(y.shape[1], y.dtype))

    def run() -> None:
        np.exp(y, share)
        total()
        np.multiply(share, m, share)
        np.subtract(dy, share, dx)

    return run
