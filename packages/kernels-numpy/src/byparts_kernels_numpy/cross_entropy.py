"""Cross entropy and its residual in one go: one exp, no one-hot, nothing allocated.

Short rows are worked on column by column, as in `softmax.py`.  Sums that met 0 * -inf (a class that
is masked out and has label 0) are taken again without those terms: rare, so checked, not avoided.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import isfinite

import numpy as np

from byparts_graph_ir.backend import Run
from byparts_kernels_numpy.plain import blocks, in_turn, plain, shared
from byparts_kernels_numpy.scratch import empty
from byparts_kernels_numpy.softmax import is_short, largest, line, scratch, summed, summing
from byparts_kernels_numpy.table import kernels
from byparts_opset.cross_entropy import SoftmaxCrossEntropy, SparseSoftmaxCrossEntropy, check_labels
from byparts_opset.dtypes import Array


@kernels.on(SoftmaxCrossEntropy)
@plain
def dense(op: SoftmaxCrossEntropy, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    (x, labels), (loss, residual) = inputs, outputs
    cut = blocks(-1, x, labels, residual)
    if not cut:
        return lambda: loss.fill(0)  # no classes: sums of nothing
    work = shared(lambda b: (_layers(3, b), empty((4, len(b), 1), b.dtype)))
    ends = zip(cut, _split(loss, cut), strict=True)
    return in_turn([_dense(a, n, r, y, *work(a)) for (a, n, r), y in ends])


@kernels.on(SparseSoftmaxCrossEntropy)
@plain
def sparse(op: SparseSoftmaxCrossEntropy, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    (x, labels), (loss, residual) = inputs, outputs
    check = _check(labels.reshape(-1), x.shape[-1])
    cut = blocks(-1, x, residual)
    if not cut:
        return check
    work = shared(lambda b: (scratch(b), line(b), line(b)))
    ends = zip(cut, _split(labels, cut), _split(loss, cut), strict=True)
    steps = [_sparse(a, r, n, y, *work(a)) for (a, r), n, y in ends]
    return in_turn([check, *steps])


def _dense(x: Array, labels: Array, r: Array, loss: Array, layers: Array, lines: Array) -> Run:
    terms, counts, e = layers
    dot, total, s, m = lines
    if is_short(x):
        sums: Run = partial(summed, layers, 2, None, lines[:3], True)
    else:
        sums = summing(layers.reshape(-1, x.shape[1]), lines[:3])

    def run() -> None:
        np.copyto(e, x)
        np.copyto(counts, labels)
        largest(e, 1, None, m, True)
        np.subtract(e, m, e)
        np.multiply(counts, e, terms)
        np.exp(e, e)
        sums()
        _subtract_terms(s, total, dot, m, loss)
        if not isfinite(np.vdot(loss, loss)):
            np.copyto(terms, 0, where=counts == 0)
            sums()
            _subtract_terms(s, total, dot, m, loss)
        np.divide(total, s, s)
        np.multiply(e, s, e)
        np.subtract(e, counts, r)

    return run


def _subtract_terms(s: Array, total: Array, dot: Array, work: Array, loss: Array) -> None:
    """loss = total * log(s) - dot."""
    np.log(s, work)
    np.multiply(work, total, work)
    np.subtract(work[:, 0], dot[:, 0], loss)


def _layers(count: int, block: Array) -> Array:
    """Memory for `count` blocks, column by column if rows are short."""
    rows, size = block.shape
    if is_short(block):
        columns: Array = empty((count, size, rows), block.dtype)
        columns = columns.transpose(0, 2, 1)
        return columns
    return np.empty((count, rows, size), block.dtype)


def _sparse(x: Array, r: Array, labels: Array, loss: Array, e: Array, m: Array, s: Array) -> Run:
    sums, x_flat, r_flat = summing(e, s), x.reshape(-1), r.reshape(-1)
    rows, index = np.arange(0, x.size, x.shape[1]), np.empty(len(x), np.int64)
    picked = np.empty(len(x), x.dtype)

    def run() -> None:
        np.copyto(e, x)
        largest(e, 1, None, m, True)
        np.subtract(e, m, e)
        np.exp(e, e)
        sums()
        np.add(rows, labels, index)
        np.take(x_flat, index, None, picked, "clip")
        np.subtract(m[:, 0], picked, picked)
        np.log(s, m)
        np.add(m[:, 0], picked, loss)
        np.divide(e, s, r)
        np.negative(loss, picked)
        np.expm1(picked, picked)  # the softmax there is exp(-loss)
        r_flat[index] = picked

    return run


def _check(labels: Array, classes: int) -> Run:
    """Raise GraphError for a label that is no class; one pass, as unsigned numbers."""
    if labels.size == 0:
        return lambda: None
    unsigned = labels.view(f"u{labels.itemsize}")

    def run() -> None:
        if largest(unsigned) >= classes:
            check_labels(labels, classes)

    return run


def _split(x: Array, cut: Sequence[tuple[Array, ...]]) -> list[Array]:
    """One number for each row, in the blocks of the rows."""
    ends = np.cumsum([len(b[0]) for b in cut])[:-1]
    return np.split(x.reshape(-1), ends)
