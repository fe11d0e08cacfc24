"""Softmax along any axis, in blocks that stay in cache.

NumPy reduces along short rows slowly (8 us for the maximum of 100 rows of 10, 2 us for that of 10
rows of 100), so short rows are worked on in scratch memory that is laid out column by column: that
halves the time of the softmax of 100 rows of 10, and is five times faster for 6000.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from byparts_graph_ir.backend import Run
from byparts_kernels_numpy.plain import blocks, in_turn, plain, shared
from byparts_kernels_numpy.table import kernels
from byparts_opset.dtypes import Array
from byparts_opset.softmax import LogSoftmax, Softmax

SHORT_ROW = 64

_max, _sum = np.maximum.reduce, np.add.reduce  # (x, axis, dtype, out, keepdims)


def is_short(block: Array) -> bool:
    """Whether a block is many short rows."""
    return block.ndim == 2 and block.shape[1] <= SHORT_ROW and block.shape[0] > 1


def scratch(block: Array) -> Array:
    """Memory for a block; column by column if its rows are short."""
    return np.empty(block.shape, block.dtype, order="F" if is_short(block) else "C")


def line(block: Array) -> Array:
    """Memory for one number of each line of a block, which broadcasts to it."""
    return np.empty((block.shape[0], 1, *block.shape[2:]), block.dtype)


@kernels.on(Softmax)
@plain
def softmax(op: Softmax, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    work = shared(lambda block: (line(block), scratch(block) if is_short(block) else None))
    return in_turn([_softmax(x, y, *work(x)) for x, y in blocks(op.axis, *inputs, *outputs)])


@kernels.on(LogSoftmax)
@plain
def log_softmax(op: LogSoftmax, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    work = shared(lambda block: (line(block), scratch(block), scratch(block)))
    return in_turn([_log_softmax(x, y, *work(x)) for x, y in blocks(op.axis, *inputs, *outputs)])


def _softmax(x: Array, y: Array, m: Array, columns: Array | None) -> Run:
    start, e = (x, y) if columns is None else (columns, columns)

    def run() -> None:
        if columns is not None:
            np.copyto(columns, x)
        _max(start, 1, None, m, True)
        np.subtract(start, m, e)
        np.exp(e, e)
        _sum(e, 1, None, m, True)
        np.divide(e, m, y)

    return run


def _log_softmax(x: Array, y: Array, m: Array, below: Array, e: Array) -> Run:
    def run() -> None:
        np.copyto(below, x)
        _max(below, 1, None, m, True)
        np.subtract(below, m, below)
        np.exp(below, e)
        _sum(e, 1, None, m, True)
        np.log(m, m)
        np.subtract(below, m, y)

    return run
