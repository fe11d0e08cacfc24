"""Cross entropy and its residual in one go: one exp, no one-hot, nothing allocated.

Short rows are worked on column by column, as in `softmax.py`.  Sums that met 0 * -inf (a class that
is masked out and has label 0) are taken again without those terms: rare, so checked, not avoided.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np

from byparts_graph_ir.backend import Run
from byparts_kernels_numpy.plain import blocks, in_turn, plain, shared
from byparts_kernels_numpy.softmax import is_short, line, scratch
from byparts_kernels_numpy.table import kernels
from byparts_opset.cross_entropy import SoftmaxCrossEntropy, SparseSoftmaxCrossEntropy, check_labels
from byparts_opset.dtypes import Array

_max, _sum = np.maximum.reduce, np.add.reduce  # (x, axis, dtype, out, keepdims)


@kernels.on(SoftmaxCrossEntropy)
@plain
def dense(op: SoftmaxCrossEntropy, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    (x, labels), (loss, residual) = inputs, outputs
    cut = blocks(-1, x, labels, residual)
    if not cut:
        return lambda: loss.fill(0)  # no classes: sums of nothing
    work = shared(lambda b: ([scratch(b) for _ in range(3)], [line(b) for _ in range(4)]))
    ends = zip(cut, _split(loss, cut), strict=True)
    return in_turn([_dense(*block, y, *work(block[0])) for block, y in ends])


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
    steps = [_sparse(*block, n, y, *work(block[0])) for block, n, y in ends]
    return in_turn([check, *steps])


def _dense(
    x: Array, labels: Array, r: Array, loss: Array, work: Sequence[Array], lines: Sequence[Array]
) -> Run:
    (t, columns, terms), (m, dot, total, s) = work, lines
    counts, start = (columns, t) if is_short(x) else (labels, x)

    def run() -> None:
        if start is t:
            np.copyto(t, x)
            np.copyto(counts, labels)
        _max(start, 1, None, m, True)
        np.subtract(start, m, t)
        np.multiply(counts, t, terms)
        _sum(terms, 1, None, dot, True)
        _sum(counts, 1, None, total, True)
        np.exp(t, t)
        _sum(t, 1, None, s, True)
        np.log(s, m)
        np.multiply(m, total, m)
        np.subtract(m, dot, m)
        if not isfinite(np.vdot(m, m)):
            _without_absent(m, counts, terms, dot, total, s)
        np.copyto(loss, m[:, 0])
        np.divide(total, s, s)
        np.multiply(t, s, t)
        np.subtract(t, counts, r)

    return run


def _without_absent(
    loss: Array, counts: Array, terms: Array, dot: Array, total: Array, s: Array
) -> None:
    """loss = total * log(s) - sum(terms), with the terms of label 0 left out."""
    np.copyto(terms, 0, where=counts == 0)
    _sum(terms, 1, None, dot, True)
    np.log(s, loss)
    np.multiply(loss, total, loss)
    np.subtract(loss, dot, loss)


def _sparse(x: Array, r: Array, labels: Array, loss: Array, t: Array, m: Array, s: Array) -> Run:
    by_row = t.flags.c_contiguous
    flat = t.reshape(-1) if by_row else t.T.reshape(-1)
    rows = np.arange(len(x)) * (x.shape[1] if by_row else 1)
    apart = 1 if by_row else len(x)
    index, picked = np.empty(len(x), np.int64), np.empty(len(x), x.dtype)

    def run() -> None:
        np.copyto(t, x)
        _max(t, 1, None, m, True)
        np.subtract(t, m, t)
        np.multiply(labels, apart, index, dtype=np.int64)
        np.add(index, rows, index)
        np.take(flat, index, None, picked, "clip")
        np.exp(t, t)
        _sum(t, 1, None, s, True)
        np.log(s, m)
        np.subtract(m[:, 0], picked, loss)
        np.divide(t, s, t)
        np.take(flat, index, None, picked, "clip")
        np.subtract(picked, 1, picked)
        flat[index] = picked
        np.copyto(r, t)

    return run


def _check(labels: Array, classes: int) -> Run:
    """Raise GraphError for a label that is no class; one pass, as unsigned numbers."""
    if labels.size == 0:
        return lambda: None
    unsigned = labels.view(f"u{labels.itemsize}")

    def run() -> None:
        if _max(unsigned) >= classes:
            check_labels(labels, classes)

    return run


def _split(x: Array, cut: Sequence[tuple[Array, ...]]) -> list[Array]:
    """One number for each row, in the blocks of the rows."""
    ends = np.cumsum([len(b[0]) for b in cut])[:-1]
    return np.split(x.reshape(-1), ends)
